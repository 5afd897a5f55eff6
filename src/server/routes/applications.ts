import type { ApplicationStatus, ApplicationSummary, Condition, ResourceStatus } from '../../model/status.ts';
import { pageOf, type PageQuery } from '../paging.ts';
import { json, type Route } from '../route.ts';
import { pageSchema, ref } from '../../model/schema-words.ts';
import { conditionQuery, type Filter, filterOf, labelQuery, pageQuery } from './queries.ts';
import { applicationNamed } from './applications-named.ts';

type ListQuery = PageQuery & { readonly condition?: readonly string[]; readonly label?: readonly string[] };

function summaryOf({ resources, pending: _, ...standing }: ApplicationStatus): ApplicationSummary {
  const count = (counts: (resource: ResourceStatus) => boolean): number => resources.filter(counts).length;
  return {
    ...standing,
    resources: {
      total: resources.length,
      notReady: count(({ conditions }) => !isReady(conditions)),
      drifted: count(({ drift }) => drift !== null),
      held: count(({ holds }) => holds.length > 0),
    },
  };
}

function isReady(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function byId<Item extends { readonly id: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
}

function matches(
  { conditions: wanted, labels: wantedLabels }: Filter,
  conditions: readonly Condition[],
  labels: ApplicationStatus['labels'],
) {
  const hasLabels = wantedLabels.every(({ key, value }) =>
    value === undefined ? Object.hasOwn(labels, key) : Object.hasOwn(labels, key) && labels[key] === value,
  );
  return (
    hasLabels &&
    wanted.every(({ type, status, isNot }) => {
      // A condition that was never set is as good as unknown.
      const is = conditions.find((condition) => condition.type === type)?.status ?? 'Unknown';
      return (is === status) !== isNot;
    })
  );
}

const listQuery = { ...pageQuery, condition: conditionQuery, label: labelQuery };

export const applicationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/applications',
    operationId: 'listApplications',
    summary: 'Applications by id, without their resources.',
    access: 'viewer',
    query: listQuery,
    answers: { 200: { description: 'A part of the list.', schema: pageSchema('ApplicationSummary') } },
    handle: ({ query }, { api }) => {
      const { limit, cursor, condition, label } = query as ListQuery;
      const filter = filterOf(condition, label);
      const found = byId(api.applications()).filter(({ conditions, labels }) => matches(filter, conditions, labels));
      const page = pageOf('applications', found, ({ id }) => id, {
        limit,
        ...(cursor === undefined ? {} : { cursor }),
      });
      return json({ ...page, items: page.items.map(summaryOf) });
    },
  },
  {
    method: 'GET',
    path: '/api/v1/applications/{name}',
    operationId: 'getApplication',
    summary: 'How one application stands, with its resources.',
    access: 'viewer',
    answers: { 200: { description: 'The application.', schema: ref('Application') } },
    handle: ({ params }, { api }) => json(applicationNamed(api, params['name'])),
  },
  {
    method: 'GET',
    path: '/api/v1/applications/{name}/resources',
    operationId: 'listResourcesOfApplication',
    summary: 'Resources of one application, by id.',
    access: 'viewer',
    query: { ...pageQuery, condition: conditionQuery },
    answers: { 200: { description: 'A part of the list.', schema: pageSchema('Resource') } },
    handle: ({ params, query }, { api }) => {
      const { condition, ...page } = query as ListQuery;
      const filter = filterOf(condition, undefined);
      const { resources, labels } = applicationNamed(api, params['name']);
      const found = byId(resources).filter(({ conditions }) => matches(filter, conditions, labels));
      return json(pageOf('resources', found, ({ id }) => id, page));
    },
  },
  {
    method: 'GET',
    path: '/api/v1/resources',
    operationId: 'listResources',
    summary: 'Resources of all applications, by id; labels are those of their application.',
    access: 'viewer',
    query: listQuery,
    answers: { 200: { description: 'A part of the list.', schema: pageSchema('Resource') } },
    handle: ({ query }, { api }) => {
      const { condition, label, ...page } = query as ListQuery;
      const filter = filterOf(condition, label);
      const found = api
        .applications()
        .flatMap(({ resources, labels }) => resources.filter(({ conditions }) => matches(filter, conditions, labels)));
      return json(pageOf('all-resources', byId(found), ({ id }) => id, page));
    },
  },
];
