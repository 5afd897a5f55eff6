import * as s from '../../model/schema-words.ts';
import type { ResourceId, ScopeKey } from '../../model/ids.ts';
import type { Doubt } from '../../model/manual.ts';
import { pageOf, type PageQuery } from '../paging.ts';
import { refusal } from '../problem.ts';
import { type Call, json, routesOf } from '../route.ts';
import { reasonSchema } from './commands.ts';
import { applicationNamed, pageQuery, partOf, resourceOf } from './queries.ts';

const remoteId = s.string('The id on the platform: http_rule_id of a rule, or the group of an install.', {
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 64,
});

const resolveBody = s.objectOf('The outcome of the request.', {
  decision: s.choice('Whether the platform made the change.', ['applied', 'not-applied']),
  'id?': remoteId,
  reason: reasonSchema('How you know. The history keeps the reason.'),
  force: s.boolean('Resolve it although the request may still arrive.', { default: false }),
});

const adoptBody = s.objectOf('The object of the platform.', {
  'id?': remoteId,
  reason: reasonSchema('How you know. The history keeps the reason.'),
});

const digest = s.string('The digest of the plan that was shown.', {
  minLength: 8,
  maxLength: 128,
  pattern: '^[0-9a-f]+$',
});

const agreedBody = s.objectOf('The plan that a person agrees to.', {
  digest,
  reason: reasonSchema('Why. The history keeps the reason.'),
});

const forgetOrphanBody = s.objectOf('The resources to remove from the ledger.', {
  'resource?': s.string<ResourceId>('Only this resource. Absent: all of the scope.', {
    maxLength: 512,
    pattern: '^[A-Za-z]+/[^/]+$',
  }),
  reason: reasonSchema('Why. The history keeps the reason.'),
});

const forgetBody = s.objectOf('Why.', { reason: reasonSchema('Why. The history keeps the reason.') });

const plan = { 200: { description: 'The plan.', schema: s.ref('Plan') } };

/** Returns the answers of a command that changes only the ledger. */
const recorded = (schema: string) => ({
  200: { description: 'Recorded. Nothing was sent to the platform.', schema: s.ref(schema) },
});

