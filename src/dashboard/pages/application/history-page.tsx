import { useEffect, useState } from 'preact/hooks';
import type { HistoryRow } from '../../../model/owned.ts';
import { type HistoryEntry, idOfEntry, ofPart } from '../../../views/history.ts';
import { ApiError, type Problem, read } from '../../api.ts';
import { useData } from '../../data.ts';
import { Icon } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failed, WithData } from '../../parts/states.tsx';
import { query } from '../../router.ts';
import { addressOf, concernsApplication, resourceAddress } from './data.ts';
import { ApplicationFrame } from './head.tsx';
import { entriesOf, HistoryList } from './history-list.tsx';

const ROWS = 200;

interface Loaded {
  readonly rows: readonly HistoryRow[];
  readonly entries: readonly HistoryEntry[];
  readonly nextCursor: string | null;
}

/** `/applications/:name/history`: past changes, newest first; of one resource with `?resource=`. */
export function ApplicationHistory({ name = '' }: Readonly<Record<string, string>>) {
  const resource = query.value.get('resource') ?? undefined;
  const part = query.value.get('part') ?? undefined;
  return (
    <ApplicationFrame name={name} view="history">
      {() => (
        <section class="card" aria-label="History">
          <header>
            <h2>{resource === undefined ? 'All changes' : 'Changes of one resource'}</h2>
            {resource === undefined ? null : (
              <p class="history-filter">
                <Link to={resourceAddress(name, resource, part)}>
                  {part === undefined ? resource : `${resource} ${part}`}
                </Link>
                <Link
                  to={addressOf(name, '/history')}
                  class="close-link"
                  aria-label="Show the changes of all resources"
                >
                  <Icon name="cross" />
                </Link>
              </p>
            )}
          </header>
          <Entries key={`${resource} ${part}`} name={name} resource={resource} part={part} />
        </section>
      )}
    </ApplicationFrame>
  );
}

interface EntriesProps {
  readonly name: string;
  readonly resource: string | undefined;
  readonly part: string | undefined;
}

function Entries({ name, resource, part }: EntriesProps) {
  const [older, setOlder] = useState<Loaded>();
  const [problem, setProblem] = useState<Problem>();
  const load = async (
    cursor: string | undefined,
    before: readonly HistoryRow[],
    signal?: AbortSignal,
  ): Promise<Loaded> => {
    const page = await read('/api/v1/history', {
      query: { application: name, resource, limit: ROWS, cursor },
      ...(signal === undefined ? {} : { signal }),
    });
    const rows = [...before, ...page.items];
    return { rows, entries: await entriesOf(rows), nextCursor: page.nextCursor };
  };
  const newest = useData(`history page ${name} ${resource}`, (signal) => load(undefined, [], signal), {
    concerns: (event) => older === undefined && concernsApplication(name)(event),
  });
  const more = (from: Loaded): void => {
    load(from.nextCursor ?? undefined, from.rows).then(setOlder, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.problem);
    });
  };
  return (
    <WithData of={newest}>
      {(first) => {
        const loaded = older ?? first;
        return (
          <>
            <Shown loaded={loaded} name={name} part={part} isOfResource={resource !== undefined} />
            {problem === undefined ? null : <Failed problem={problem} />}
            {loaded.nextCursor === null ? null : (
              <p class="more-rows">
                <button type="button" onClick={() => more(loaded)}>
                  Show older changes
                </button>
              </p>
            )}
          </>
        );
      }}
    </WithData>
  );
}

interface ShownProps extends Pick<EntriesProps, 'name' | 'part'> {
  readonly loaded: Loaded;
  readonly isOfResource: boolean;
}

function Shown({ loaded, name, part, isOfResource }: ShownProps) {
  const current = query.value.get('entry') ?? undefined;
  const entries = ofPart(loaded.entries, part);
  const isFound = entries.some((entry) => idOfEntry(entry) === current);
  useEffect(() => {
    if (isFound && current !== undefined) document.getElementById(current)?.scrollIntoView({ block: 'center' });
  }, [current, isFound]);
  if (entries.length === 0)
    return (
      <Empty title="Nothing was changed yet.">
        <p>Each run, drift, approval and manual decision appears here.</p>
      </Empty>
    );
  return <HistoryList entries={entries} name={name} isOfResource={isOfResource} current={current} />;
}
