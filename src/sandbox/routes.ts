import {
  createApplication,
  getApplication,
  getComponent,
  listApplications,
  listComponents,
  listRegions,
} from './applications.ts';
import type { Route } from './call.ts';
import { buildComponent, eventLogs, listEvents } from './events.ts';
import { install, listInstalled, upgrade } from './installs.ts';
import { queryMonitor, queryMonitorNow, queryRegion } from './monitor.ts';
import { addPort, deletePort, listPorts, updatePort } from './ports.ts';
import { createRule, deleteRule, getRule, listAllRules, listDomains, listRules, updateRule } from './rules.ts';
import { listCertificates, listInnerPorts, listTeamRegions } from './teams.ts';
import type { Dialect } from './wire.ts';

const api = '/openapi/v1';
const region = `${api}/teams/{team_id}/regions/{region_name}`;
const apps = `${region}/apps`;
const app = `${apps}/{app_id}`;
const allRules = `${api}/httpdomains`;
const rule = `${app}/httpdomains/{rule_id}`;
const component = `${app}/services/{service_id}`;
const port = `${component}/ports/{port}`;

/** A route but for its dialect, checked variant by variant so that `run` gets what `needs` promises. */
type Entry = Route extends infer Each ? (Each extends Route ? Omit<Each, 'dialect'> : never) : never;

const documentedEntries: readonly Entry[] = [
  {
    operation: 'listRegions',
    method: 'GET',
    template: `${api}/regions`,
    needs: 'enterprise',
    administrators: true,
    run: listRegions,
  },
  { operation: 'listPorts', method: 'GET', template: `${component}/ports`, needs: 'component', run: listPorts },
  { operation: 'addPort', method: 'POST', template: `${component}/ports`, needs: 'component', run: addPort },
  { operation: 'updatePort', method: 'PUT', template: port, needs: 'component', run: updatePort },
  { operation: 'getApplication', method: 'GET', template: app, needs: 'application', run: getApplication },
  { operation: 'createRule', method: 'POST', template: `${app}/httpdomains`, needs: 'application', run: createRule },
  {
    operation: 'monitor',
    method: 'GET',
    template: `${app}/monitor/query_range`,
    needs: 'application',
    run: queryMonitor,
  },
  { operation: 'install', method: 'POST', template: `${app}/install`, needs: 'application', run: install },
];

const extendedEntries: readonly Entry[] = [
  { operation: 'listApplications', method: 'GET', template: apps, needs: 'team', run: listApplications },
  { operation: 'createApplication', method: 'POST', template: apps, needs: 'team', run: createApplication },
  {
    operation: 'listComponents',
    method: 'GET',
    template: `${app}/services`,
    needs: 'application',
    run: listComponents,
  },
  {
    operation: 'listTeamRegions',
    method: 'GET',
    template: `${api}/teams/{team_id}/regions`,
    needs: 'plain-team',
    run: listTeamRegions,
  },
  {
    operation: 'listCertificates',
    method: 'GET',
    template: `${api}/teams/{team_id}/certificates`,
    needs: 'plain-team',
    run: listCertificates,
  },
  { operation: 'listInnerPorts', method: 'GET', template: `${apps}_port`, needs: 'team', run: listInnerPorts },
  {
    operation: 'eventLogs',
    method: 'GET',
    template: `${region}/events/{event_id}/logs`,
    needs: 'team',
    run: eventLogs,
  },
  { operation: 'listEvents', method: 'GET', template: `${component}/events`, needs: 'component', run: listEvents },
  { operation: 'build', method: 'POST', template: `${component}/build`, needs: 'component', run: buildComponent },
  {
    operation: 'queryRegion',
    method: 'GET',
    template: `${api}/monitor/query_range`,
    needs: 'enterprise',
    run: queryRegion,
  },
  {
    operation: 'monitorNow',
    method: 'GET',
    template: `${app}/monitor/query`,
    needs: 'application',
    run: queryMonitorNow,
  },
  { operation: 'getComponent', method: 'GET', template: component, needs: 'component', run: getComponent },
  { operation: 'deletePort', method: 'DELETE', template: port, needs: 'component', run: deletePort },
  { operation: 'listAllRules', method: 'GET', template: allRules, needs: 'enterprise', run: listAllRules },
  { operation: 'listRules', method: 'GET', template: `${app}/httpdomains`, needs: 'application', run: listRules },
  { operation: 'listDomains', method: 'GET', template: `${app}/domains`, needs: 'application', run: listDomains },
  { operation: 'getRule', method: 'GET', template: rule, needs: 'application', run: getRule },
  { operation: 'updateRule', method: 'PUT', template: rule, needs: 'application', run: updateRule },
  { operation: 'deleteRule', method: 'DELETE', template: rule, needs: 'application', run: deleteRule },
  { operation: 'listInstalled', method: 'GET', template: `${app}/upgrade`, needs: 'application', run: listInstalled },
  { operation: 'upgrade', method: 'POST', template: `${app}/upgrade`, needs: 'application', run: upgrade },
];

