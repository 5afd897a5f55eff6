import { FLEET_STATES, type FleetState } from '../model/fleet-words.ts';
import type { ApplicationRow, FleetCounts, FleetFacets } from '../model/fleet.ts';
import type { Page } from '../model/page.ts';
import { compareText } from '../model/text.ts';
import type { FleetEntry } from '../views/fleet.ts';
import { type Order, pageInOrder, type PageQuery } from './paging.ts';
import { filterOf, type ListQuery } from './routes/queries.ts';

/** The orders of the list. A minus sign before the name reverses the order. */
export const SORTS = ['name', 'state', 'change', 'since'] as const;

export interface FleetQuery extends ListQuery {
  readonly search?: string;
  readonly state?: readonly FleetState[];
  readonly team?: readonly string[];
  readonly region?: readonly string[];
  readonly platform?: readonly string[];
  readonly sort: `${'' | '-'}${(typeof SORTS)[number]}`;
  readonly facets?: boolean;
}

/** A page of applications, and how many there are of each kind. */
export interface FleetPage extends Page<FleetEntry> {
  readonly total: number;
  readonly counts: FleetCounts;
  readonly facets?: FleetFacets;
}

/** Returns a page of the applications that match a query. */
export function fleetPage(entries: readonly FleetEntry[], query: FleetQuery): FleetPage {
  const { state = [], limit, cursor, facets, sort } = query;
  const matches = matcherOf(query);
  const isChosen = choosers(query);
  const counts = Object.fromEntries(FLEET_STATES.map((one) => [one, 0])) as Record<FleetState, number>;
  const values = createFacets();
  const found: FleetEntry[] = [];
  for (const entry of entries) {
    const { row } = entry;
    if (!matches(entry)) continue;
    const missed = isChosen === undefined ? NONE : FACETS.filter((name) => !isChosen[name](row));
    const hasState = state.length === 0 || state.includes(row.state);
    if (hasState && facets === true) values.add(row, missed);
    if (missed.length > 0) continue;
    counts[row.state] += 1;
    if (hasState) found.push(entry);
  }
  const page: PageQuery = cursor === undefined ? { limit } : { limit, cursor };
  return {
    ...pageInOrder('applications', found, ORDERS[sort], page),
    total: found.length,
    counts,
    ...(facets === true ? { facets: values.facets() } : {}),
  };
}

/** Returns a predicate for the search, the conditions and the labels of a query. */
function matcherOf({ search = '', condition = [], label = [] }: FleetQuery) {
  const terms = search.toLowerCase().split(/\s+/).filter(Boolean);
  const hasFilter = condition.length + label.length > 0;
  const matches = filterOf(condition, label);
  return ({ status, text }: FleetEntry): boolean =>
    terms.every((term) => text().includes(term)) && (!hasFilter || matches(status));
}

const FACETS = ['platform', 'team', 'region'] as const;
type Facet = (typeof FACETS)[number];

const NONE: readonly Facet[] = [];

/** Returns a predicate for each filter that has values to choose from; undefined: none is chosen. */
function choosers(query: FleetQuery): Readonly<Record<Facet, (row: ApplicationRow) => boolean>> | undefined {
  if (FACETS.every((name) => (query[name] ?? []).length === 0)) return undefined;
  const chooser = (name: Facet) => {
    const wanted = query[name] ?? [];
    if (wanted.length === 0) return () => true;
    const values = new Set<string | null>(wanted);
    return (row: ApplicationRow) => values.has(row[name]);
  };
  return { platform: chooser('platform'), team: chooser('team'), region: chooser('region') };
}

const SEVERITIES = Object.fromEntries(FLEET_STATES.map((state, at) => [state, at])) as Readonly<
  Record<FleetState, number>
>;
/** More than any time in milliseconds, so that the state decides first. */
const SEVERITY_STEP = 1e14;

const RANKS: Readonly<Record<(typeof SORTS)[number], (row: ApplicationRow) => number>> = {
  name: () => 0,
  // The most urgent first, and what has been in that state for the longest time.
  state: ({ state, sinceMs }) => SEVERITIES[state] * SEVERITY_STEP + Math.trunc(sinceMs),
  // The newest first.
  change: ({ change }) => -Math.trunc(change?.doneMs ?? 0),
  // The oldest first.
  since: ({ sinceMs }) => Math.trunc(sinceMs),
};

const ORDERS = Object.fromEntries(
  SORTS.flatMap((name) =>
    (['', '-'] as const).map((sign) => {
      const order: Order<FleetEntry> = {
        name: `${sign}${name}`,
        rankOf: ({ row }) => RANKS[name](row),
        keyOf: ({ row }) => row.id,
        isReversed: sign === '-',
      };
      return [order.name, order];
    }),
  ),
) as Readonly<Record<FleetQuery['sort'], Order<FleetEntry>>>;

const FACET_VALUES_MAX = 50;

/** Counts the values of the filters. The values of a filter are those that could be chosen in place of the present one. */
function createFacets() {
  const counted: Readonly<Record<Facet, Map<string, number>>> = {
    platform: new Map(),
    team: new Map(),
    region: new Map(),
  };
  const listed = (name: Facet) =>
    [...counted[name]]
      .map(([value, number]) => ({ value, count: number }))
      .sort((left, right) => right.count - left.count || compareText(left.value, right.value))
      .slice(0, FACET_VALUES_MAX);
  return {
    /** @param missed the filters that the row does not match. */
    add: (row: ApplicationRow, missed: readonly Facet[]): void => {
      for (const name of FACETS) {
        const value = row[name];
        const isMissed = missed.length > 1 || (missed.length === 1 && missed[0] !== name);
        if (value !== null && !isMissed) counted[name].set(value, (counted[name].get(value) ?? 0) + 1);
      }
    },
    facets: (): FleetFacets => ({ platform: listed('platform'), team: listed('team'), region: listed('region') }),
  };
}
