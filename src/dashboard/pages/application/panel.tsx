import type { ResourceDetails } from '../../../model/resource-details.ts';
import { resourceState } from '../../../views/answered.ts';
import { read } from '../../api.ts';
import { useData } from '../../data.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { StateBadge } from '../../parts/state.tsx';
import { WithData } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { ActionButton } from '../../parts/action.tsx';
import { Conditions } from './conditions.tsx';
import { addressOf, concernsApplication } from './data.ts';
import { DoubtList } from './doubts.tsx';
import { Fields } from './fields.tsx';
import type { Shown } from './head.tsx';
import { RecentHistory } from './history-list.tsx';
import { Holds } from './holds.tsx';
import { Pending } from './plan-parts.tsx';
import { forgetAction, identifyAction } from './resource-actions.tsx';
import { Revision } from '../../parts/revision.tsx';

interface PanelProps {
  readonly shown: Shown;
  readonly resource: string;
  /** A part of it: `ports[8080]`. */
  readonly part: string | undefined;
}

/** The panel of the selected resource: everything that is known about it. */
export function Panel({ shown, resource, part }: PanelProps) {
  const { name } = shown;
  const [kind = '', id = ''] = resource.split('/');
  const details = useData(
    `resource ${name} ${resource}`,
    (signal) =>
      read('/api/v1/applications/{name}/resources/{kind}/{resource}', { params: { name, kind, resource: id }, signal }),
    { concerns: concernsApplication(name) },
  );
  const number = part === undefined ? undefined : /\[(\d+)\]/.exec(part)?.[1];
  return (
    <aside class="card resource-panel" aria-label={`Details of ${resource}`}>
      <header>
        <div>
          <p class="node-type">{part === undefined ? kind : `Port of ${resource}`}</p>
          <h2>{part === undefined ? id : `Port ${number ?? part}`}</h2>
        </div>
        <Link to={addressOf(name)} class="close-link" aria-label="Close the details">
          <Icon name="cross" />
        </Link>
      </header>
      <div class="resource-panel-body">
        <WithData of={details}>
          {(found) => <Body shown={shown} found={found} part={part} onDone={details.reload} />}
        </WithData>
      </div>
    </aside>
  );
}

interface BodyProps {
  readonly shown: Shown;
  readonly found: ResourceDetails;
  readonly part: string | undefined;
  readonly onDone: () => void;
}

function Body({ shown, found, part, onDone }: BodyProps) {
  const { name } = shown;
  const { id, status, observedMs, fields, pending, doubts } = found;
  const isOfPart = (path: string): boolean => part === undefined || path.startsWith(part);
  const step = part === undefined ? id : `${id}#${part.replace('[', '/').replace(']', '/')}`;
  return (
    <>
      <p class="resource-panel-state">
        {status === null ? <StateBadge state="withdrawn" /> : <StateBadge state={resourceState(status)} />}
        <span class="soft">
          {observedMs === null ? (
            'not observed yet by this process'
          ) : (
            <>
              observed <Time at={observedMs} />
            </>
          )}
        </span>
      </p>
      <Holds shown={shown} found={found} onDone={onDone} />
      <DoubtList shown={shown} doubts={doubts} onDone={onDone} />
      <section>
        <h3>Fields</h3>
        <Fields fields={fields.filter(({ path }) => isOfPart(path))} />
      </section>
      <Pending actions={pending.filter((action) => action.id.startsWith(step))} name={name} />
      <section>
        <h3>History</h3>
        <RecentHistory name={name} resource={id} part={part} />
      </section>
      <ManifestPlace found={found} />
      {status === null ? null : (
        <section>
          <h3>Conditions</h3>
          <Conditions conditions={status.conditions} />
        </section>
      )}
      <Records shown={shown} found={found} onDone={onDone} />
    </>
  );
}

function ManifestPlace({ found: { source } }: Pick<BodyProps, 'found'>) {
  if (source === null)
    return (
      <section>
        <h3>Manifest</h3>
        <p class="soft">No manifest of the source names it any more.</p>
      </section>
    );
  const place = `${source.file}:${source.line}:${source.column}`;
  return (
    <section>
      <h3>Manifest</h3>
      <p class="manifest-place">
        <code>{place}</code>
        <CopyButton text={place} what="the place" />
        {source.revision === null ? null : (
          <>
            in <Revision revision={source.revision} />
          </>
        )}
      </p>
    </section>
  );
}

const ORIGINS = {
  created: 'created by Portolan',
  adopted: 'adopted by Portolan',
  observed: 'recorded, not created',
} as const;

function Records({ shown, found, onDone }: Omit<BodyProps, 'part'>) {
  const { records } = found;
  if (records.length === 0) return null;
  return (
    <section>
      <h3>In the ledger</h3>
      <ul class="ledger-records">
        {records.map(({ uid, object, origin, remoteId, failures }) => (
          <li key={uid}>
            <code>{object}</code>
            <span class="soft">
              {ORIGINS[origin]}
              {remoteId === null ? '' : `, id ${remoteId}`}
              {failures === 0 ? '' : `, ${failures} failed in a row`}
            </span>
          </li>
        ))}
      </ul>
      <p class="buttons start">
        <ActionButton action={forgetAction(shown.name, found)} permissions={shown.permissions} onDone={onDone} />
        {found.records.some(({ origin }) => origin === 'observed') && found.records.length === 1 ? (
          <ActionButton action={identifyAction(shown.name, found)} permissions={shown.permissions} onDone={onDone} />
        ) : null}
      </p>
    </section>
  );
}
