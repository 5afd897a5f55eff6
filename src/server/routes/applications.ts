import { FLEET_STATES } from '../../model/fleet-words.ts';
import { type ApplicationRow, fleetMembers } from '../../model/fleet.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ApplicationStatus, ApplicationSummary, ResourceStatus } from '../../model/status.ts';
import { pageSchema, ref } from '../../model/schema-words.ts';
import { deriveEntries } from '../../views/fleet.ts';
import { type FleetQuery, fleetPage, SORTS } from '../fleet-list.ts';
import { pageOf, type PageQuery } from '../paging.ts';
import { json, routesOf } from '../route.ts';
import {
  applicationNamed,
  conditionQuery,
  filterOf,
  labelQuery,
  type ListQuery,
  pageQuery,
  noSuchResource,
  partOf,
  resourceOf,
} from './queries.ts';

function summaryOf({ resources, pending: _, ...standing }: ApplicationStatus): ApplicationSummary {
  const count = (counts: (resource: ResourceStatus) => boolean): number => resources.filter(counts).length;
  return {
    ...standing,
    resources: {
      total: resources.length,
      notReady: count(
        ({ conditions }) => !conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      ),
      drifted: count(({ drift }) => drift !== null),
      held: count(({ holds }) => holds.length > 0),
    },
  };
}

const listQuery = { ...pageQuery, condition: conditionQuery, label: labelQuery };

/** Returns a page of the resources of applications. A resource has the labels of its application. */
function resourcesPage(list: string, applications: readonly ApplicationStatus[], query: unknown) {
  const { condition, label, ...page } = query as ListQuery;
  const isWanted = filterOf(condition, label);
  const found = applications.flatMap(({ resources, labels }) =>
    resources.filter(({ conditions }) => isWanted({ conditions, labels })),
  );
  return json(pageOf(list, found, ({ id }) => id, page));
}

const valuesQuery = (description: string): JsonObject => ({
  type: 'array',
  maxItems: 50,
  items: { type: 'string', minLength: 1, maxLength: 256 },
  description: `${description} May be repeated: any of the values.`,
});

const fleetQuery = {
  ...listQuery,
  search: {
    type: 'string',
    maxLength: 200,
    description: 'Only applications whose name, scope or labels contain each of these words, in any case.',
  },
  state: {
    type: 'array',
    maxItems: FLEET_STATES.length,
    items: { type: 'string', enum: FLEET_STATES },
    description: 'Only applications in this state. May be repeated: any of the states.',
  },
  team: valuesQuery('Only applications of this team.'),
  region: valuesQuery('Only applications in this region.'),
  platform: valuesQuery('Only applications on this platform.'),
  sort: {
    type: 'string',
    enum: SORTS.flatMap((name) => [name, `-${name}`]),
    default: 'name',
    description:
      'The order. state: the most urgent first, then the oldest. change: the latest change first. since: the oldest state first. A minus sign reverses it.',
  },
  view: {
    type: 'string',
    enum: ['summary', 'row'],
    default: 'summary',
    description: 'summary: items with conditions. row: items as short as a row of a table.',
  },
  facets: { type: 'boolean', default: false, description: 'Whether the answer has the values of each filter.' },
} as const;

export const applicationRoutes = routesOf({
  'GET /api/v1/applications': {
    operationId: 'listApplications',
    summary: 'Lists applications without their resources: all, or those that match a search and filters, in an order.',
    access: 'viewer',
    query: fleetQuery,
    answers: {
      200: {
        description: 'A page of the list, and the number of applications by state.',
        schema: pageSchema(['ApplicationSummary', 'ApplicationRow'], fleetMembers),
      },
    },
    handle: async ({ query }, { api, clock }) => {
      const { view, ...asked } = query as FleetQuery & { readonly view: 'summary' | 'row' };
      const entries = await deriveEntries(api.standings(), () => clock.sleep(0));
      const { items, ...page } = fleetPage(entries, asked);
      const rows = items.map(({ row }) => row);
      const summary = ({ id }: ApplicationRow) => summaryOf(api.application(id) as ApplicationStatus);
      return json({ items: view === 'row' ? rows : rows.map(summary), ...page });
    },
  },
  'GET /api/v1/applications/{name}': {
    operationId: 'getApplication',
    summary: 'Returns one application with its resources.',
    access: 'viewer',
    answers: { 200: { description: 'The application.', schema: ref('Application') } },
    handle: async ({ params }, { api }) => json(await api.details(applicationNamed(api, params['name']).id)),
  },
  'GET /api/v1/applications/{name}/resources': {
    operationId: 'listResourcesOfApplication',
    summary: 'Lists the resources of one application by id.',
    access: 'viewer',
    query: { ...pageQuery, condition: conditionQuery },
    answers: partOf('Resource'),
    handle: ({ params, query }, { api }) => resourcesPage('resources', [applicationNamed(api, params['name'])], query),
  },
  'GET /api/v1/applications/{name}/resources/{kind}/{resource}': {
    operationId: 'getResource',
    summary:
      'Returns one resource: the desired, live and last applied value of each field with its actors, the position of its manifest, pending requests, requests in doubt, and its records in the ledger.',
    access: 'viewer',
    answers: { 200: { description: 'The resource.', schema: ref('ResourceDetails') } },
    handle: async (call, { api }) => {
      const { id } = applicationNamed(api, call.params['name']);
      const found = await api.resource(id, resourceOf(call));
      if (found === undefined) throw noSuchResource(id, resourceOf(call));
      return json(found);
    },
  },
  'GET /api/v1/resources': {
    operationId: 'listResources',
    summary: 'Lists the resources of all applications by id. A resource has the labels of its application.',
    access: 'viewer',
    query: listQuery,
    answers: partOf('Resource'),
    handle: ({ query }, { api }) => resourcesPage('all-resources', api.applications(), query),
  },
  'GET /api/v1/orphans': {
    operationId: 'listOrphans',
    summary:
      'Lists resources on record in applications that no manifest refers to any more. Nothing removes them by itself.',
    access: 'viewer',
    query: pageQuery,
    answers: partOf('Orphan'),
    handle: ({ query }, { api }) =>
      json(pageOf('orphans', api.orphans(), ({ scope, id }) => `${scope} ${id}`, query as PageQuery)),
  },
});
