import '../styles/fleet.css';
import type { ApplicationRow } from '../../model/fleet.ts';
import type { FleetAnswer } from '../answers.ts';
import { read } from '../api.ts';
import { useData } from '../data.ts';
import { type Shown, StateBadge, STATES } from '../parts/fleet-words.tsx';
import { Icon } from '../parts/icon.tsx';
import { applicationAddress, Link } from '../parts/link.tsx';
import { NewRows, useNewRows } from '../parts/new-rows.tsx';
import { PageFrame } from '../parts/page.tsx';
import { useRefresh } from '../parts/refresh.ts';
import { Revision } from '../parts/revision.tsx';
import { Empty, WithData } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { query, setQuery } from '../router.ts';
import { useKey } from '../shell/keys.tsx';
import { FleetFilters, filterCount, clearFilters } from './application-filters.tsx';

/** Rows of one page of the list. */
const PAGE_SIZE = 50;

/** Parameters of the address that the API knows by the same name. */
const SAME = ['state', 'team', 'region', 'platform', 'label', 'cursor'] as const;

/** Returns the query of the API for the query of the address. */
function apiQuery(asked: URLSearchParams): Readonly<Record<string, string | number | readonly string[]>> {
  const same = SAME.map((name) => [name, asked.getAll(name)] as const);
  const search = asked.get('q')?.trim() ?? '';
  return {
    view: 'row',
    facets: 'true',
    limit: PAGE_SIZE,
    sort: sortOf(asked),
    ...(search === '' ? {} : { search }),
    ...Object.fromEntries(same),
  };
}

function sortOf(asked: URLSearchParams): string {
  return asked.get('sort') ?? 'state';
}

/** `/applications`: one row for each application, found, filtered and sorted by the server. */
export function Applications() {
  const wanted = apiQuery(query.value);
  const key = JSON.stringify(wanted);
  const list = useData(
    key,
    async (signal) => ({ name: key, answer: await read('/api/v1/applications', { query: wanted, signal }) }),
    {
      concerns: ({ type }) => !type.startsWith('controller.'),
      keep: true,
    },
  );
  useRefresh(list.reload);
  return (
    <PageFrame title="Applications">
      <FleetFilters counts={list.data?.answer.counts} facets={list.data?.answer.facets} />
      <WithData of={list} lines={12}>
        {(found) => <List {...found} />}
      </WithData>
    </PageFrame>
  );
}

interface ListProps {
  readonly answer: FleetAnswer;
  /** The query of the answer. */
  readonly name: string;
}

