import type { JsonObject } from '../../../model/json.ts';
import type { HistoryRow } from '../../../model/owned.ts';
import type { FieldChange } from '../../../model/plan.ts';
import { CAUSE_WORDS, shownChanges, SYMBOL, valueText } from '../../../plan/words.ts';
import { type HistoryChange, type HistoryEntry, historyEntries, idOfEntry, ofPart } from '../../../views/history.ts';
import { read } from '../../api.ts';
import { useData } from '../../data.ts';
import { Badge } from '../../parts/badge.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { WithData } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { addressOf, concernsApplication, resourceAddress } from './data.ts';
import { Changes } from './plan-parts.tsx';
import { Revision } from '../../parts/revision.tsx';

const RECENT_ROWS = 60;
const RECENT_ENTRIES = 5;

/** The newest entries about one resource, with the way to all of them. */
export function RecentHistory({
  name,
  resource,
  part,
}: {
  readonly name: string;
  readonly resource: string;
  readonly part: string | undefined;
}) {
  const history = useData(
    `history ${name} ${resource}`,
    (signal) =>
      read('/api/v1/history', { query: { application: name, resource, limit: RECENT_ROWS }, signal }).then(
        async ({ items }) => entriesOf(items),
      ),
    { concerns: concernsApplication(name) },
  );
  const query = new URLSearchParams({ resource, ...(part === undefined ? {} : { part }) });
  return (
    <WithData of={history} lines={3}>
      {(all) => {
        const entries = ofPart(all, part);
        if (entries.length === 0) return <p class="soft">Nothing was recorded yet.</p>;
        return (
          <>
            <HistoryList entries={entries.slice(0, RECENT_ENTRIES)} name={name} isOfResource />
            <p>
              <Link to={addressOf(name, `/history?${query.toString()}`)}>The whole history</Link>
            </p>
          </>
        );
      }}
    </WithData>
  );
}

/** Returns the entries of rows, newest first. */
export async function entriesOf(rows: readonly HistoryRow[]): Promise<readonly HistoryEntry[]> {
  return Array.fromAsync(historyEntries(rows));
}

/** Entries of the history, newest first. @param isOfResource does not name the resource in each of them. */
export function HistoryList({
  entries,
  name,
  isOfResource = false,
  current,
}: {
  readonly entries: readonly HistoryEntry[];
  readonly name: string;
  readonly isOfResource?: boolean;
  /** Id of the entry that the address names. */
  readonly current?: string | undefined;
}) {
  return (
    <ol class="history-list">
      {entries.map((entry) => {
        const id = idOfEntry(entry);
        return (
          <li key={id} id={id} class={id === current ? 'current' : undefined}>
            <Entry entry={entry} name={name} isOfResource={isOfResource} />
          </li>
        );
      })}
    </ol>
  );
}

interface EntryProps {
  readonly entry: HistoryEntry;
  readonly name: string;
  readonly isOfResource: boolean;
}

function Entry({ entry, name, isOfResource }: EntryProps) {
  const { icon, title, by } = headOf(entry);
  return (
    <>
      <Icon name={icon} />
      <div>
        <p class="history-head">
          <strong>{title}</strong>{' '}
          {entry.type === 'run' && entry.revision !== null ? <Revision revision={entry.revision} /> : null}{' '}
          <Link to={addressOf(name, `/history?entry=${encodeURIComponent(idOfEntry(entry))}`)} class="soft">
            <Time at={entry.atMs} />
          </Link>
        </p>
        {by === '' ? null : <p class="soft">{by}</p>}
        <EntryBody entry={entry} name={name} isOfResource={isOfResource} />
      </div>
    </>
  );
}

const EVENT_ICONS: Readonly<Record<string, IconName>> = {
  suspended: 'pause',
  resumed: 'play',
  adopted: 'check',
  adoption: 'check',
  forgotten: 'out',
  retry: 'sync',
  resolved: 'question',
};