const documented = documentedEntries.map((entry): Route => ({ ...entry, dialect: 'documented' }));
const extended = extendedEntries.map((entry): Route => ({ ...entry, dialect: 'extended' }));

/** Every operation of the API, by dialect. */
export const routes: Readonly<Record<Dialect, readonly Route[]>> = {
  documented,
  extended: [...documented, ...extended],
};

interface Endpoint {
  /** A parameter is `{name}`; anything else is itself. */
  readonly segments: readonly string[];
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly any: Route;
}

const endpoints: Readonly<Record<Dialect, ReadonlyMap<number, readonly Endpoint[]>>> = {
  documented: endpointsOf(routes.documented),
  extended: endpointsOf(routes.extended),
};

function endpointsOf(list: readonly Route[]): ReadonlyMap<number, readonly Endpoint[]> {
  const byTemplate = Map.groupBy(list, (route) => route.template);
  const all = [...byTemplate].flatMap(([template, members]): Endpoint[] => {
    const [any] = members;
    if (any === undefined) return [];
    return [{ segments: template.split('/'), byMethod: new Map(members.map((route) => [route.method, route])), any }];
  });
  return Map.groupBy(all, (endpoint) => endpoint.segments.length);
}

/** The target of a request. `method-not-allowed` keeps a route of the path, because access is checked before methods. */
export type Match =
  | { readonly type: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly type: 'method-not-allowed'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly type: 'not-found' };

/**
 * Finds the operation of a path. A trailing slash is another path, and there is none there, except that the real
 * server takes anything that begins like the listing of all rules for that listing.
 */
export function matchRoute(dialect: Dialect, method: string, path: string): Match {
  const segments = (dialect === 'extended' && path.startsWith(allRules) ? allRules : path).split('/');
  for (const endpoint of endpoints[dialect].get(segments.length) ?? []) {
    const params = paramsOf(endpoint.segments, segments);
    if (params === undefined) continue;
    const route = endpoint.byMethod.get(method);
    return route === undefined
      ? { type: 'method-not-allowed', route: endpoint.any, params }
      : { type: 'route', route, params };
  }
  return { type: 'not-found' };
}

const namePattern = /^[\p{L}\p{N}_-]+$/u;
const numberPattern = /^[\d-]+$/;

function paramsOf(template: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (let index = 0; index < template.length; index += 1) {
    const expected = template[index] ?? '';
    const actual = segments[index] ?? '';
    if (expected.charAt(0) === '{') {
      const value = decoded(actual);
      const name = expected.slice(1, -1);
      if (value === undefined || !(name === 'app_id' ? numberPattern : namePattern).test(value)) return undefined;
      params[name] = value;
    } else if (expected !== actual) return undefined;
  }
  return params;
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