function List({ answer: { items, total, nextCursor }, name }: ListProps) {
  const list = useNewRows(items, ({ id }) => id, { list: name });
  const page = Number(query.value.get('page') ?? '1');
  const isFiltered = filterCount(query.value) > 0;
  const showNext = (): void => {
    if (nextCursor !== null) setQuery({ cursor: nextCursor, page: String(page + 1) });
  };
  useKey('n', 'Next page', showNext);
  useKey('p', 'First page', () => setQuery({ cursor: undefined, page: undefined }));
  if (total === 0)
    return isFiltered ? (
      <Empty title="No application matches.">
        <p>Change the search or the filters.</p>
        <button type="button" onClick={clearFilters}>
          Clear all filters
        </button>
      </Empty>
    ) : (
      <Empty title="There are no applications.">
        <p>The accepted source has none, or nothing was accepted yet. The overview shows the source.</p>
      </Empty>
    );
  return (
    <section class="card" aria-label="Applications">
      <NewRows rows={list} />
      <table class="fleet">
        <caption class="hidden">
          {total.toLocaleString('en')} applications, page {page}
        </caption>
        <Head />
        <tbody ref={list.listRef}>
          {list.rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
      <footer class="pages">
        <span>
          {total.toLocaleString('en')} {total === 1 ? 'application' : 'applications'}
          {total > PAGE_SIZE ? `, page ${page} of ${Math.ceil(total / PAGE_SIZE).toLocaleString('en')}` : ''}
        </span>
        {page > 1 || nextCursor !== null ? (
          <span class="page-buttons">
            <button type="button" disabled={page <= 1} onClick={() => history.back()}>
              <Icon name="left" />
              Previous
            </button>
            <button type="button" disabled={nextCursor === null} onClick={showNext}>
              Next
              <Icon name="right" />
            </button>
          </span>
        ) : null}
      </footer>
    </section>
  );
}

const COLUMNS = [
  { title: 'State', sort: 'state' },
  { title: 'Application', sort: 'name' },
  { title: 'Health' },
  { title: 'Revision' },
  { title: 'Last change', sort: 'change' },
  { title: 'Since', sort: 'since' },
] as const;

function Head() {
  const sort = sortOf(query.value);
  return (
    <thead>
      <tr>
        {COLUMNS.map((column) => {
          if (!('sort' in column))
            return (
              <th key={column.title} scope="col">
                {column.title}
              </th>
            );
          const isSorted = sort === column.sort || sort === `-${column.sort}`;
          const isReversed = sort.startsWith('-');
          return (
            <th
              key={column.title}
              scope="col"
              {...(isSorted ? { 'aria-sort': isReversed ? ('descending' as const) : ('ascending' as const) } : {})}
            >
              <button
                type="button"
                class="plain sort"
                onClick={() =>
                  setQuery({
                    sort: isSorted && !isReversed ? `-${column.sort}` : column.sort,
                    cursor: undefined,
                    page: undefined,
                  })
                }
              >
                {column.title}
                {isSorted ? <Icon name={isReversed ? 'up' : 'down'} /> : null}
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

const HEALTH: Readonly<Record<ApplicationRow['health'], Shown>> = {
  True: { label: 'Healthy', tone: 'good', icon: 'check' },
  False: { label: 'Not healthy', tone: 'bad', icon: 'alert' },
  Unknown: { label: 'Unknown', tone: 'quiet', icon: 'question' },
};

function Row({ row }: { readonly row: ApplicationRow }) {
  const { id, scope, platform, region, labels, state, sinceMs, reason, health, revision, change, resources } = row;
  return (
    <tr>
      <td>
        <StateBadge of={STATES[state]} />
      </td>
      <th scope="row">
        <Link to={applicationAddress(id)}>{id.slice(id.indexOf('/') + 1)}</Link>
        <span class="scope">{scope ?? `${platform}, ${region}, not resolved yet`}</span>
        {Object.entries(labels).map(([key, value]) => (
          <LabelButton key={key} text={value === '' ? key : `${key}=${value}`} />
        ))}
        {reason === '' ? null : <span class={`reason ${STATES[state].tone}`}>{reason}</span>}
        {resources.notReady > 0 ? (
          <span class="under">
            {resources.notReady} of {resources.total} resources not in sync
          </span>
        ) : null}
      </th>
      <td data-label="Health">
        <StateBadge of={HEALTH[health]} />
      </td>
      <td data-label="Revision">
        {revision === null ? <span class="faint">none yet</span> : <Revision revision={revision} />}
      </td>
      <td data-label="Last change">
        {change === null ? <span class="faint">none recorded</span> : <Time at={change.doneMs} />}
      </td>
      <td data-label="Since">
        <Time at={sinceMs} />
      </td>
    </tr>
  );
}

/** A label, which filters by itself. */
function LabelButton({ text }: { readonly text: string }) {
  const active = query.value.getAll('label');
  const isActive = active.includes(text);
  return (
    <button
      type="button"
      class={`label${isActive ? ' active' : ''}`}
      aria-pressed={isActive}
      title={`${isActive ? 'Remove the filter' : 'Show only applications with'} ${text}`}
      onClick={() =>
        setQuery({
          label: isActive ? active.filter((one) => one !== text) : [...active, text],
          cursor: undefined,
          page: undefined,
        })
      }
    >
      {text}
    </button>
  );
}
