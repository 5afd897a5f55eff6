import type { ResourceId } from '../../model/ids.ts';
import { numberOfCursor, pageBack, pageOf, type PageQuery } from '../paging.ts';
import { json, type Route } from '../route.ts';
import { pageSchema } from '../../model/schema-words.ts';
import { applicationNamed } from './applications-named.ts';
import { applicationQuery, pageQuery } from './queries.ts';

type RecordQuery = PageQuery & { readonly application?: string };

/** What the ledger has, read-only. */
export const recordRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/history',
    operationId: 'listHistory',
    summary: 'What was done and recorded, newest first.',
    access: 'viewer',
    query: { ...pageQuery, application: applicationQuery },
    answers: { 200: { description: 'A part of the list.', schema: pageSchema('HistoryRow') } },
    handle: async ({ query }, { api }) => {
      const { limit, cursor, application } = query as RecordQuery;
      const beforeSerial = numberOfCursor('history', cursor);
      const rows = await api.history({
        limit: limit + 1,
        ...(beforeSerial === undefined ? {} : { beforeSerial }),
        ...(application === undefined ? {} : { application: applicationNamed(api, application).id }),
      });
      return json(pageBack('history', rows, ({ serial }) => serial, limit));
    },
  },
  {
    method: 'GET',
    path: '/api/v1/applications/{name}/objects',
    operationId: 'listObjects',
    summary: 'Objects of one application that are on record in the ledger.',
    access: 'operator',
    query: pageQuery,
    answers: { 200: { description: 'A part of the list.', schema: pageSchema('OwnedObject') } },
    handle: async ({ params, query }, { api }) => {
      const objects = await api.objects(applicationNamed(api, params['name']).id);
      return json(
        pageOf(
          'objects',
          sorted(objects, ({ uid }) => uid),
          ({ uid }) => uid,
          query as PageQuery,
        ),
      );
    },
  },
  {
    method: 'GET',
    path: '/api/v1/intents',
    operationId: 'listIntents',
    summary: 'Requests that were about to be sent, and what became of them.',
    access: 'operator',
    query: { ...pageQuery, application: applicationQuery },
    answers: { 200: { description: 'A part of the list.', schema: pageSchema('Intent') } },
    handle: async ({ query }, { api }) => {
      const { application, ...page } = query as RecordQuery;
      const of: ResourceId | 'all' = application === undefined ? 'all' : applicationNamed(api, application).id;
      const intents = await api.intents(of);
      return json(
        pageOf(
          'intents',
          sorted(intents, ({ id }) => id),
          ({ id }) => id,
          page,
        ),
      );
    },
  },
];

function sorted<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return items.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}
