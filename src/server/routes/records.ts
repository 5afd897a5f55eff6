import { pageOf, pageOfRows, placeOfCursor } from '../paging.ts';
import { json, routesOf } from '../route.ts';
import { applicationNamed, applicationQuery, type ListQuery, pageQuery, partOf } from './queries.ts';

/** Routes that read the ledger. */
export const recordRoutes = routesOf({
  'GET /api/v1/history': {
    operationId: 'listHistory',
    summary: 'Lists the history, newest first.',
    access: 'viewer',
    query: { ...pageQuery, application: applicationQuery },
    answers: partOf('HistoryRow'),
    handle: async ({ query }, { api }) => {
      const { limit, cursor, application } = query as ListQuery;
      // The rows of one transaction have one serial, and a page may end among them.
      const from = placeOfCursor('history', cursor);
      const rows = await api.history({
        limit: (from?.skip ?? 0) + limit + 1,
        ...(from === undefined ? {} : { beforeSerial: from.number + 1 }),
        ...(application === undefined ? {} : { application: applicationNamed(api, application).id }),
      });
      return json(pageOfRows('history', rows, ({ serial }) => serial, { limit, from }));
    },
  },
  'GET /api/v1/applications/{name}/objects': {
    operationId: 'listObjects',
    summary: 'Lists the objects of one application in the ledger.',
    access: 'operator',
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
    access: 'operator',
    query: { ...pageQuery, application: applicationQuery },
    answers: partOf('Intent'),
    handle: async ({ query }, { api }) => {
      const { application, ...page } = query as ListQuery;
      const intents = await api.intents(application === undefined ? 'all' : applicationNamed(api, application).id);
      return json(pageOf('intents', intents, ({ id }) => id, page));
    },
  },
});