function headOf(entry: HistoryEntry): { readonly icon: IconName; readonly title: string; readonly by: string } {
  switch (entry.type) {
    case 'run':
      return {
        icon: 'commit',
        title: entry.undoes === null ? 'Applied' : `Undid run ${entry.undoes}`,
        by: [entry.author ?? '', entry.run === null ? '' : `run ${entry.run}`, entry.actor].filter(Boolean).join(' · '),
      };
    case 'drift':
      return {
        icon: 'differs',
        title: entry.isCorrected ? 'Drift corrected' : 'Changed on the platform',
        by: '',
      };
    case 'approval':
      return { icon: 'check', title: `Approved the plan ${entry.digest.slice(0, 12)}`, by: `by ${entry.by}` };
    case 'event': {
      const { by } = objectOf(entry.detail);
      const who = typeof by === 'string' ? by : entry.actor;
      return { icon: EVENT_ICONS[entry.event] ?? 'info', title: titleOf(entry.event), by: `by ${who}` };
    }
  }
}

/** `prune-orphan` → `Prune orphan`. */
function titleOf(event: string): string {
  const words = event.replaceAll(/[-.]/g, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function EntryBody({ entry, name, isOfResource }: EntryProps) {
  switch (entry.type) {
    case 'run':
      return (
        <ul class="entry-changes">
          {entry.changes.map((change) => (
            <Written key={change.intent} change={change} name={name} isOfResource={isOfResource} />
          ))}
        </ul>
      );
    case 'drift':
      return (
        <>
          {isOfResource ? null : <Link to={resourceAddress(name, entry.resource)}>{entry.resource}</Link>}
          <Drifted changes={entry.changes} isCorrected={entry.isCorrected} />
        </>
      );
    case 'approval':
      return null;
    case 'event':
      return <Facts detail={objectOf(entry.detail)} />;
  }
}

/** Fields that were changed on the platform, in the words of the event. */
function Drifted({
  changes,
  isCorrected,
}: {
  readonly changes: readonly FieldChange[];
  readonly isCorrected: boolean;
}) {
  return (
    <ul class="field-changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <code>
            {path} {isCorrected ? 'was' : 'is'} {valueText(before)}, should be {valueText(after)}
          </code>
        </li>
      ))}
    </ul>
  );
}

function Written({
  change,
  name,
  isOfResource,
}: { readonly change: HistoryChange } & Pick<EntryProps, 'name' | 'isOfResource'>) {
  const { verb, resource, summary, cause, outcome, changes } = change;
  return (
    <li class={`written ${verb ?? 'update'}`}>
      <p>
        <code class="symbol" aria-label={verb ?? 'change'}>
          {verb === null ? '-' : SYMBOL[verb]}
        </code>{' '}
        {isOfResource || resource === null ? null : (
          <>
            <Link to={resourceAddress(name, resource)}>{resource}</Link>:{' '}
          </>
        )}
        {summary} {cause === null ? null : <span class="soft">({CAUSE_WORDS[cause]})</span>}{' '}
        {outcome === 'applied' ? null : <Badge tone="warn">{outcomeWords(outcome)}</Badge>}
      </p>
      {verb === 'create' ? null : (
        <Changes changes={shownChanges({ changes: changes ?? [] })} cause={cause ?? undefined} />
      )}
    </li>
  );
}

function outcomeWords(outcome: string): string {
  if (outcome === 'open' || outcome === 'unknown') return 'outcome unknown';
  return outcome === 'superseded' ? 'replaced by a later plan' : outcome;
}

/** Members of an event that its heading shows. */
const SHOWN_ABOVE: ReadonlySet<string> = new Set(['by', 'application']);

function Facts({ detail }: { readonly detail: JsonObject }) {
  const { reason, ...others } = detail;
  const facts = Object.entries(others).filter(([key]) => !SHOWN_ABOVE.has(key));
  return (
    <>
      {typeof reason === 'string' && reason !== '' ? <p class="quote">{reason}</p> : null}
      {facts.length === 0 ? null : (
        <ul class="field-changes">
          {facts.map(([key, value]) => (
            <li key={key}>
              <code>
                {key}: {valueText(value)}
              </code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function objectOf(json: unknown): JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonObject) : {};
}
