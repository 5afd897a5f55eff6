import type { ComponentChildren } from 'preact';
import type { ApplicationDetails } from '../../../model/status.ts';
import { applicationState } from '../../../controller/application-state.ts';
import { send } from '../../api.ts';
import { type Loaded } from '../../data.ts';
import { Link } from '../../parts/link.tsx';
import { PageFrame } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state.tsx';
import { WithData } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { match } from '../../router.ts';
import { type Action, ActionButton, type Permission } from '../../parts/action.tsx';
import { addressOf, useApplication, usePermissions } from './data.ts';
import { Notices } from './notices.tsx';
import { Revision } from '../../parts/revision.tsx';
import '../../styles/application.css';

const VIEWS = [
  ['', 'Resources', '/applications/:name'],
  ['/plan', 'Plan', '/applications/:name/plan'],
  ['/history', 'History', '/applications/:name/history'],
  ['/monitoring', 'Monitoring', '/applications/:name/monitoring'],
] as const;

/** The application that a page is about, and what the user may do with it. */
export interface Shown {
  readonly name: string;
  readonly details: ApplicationDetails;
  readonly permissions: readonly Permission[] | undefined;
  readonly reload: () => void;
}

/** The frame of all pages of one application: its state, its actions, and the way to its other pages. */
export function ApplicationFrame({
  name,
  view,
  children,
}: {
  readonly name: string;
  /** The name of the page; '' for the tree. */
  readonly view: string;
  readonly children: (shown: Shown) => ComponentChildren;
}) {
  const loaded = useApplication(name);
  const permissions = usePermissions(name);
  return (
    <PageFrame
      title={view === '' ? name : `${name}: ${view}`}
      trail={<Link to="/applications">Applications</Link>}
      actions={<Actions name={name} loaded={loaded} permissions={permissions} />}
    >
      <WithData of={loaded}>
        {(details) => (
          <>
            <Facts details={details} />
            <Views name={name} />
            <Notices name={name} view={view} details={details} />
            {children({ name, details, permissions, reload: loaded.reload })}
          </>
        )}
      </WithData>
    </PageFrame>
  );
}

function Facts({ details }: { readonly details: ApplicationDetails }) {
  const { scope, labels, lastAppliedRevision, lastSuccessMs, nextAttemptMs, observed } = details;
  return (
    <dl class="app-facts">
      <div>
        <dt>State</dt>
        <dd>
          <StateBadge state={applicationState(details)} />
        </dd>
      </div>
      <div>
        <dt>On the platform</dt>
        <dd>{scope === null ? 'not found yet' : <code>{scope}</code>}</dd>
      </div>
      <div>
        <dt>In sync with</dt>
        <dd>{lastAppliedRevision === null ? 'no revision yet' : <Revision revision={lastAppliedRevision} />}</dd>
      </div>
      <div>
        <dt>Last in sync</dt>
        <dd>{lastSuccessMs === null ? 'never' : <Time at={lastSuccessMs} />}</dd>
      </div>
      <div>
        <dt>Last observed</dt>
        <dd>{observed === null ? 'not yet' : <Time at={observed.atMs} />}</dd>
      </div>
      <div>
        <dt>Next pass</dt>
        <dd>{nextAttemptMs === null ? 'not planned' : <Time at={nextAttemptMs} />}</dd>
      </div>
      {Object.keys(labels).length === 0 ? null : (
        <div>
          <dt>Labels</dt>
          <dd class="app-labels">
            {Object.entries(labels).map(([key, value]) => (
              <Link key={key} to={`/applications?label=${encodeURIComponent(`${key}=${value}`)}`} class="app-label">
                {key}={value}
              </Link>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

function Views({ name }: { readonly name: string }) {
  const page = match.value?.page;
  return (
    <nav class="app-views" aria-label="Pages of the application">
      {VIEWS.map(([rest, label, path]) => (
        <Link key={rest} to={addressOf(name, rest)} {...(path === page ? { 'aria-current': 'page' as const } : {})}>
          {label}
        </Link>
      ))}
    </nav>
  );
}

function Actions({
  name,
  loaded: { data, reload },
  permissions,
}: {
  readonly name: string;
  readonly loaded: Loaded<ApplicationDetails>;
  readonly permissions: readonly Permission[] | undefined;
}) {
  if (data === undefined) return null;
  const common = { permissions, onDone: reload };
  return (
    <>
      <ActionButton action={syncAction(name, data)} {...common} />
      <ActionButton action={data.pause?.type === 'suspended' ? resumeAction(name) : suspendAction(name)} {...common} />
    </>
  );
}

function syncAction(name: string, { pause }: ApplicationDetails): Action {
  return {
    label: 'Sync',
    icon: 'sync',
    needs: 'operate',
    question: `Sync ${name} now?`,
    effect: (
      <>
        <p>
          The controller reads the source, observes {name} on the platform, and applies the pending changes that no
          guard refuses.
        </p>
        {pause === null ? null : <p>It is paused at the moment, so it is observed and nothing is written.</p>}
      </>
    ),
    run: async () => {
      await send('/api/v1/applications/{name}/sync', { params: { name } });
      return `A sync of ${name} was requested. Its events show the result.`;
    },
  };
}

function suspendAction(name: string): Action {
  return {
    label: 'Suspend',
    icon: 'pause',
    needs: 'operate',
    question: `Suspend ${name}?`,
    effect: (
      <p>
        The controller writes nothing for {name} until it is resumed, also after a restart. It still observes it and
        reports drift. The platform stays as it is.
      </p>
    ),
    reason: 'Why?',
    run: async (reason) => {
      await send('/api/v1/applications/{name}/suspend', { params: { name }, body: { reason } });
      return `${name} is suspended: nothing is written for it until it is resumed.`;
    },
  };
}

function resumeAction(name: string): Action {
  return {
    label: 'Resume',
    icon: 'play',
    needs: 'operate',
    question: `Resume ${name}?`,
    effect: <p>The suspension ends. The controller syncs {name} at once, and applies what is pending.</p>,
    run: async () => {
      await send('/api/v1/applications/{name}/resume', { params: { name } });
      return `${name} is resumed.`;
    },
  };
}
