import {
  type ApplicationRow,
  FLEET_STATES,
  type FleetCounts,
  type FleetFacets,
  type FleetState,
} from '../model/fleet.ts';
import type { Page } from '../model/page.ts';
import { compareText } from '../model/text.ts';
import type { Standing } from '../controller/api.ts';
import { type FleetEntry, fleetEntry } from '../views/fleet.ts';
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

interface Found extends FleetEntry {
  readonly standing: Standing;
}

/** A page of applications, and how many there are of each kind. */
export interface FleetPage extends Page<Found> {
  readonly total: number;
  readonly counts: FleetCounts;
  readonly facets?: FleetFacets;
}

/** Returns a page of the applications that match a query. */
export function fleetPage(standings: readonly Standing[], query: FleetQuery): FleetPage {
  const { state, limit, cursor, facets, sort } = query;
  const isWanted = matcherOf(query);
  const counts = Object.fromEntries(FLEET_STATES.map((one) => [one, 0])) as Record<FleetState, number>;
  const values = facets === true ? createFacets() : undefined;
  const found: Found[] = [];
  for (const standing of standings) {
    const { row, text } = fleetEntry(standing);
    if (!isWanted(standing, row, text)) continue;
    counts[row.state] += 1;
    if (state !== undefined && state.length > 0 && !state.includes(row.state)) continue;
    values?.add(row);
    found.push({ standing, row, text });
  }
  const page: PageQuery = cursor === undefined ? { limit } : { limit, cursor };
  return {
    ...pageInOrder('applications', found, ORDERS[sort], page),
    total: found.length,
    counts,
    ...(values === undefined ? {} : { facets: values.facets() }),
  };
}

/** Returns a predicate for everything in a query but the state. */
function matcherOf({ search = '', team, region, platform, condition, label }: FleetQuery) {
  const terms = search.toLowerCase().split(/\s+/).filter(Boolean);
  const teams = setOf(team);
  const regions = setOf(region);
  const platforms = setOf(platform);
  const hasFilter = (condition?.length ?? 0) + (label?.length ?? 0) > 0;
  const matches = filterOf(condition, label);
  return ({ status }: Standing, row: ApplicationRow, text: string): boolean =>
    (teams === undefined || (row.team !== null && teams.has(row.team))) &&
    (regions?.has(row.region) ?? true) &&
    (platforms?.has(row.platform) ?? true) &&
    terms.every((term) => text.includes(term)) &&
    (!hasFilter || matches(status));
}

function setOf(values: readonly string[] = []): ReadonlySet<string> | undefined {
  return values.length === 0 ? undefined : new Set(values);
}

const SEVERITIES = new Map(FLEET_STATES.map((state, at) => [state, at]));
/** More than any time in milliseconds, so that the state decides first. */
const SEVERITY_STEP = 1e14;

const RANKS: Readonly<Record<(typeof SORTS)[number], (row: ApplicationRow) => number>> = {
  name: () => 0,
  // The most urgent first, and what has been in that state for the longest time.
  state: ({ state, sinceMs }) => (SEVERITIES.get(state) ?? 0) * SEVERITY_STEP + Math.trunc(sinceMs),
  // The newest first.
  change: ({ change }) => -Math.trunc(change?.doneMs ?? 0),
  // The oldest first.
  since: ({ sinceMs }) => Math.trunc(sinceMs),
};

const ORDERS = Object.fromEntries(
  SORTS.flatMap((name) =>
    (['', '-'] as const).map((sign) => {
      const order: Order<Found> = {
        name: `${sign}${name}`,
        rankOf: ({ row }) => RANKS[name](row),
        keyOf: ({ row }) => row.id,
        isReversed: sign === '-',
      };
      return [order.name, order];
    }),
  ),
) as Readonly<Record<FleetQuery['sort'], Order<Found>>>;

const FACET_VALUES_MAX = 50;

/** Counts the values of the filters. */
function createFacets() {
  const platform = new Map<string, number>();
  const team = new Map<string, number>();
  const region = new Map<string, number>();
  const count = (map: Map<string, number>, value: string): void => void map.set(value, (map.get(value) ?? 0) + 1);
  const listed = (map: ReadonlyMap<string, number>) =>
    [...map]
      .map(([value, number]) => ({ value, count: number }))
      .sort((left, right) => right.count - left.count || compareText(left.value, right.value))
      .slice(0, FACET_VALUES_MAX);
  return {
    add: (row: ApplicationRow): void => {
      count(platform, row.platform);
      count(region, row.region);
      if (row.team !== null) count(team, row.team);
    },
    facets: (): FleetFacets => ({ platform: listed(platform), team: listed(team), region: listed(region) }),
  };
}
