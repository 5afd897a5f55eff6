import type { ControllerApi } from '../../controller/api.ts';
import type { ResourceId } from '../../model/ids.ts';
import { pageOf, pageOfRows, placeOfCursor } from '../paging.ts';
import { json, routesOf } from '../route.ts';
import {
  applicationNamed,
  applicationQuery,
  type ListQuery,
  noApplicationOf,
  pageQuery,
  partOf,
  resourceQuery,
} from './queries.ts';

/** Routes that read the ledger. */
export const recordRoutes = routesOf({
  'GET /api/v1/history': {
    operationId: 'listHistory',
    summary:
      'Lists the history, newest first: of everything, of an application, or of one resource back to its creation or adoption.',
    access: 'viewer',
    query: { ...pageQuery, application: applicationQuery, resource: resourceQuery },
    answers: partOf('HistoryRow'),
    handle: async ({ query }, { api }) => {
      const { limit, cursor, resource, ...named } = query as ListQuery;
      const application = named.application ?? (resource && ownerOf(api, resource));
      // The rows of one transaction have one serial, and a page may end among them.
      const from = placeOfCursor('history', cursor);
      const rows = await api.history({
        limit: (from?.skip ?? 0) + limit + 1,
        ...(from === undefined ? {} : { beforeSerial: from.number + 1 }),
        ...(application === undefined ? {} : { application: applicationNamed(api, application).id }),
        ...(resource === undefined ? {} : { resource }),
      });
      return json(pageOfRows('history', rows, ({ serial }) => serial, { limit, from }));
    },
  },
  'GET /api/v1/applications/{name}/objects': {
    operationId: 'listObjects',
    summary: 'Lists the objects of one application in the ledger.',
    access: 'operate',
    query: pageQuery,
    answers: partOf('OwnedObject'),
    handle: async ({ params, query }, { api }) => {
      const objects = await api.objects(applicationNamed(api, params['name']).id);
      return json(pageOf('objects', objects, ({ uid }) => uid, query as ListQuery));
    },
  },
  'GET /api/v1/intents': {
    operationId: 'listIntents',
    summary: 'Lists intents, which are recorded before each write, and their outcomes.',
    access: 'operate',
    query: { ...pageQuery, application: applicationQuery },
    answers: partOf('Intent'),
    handle: async ({ query }, { api }) => {
      const { application, ...page } = query as ListQuery;
      const intents = await api.intents(application === undefined ? 'all' : applicationNamed(api, application).id);
      return json(pageOf('intents', intents, ({ id }) => id, page));
    },
  },
});

/** Returns the name of the application whose manifests have a resource. */
function ownerOf(api: ControllerApi, resource: ResourceId): string {
  const owner = api.applications().find(({ resources }) => resources.some(({ id }) => id === resource));
  if (owner === undefined) throw noApplicationOf(resource);
  return owner.id.slice('Application/'.length);
}
