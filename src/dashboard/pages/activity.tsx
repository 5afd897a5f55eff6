import { useEffect, useState } from 'preact/hooks';
import { EVENT_GROUPS, eventFilter, SEVERITIES } from '../../model/event-filter.ts';
import type { ControllerEvent } from '../../model/status.ts';
import { read } from '../api.ts';
import { useData } from '../data.ts';
import { onEvent } from '../live.ts';
import { EventDetails, EventRow } from '../parts/event.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { NewRows, useNewRows } from '../parts/new-rows.tsx';
import { PageFrame } from '../parts/page.tsx';
import { Empty, Failed, Loading, WithData } from '../parts/states.tsx';
import { query, setQuery } from '../router.ts';
import './activity.css';

const PAGE = 50;
/** New events that are kept; after that, the list is loaded again, so that a page that is open for days stays small. */
const FRESH_MAX = 500;

/** The filters in the address. */
interface Filters {
  readonly application: string | undefined;
  readonly severity: ControllerEvent['severity'] | undefined;
  readonly type: readonly string[] | undefined;
}

function filtersOf(parameters: URLSearchParams): Filters {
  const type = parameters.getAll('type');
  return {
    application: parameters.get('application') ?? undefined,
    severity: SEVERITIES.find((severity) => severity === parameters.get('severity')),
    type: type.length === 0 ? undefined : type,
  };
}

/** `/activity`: what the controller did, observed and refused, as it happens. */
export function Activity() {
  const filters = filtersOf(query.value);
  const id = query.value.get('event');
  const [isPaused, setPaused] = useState(false);
  return (
    <PageFrame
      title="Activity"
      actions={
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      }
    >
      {id === null ? null : <OneEvent key={id} id={id} />}
      <FilterForm filters={filters} />
      <EventList key={JSON.stringify(filters)} filters={filters} isPaused={isPaused} />
    </PageFrame>
  );
}

/** The event whose address was opened. */
function OneEvent({ id }: { readonly id: string }) {
  const found = useData(id, (signal) => read('/api/v1/events', { query: { id }, signal }), { concerns: () => false });
  return (
    <section class="card" aria-labelledby="one-event">
      <header>
        <h2 id="one-event">Event</h2>
        <button type="button" class="plain" onClick={() => setQuery({ event: undefined })}>
          <Icon name="cross" />
          Close
        </button>
      </header>
      <WithData of={found}>
        {({ items: [event] }) =>
          event === undefined ? (
            <Empty title="This event is no longer available.">
              <p>
                The controller keeps the newest events of its process. The history of an application has all changes.
              </p>
            </Empty>
          ) : (
            <EventDetails event={event} />
          )
        }
      </WithData>
    </section>
  );
}

function FilterForm({ filters: { application, severity, type } }: { readonly filters: Filters }) {
  const isFiltered = application !== undefined || severity !== undefined || type !== undefined;
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Severity
        <select value={severity ?? ''} onChange={({ currentTarget }) => setQuery({ severity: currentTarget.value })}>
          <option value="">All</option>
          <option value="warning">Warnings and errors</option>
          <option value="error">Errors</option>
        </select>
      </label>
      <label>
        Type
        <select value={type?.[0] ?? ''} onChange={({ currentTarget }) => setQuery({ type: currentTarget.value })}>
          <option value="">All</option>
          {type?.[0] !== undefined && type[0].includes('.') ? <option value={type[0]}>{type[0]}</option> : null}
          {EVENT_GROUPS.map((group) => (
            <option key={group} value={group}>
              {group}
            </option>
          ))}
        </select>
      </label>
      <label>
        Application
        <input
          type="search"
          value={application ?? ''}
          placeholder="All"
          spellcheck={false}
          onChange={({ currentTarget }) => setQuery({ application: currentTarget.value.trim() })}
        />
      </label>
      {isFiltered ? (
        <button
          type="button"
          class="plain"
          onClick={() => setQuery({ application: undefined, severity: undefined, type: undefined })}
        >
          <Icon name="cross" />
          Clear filters
        </button>
      ) : null}
    </form>
  );
}

interface EventListProps {
  readonly filters: Filters;
  readonly isPaused: boolean;
}

function EventList({ filters, isPaused }: EventListProps) {
  const { events, problem, reload, hasMore, loadMore } = useEvents(filters);
  const list = useNewRows(events ?? [], ({ id }) => id, { holds: isPaused });
  if (problem !== undefined && events === undefined) return <Failed problem={problem} onRetry={reload} />;
  return (
    <section class="card" ref={list.listRef} aria-label="Events, newest first">
      <NewRows rows={list} />
      {events === undefined ? (
        <Loading lines={8} />
      ) : list.rows.length === 0 ? (
        <Empty title="There are no events that match.">
          <p>
            New ones appear here as they happen. <Link to="/activity">Show all events</Link>.
          </p>
        </Empty>
      ) : (
        <ul class="events">
          {list.rows.map((event) => (
            <EventRow key={event.id} event={event} />
          ))}
        </ul>
      )}
      {hasMore ? (
        <div class="more">
          <button type="button" onClick={loadMore}>
            <Icon name="down" />
            Show older events
          </button>
        </div>
      ) : null}
    </section>
  );
}

/** Returns the events that match: those of the past, page by page, and those that happen from now on. */
function useEvents(filters: Filters) {
  const [pages, setPages] = useState(1);
  const [fresh, setFresh] = useState<readonly ControllerEvent[]>([]);
  // New events come by the stream; a gap in it loads the list again.
  const past = useData(
    String(pages),
    async (signal) => {
      const items: ControllerEvent[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < pages; page += 1) {
        const found = await read('/api/v1/events', { query: { ...filters, limit: PAGE, cursor }, signal });
        items.push(...found.items);
        cursor = found.nextCursor ?? undefined;
        if (cursor === undefined) break;
      }
      return { items, hasMore: cursor !== undefined };
    },
    { concerns: () => false, keep: true },
  );
  useEffect(() => {
    const isWanted = eventFilter(filters);
    return onEvent((event) => {
      if (!isWanted(event)) return;
      setFresh((before) => (before.length >= FRESH_MAX ? [event] : [event, ...before]));
    });
  }, []);
  const isFull = fresh.length >= FRESH_MAX;
  useEffect(() => {
    if (isFull) past.reload();
  }, [isFull]);
  const known = new Set(fresh.map(({ id }) => id));
  const { data, problem, reload } = past;
  return {
    events: data && [...fresh, ...data.items.filter(({ id }) => !known.has(id))],
    hasMore: data?.hasMore === true,
    problem,
    reload,
    loadMore: () => setPages(pages + 1),
  };
}