/** Routes for manual decisions about the ledger. Each waits for the pass of the application in progress. */
export const manualRoutes = routesOf({
  'GET /api/v1/applications/{name}/doubts': {
    operationId: 'listDoubts',
    summary: 'Lists the requests of one application whose outcome is not known, oldest first, with the evidence.',
    access: 'viewer',
    query: pageQuery,
    answers: partOf('Doubt'),
    handle: async ({ params, query }, { api }) => {
      const doubts = await api.doubts(applicationNamed(api, params['name']).id);
      const keyOf = ({ sentMs, id }: Doubt): string => `${String(sentMs).padStart(15, '0')} ${id}`;
      return json(pageOf('doubts', doubts, keyOf, query as PageQuery));
    },
  },
  'POST /api/v1/applications/{name}/intents/{intent}/resolve': {
    operationId: 'resolveIntent',
    summary:
      'Records the outcome of a request that observation cannot decide, after a person has checked the platform. The next pass relies on it.',
    access: 'admin',
    body: { type: 'json', schema: resolveBody },
    answers: recorded('Resolved'),
    handle: async ({ params, body, by, signal }, { api }) => {
      const { decision, id, reason, force } = body as s.TypeOf<typeof resolveBody>;
      if (decision === 'not-applied' && id !== undefined) throw idOfNothing();
      const request = {
        by,
        reason,
        force,
        decision: decision === 'applied' ? { type: decision, id } : { type: decision },
      };
      const application = applicationNamed(api, params['name']).id;
      return json(await api.resolve(application, params['intent'] ?? '', request, signal));
    },
  },
  'POST /api/v1/applications/{name}/resources/{kind}/{resource}/retry': {
    operationId: 'retryResource',
    summary:
      'Releases the changes of a resource that are held because they failed repeatedly. The next pass sends them again.',
    access: 'admin',
    answers: recorded('Retried'),
    handle: async (call, { api }) => {
      const { id } = applicationNamed(api, call.params['name']);
      return json(await api.retry(id, resourceOf(call), call.by, call.signal));
    },
  },
  'POST /api/v1/applications/{name}/resources/{kind}/{resource}/forget': {
    operationId: 'forgetResource',
    summary: 'Removes a resource from the ledger. It stays on the platform, unchanged and unmanaged.',
    access: 'admin',
    body: { type: 'json', schema: forgetBody },
    answers: recorded('Forgotten'),
    handle: async (call, { api }) => {
      const { id } = applicationNamed(api, call.params['name']);
      const { reason } = call.body as { readonly reason: string };
      return json(await api.forget(id, resourceOf(call), { by: call.by, reason }, call.signal));
    },
  },
  'GET /api/v1/applications/{name}/resources/{kind}/{resource}/adoption': {
    operationId: 'planAdoption',
    summary: 'Makes the plan by which a held resource is adopted. Changes nothing.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    answers: plan,
    handle: async (call, { api, plans }) => {
      const { id } = applicationNamed(api, call.params['name']);
      const { by, signal } = call;
      return json(await plans.run(by, signal, () => api.planAdoption(id, resourceOf(call), signal)));
    },
  },
  'POST /api/v1/applications/{name}/resources/{kind}/{resource}/adopt': {
    operationId: 'adoptResource',
    summary:
      'Lets the next pass take over an existing resource of the platform, exactly as the adoption with this digest says.',
    access: 'admin',
    body: { type: 'json', schema: agreedBody },
    answers: { 200: { description: 'The application after the command.', schema: s.ref('Application') } },
    handle: async (call, { api }) => {
      const { id } = applicationNamed(api, call.params['name']);
      const agreed = call.body as s.TypeOf<typeof agreedBody>;
      await api.adopt(id, resourceOf(call), { by: call.by, ...agreed }, call.signal);
      return json(await api.details(id));
    },
  },
  'POST /api/v1/applications/{name}/resources/{kind}/{resource}/identify': {
    operationId: 'identifyResource',
    summary:
      'Records which object of the platform a recorded rule is, when observation finds several candidates or none.',
    access: 'admin',
    body: { type: 'json', schema: adoptBody },
    answers: recorded('Adopted'),
    handle: async (call, { api }) => {
      const { id } = applicationNamed(api, call.params['name']);
      const { id: objectId, reason } = call.body as s.TypeOf<typeof adoptBody>;
      return json(await api.adoptById(id, resourceOf(call), { by: call.by, reason, objectId }, call.signal));
    },
  },
});

/** Routes for resources in applications that no manifest of the source refers to any more. */
export const orphanRoutes = routesOf({
  'GET /api/v1/orphans/{platform}/{team}/{region}/{app}/plan': {
    operationId: 'planOrphans',
    summary: 'Makes the plan that removes the orphaned resources of one scope. Changes nothing.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    answers: plan,
    handle: async ({ params, by, signal }, { api, plans }) =>
      json(await plans.run(by, signal, () => api.planPrune(scopeOf(params), signal))),
  },
  'POST /api/v1/orphans/{platform}/{team}/{region}/{app}/prune': {
    operationId: 'pruneOrphans',
    summary: 'Removes the orphaned resources of one scope, exactly as the plan with this digest says.',
    access: 'admin',
    body: { type: 'json', schema: agreedBody },
    answers: { 200: { description: 'The removals that were made.', schema: s.ref('Pruned') } },
    handle: async ({ params, body, by, signal }, { api }) => {
      const agreed = body as s.TypeOf<typeof agreedBody>;
      return json(await api.prune(scopeOf(params), { by, ...agreed }, signal));
    },
  },
  'POST /api/v1/orphans/{platform}/{team}/{region}/{app}/forget': {
    operationId: 'forgetOrphans',
    summary: 'Removes orphaned resources from the ledger. They stay on the platform, unchanged and unmanaged.',
    access: 'admin',
    body: { type: 'json', schema: forgetOrphanBody },
    answers: recorded('Forgotten'),
    handle: async ({ params, body, by, signal }, { api }) => {
      const { resource, reason } = body as s.TypeOf<typeof forgetOrphanBody>;
      return json(await api.forgetOrphan(scopeOf(params), resource, { by, reason }, signal));
    },
  },
});

/** Returns the scope in a path. */
function scopeOf({ platform, team, region, app }: Call['params']): ScopeKey {
  return `${platform}/${team}/${region}/${app}`;
}

const idOfNothing = () =>
  refusal(400, 'server/invalid-request', {
    detail: 'id names the object that a request created, and not-applied says that it created none. Nothing was done.',
    remedy: 'Leave out one of the two.',
  });
