import type { ApplicationStatus, ApplicationSummary, ResourceStatus } from '../../model/status.ts';
import { ref } from '../../model/schema-words.ts';
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

export const applicationRoutes = routesOf({
  'GET /api/v1/applications': {
    operationId: 'listApplications',
    summary: 'Lists applications by id, without their resources.',
    access: 'viewer',
    query: listQuery,
    answers: partOf('ApplicationSummary'),
    handle: ({ query }, { api }) => {
      const { condition, label, ...paging } = query as ListQuery;
      const found = api.applications().filter(filterOf(condition, label));
      const page = pageOf('applications', found, ({ id }) => id, paging);
      return json({ ...page, items: page.items.map(summaryOf) });
    },
  },
  'GET /api/v1/applications/{name}': {
    operationId: 'getApplication',
    summary: 'Returns one application with its resources.',
    access: 'viewer',
    answers: { 200: { description: 'The application.', schema: ref('Application') } },
    handle: ({ params }, { api }) => json(applicationNamed(api, params['name'])),
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
