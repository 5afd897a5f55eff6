import { ATTENTION_KINDS, type AttentionKind } from '../../model/fleet-words.ts';
import { attentionMembers } from '../../model/fleet.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { Doubt } from '../../model/manual.ts';
import { pageSchema } from '../../model/schema-words.ts';
import { attentionItems, hasDoubt } from '../../views/attention.ts';
import { placedPage } from '../paging.ts';
import { json, routesOf } from '../route.ts';
import { applicationNamed, applicationQuery, type ListQuery, pageQuery } from './queries.ts';

/** Applications whose requests in doubt are read from the ledger for one answer. */
const DOUBTFUL_MAX = 50;

interface AttentionQuery extends ListQuery {
  readonly kind?: readonly AttentionKind[];
}

export const attentionRoutes = routesOf({
  'GET /api/v1/attention': {
    operationId: 'listAttention',
    summary: 'Lists everything that requires manual action, the oldest first, each with its remedy.',
    access: 'viewer',
    query: {
      ...pageQuery,
      application: applicationQuery,
      kind: {
        type: 'array',
        maxItems: ATTENTION_KINDS.length,
        items: { type: 'string', enum: ATTENTION_KINDS },
        description: 'Only items of this kind. May be repeated: any of the kinds.',
      },
    },
    answers: {
      200: { description: 'A page of the list.', schema: pageSchema('AttentionItem', attentionMembers) },
    },
    handle: async ({ query }, { api, clock }) => {
      const { kind = [], application, ...page } = query as AttentionQuery;
      const id = application === undefined ? undefined : applicationNamed(api, application).id;
      const standings = api.standings();
      const doubtful = standings.filter(({ status }) => hasDoubt(status)).slice(0, DOUBTFUL_MAX);
      const doubts = new Map<ResourceId, readonly Doubt[]>();
      for (const one of doubtful) doubts.set(one.id, await api.doubts(one.id));
      const world = { standings, orphans: api.orphans(), source: api.status().source, doubts };
      const all = attentionItems({ ...world, nowMs: clock.now() });
      const items = id === undefined ? all : all.filter((item) => item.application === id);
      const found = kind.length === 0 ? items : items.filter((item) => kind.includes(item.kind));
      const counts: Partial<Record<AttentionKind, number>> = {};
      for (const item of items) counts[item.kind] = (counts[item.kind] ?? 0) + 1;
      return json({ ...placedPage('attention', found, page), total: found.length, counts });
    },
  },
});
