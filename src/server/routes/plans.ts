import { LIMITS } from '../../manifest/limits.ts';
import type { ResourceId } from '../../model/ids.ts';
import { problem } from '../problem.ts';
import { json, routesOf } from '../route.ts';
import * as s from '../../model/schema-words.ts';
import { applicationNamed } from './queries.ts';

/** Manifests in a request. The size of the body limits them as well. */
const FILES_MAX = 10_000;

const resourceId: s.Schema<ResourceId> = { type: 'string', maxLength: 256, pattern: '^[A-Za-z]+/[^/]+$' };
const content: s.Schema<string> = { type: 'string', maxLength: LIMITS.fileBytes };

const planBody = s.objectOf('Manifests, and options of the plan.', {
  files: s.arrayOf(
    s.objectOf('One manifest file.', {
      path: s.string('The name of the file in messages.', { minLength: 1, maxLength: 4096 }),
      content,
    }),
    { maxItems: FILES_MAX, description: 'All manifests. A resource that is missing here counts as removed from git.' },
  ),
  variables: s.mapOf('Values for ${NAME}.', {
    maxProperties: 1_000,
    default: {},
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128 },
    additionalProperties: { type: 'string', maxLength: LIMITS.scalarLength },
  }),
  prune: s.boolean('Also plan the removal of resources that the manifests do not contain.', { default: false }),
  adopt: {
    ...s.oneOf('Plan to adopt existing resources: all of them, or these.', [
      s.only('all'),
      s.arrayOf(resourceId, { maxItems: FILES_MAX }),
    ]),
    default: [],
  },
  'targets?': s.arrayOf(resourceId, {
    maxItems: FILES_MAX,
    minItems: 1,
    description: 'Only these resources. Absent: all.',
  }),
});

const plan = { 200: { description: 'The plan.', schema: s.ref('Plan') } };

export const planRoutes = routesOf({
  'GET /api/v1/applications/{name}/plan': {
    operationId: 'planApplication',
    summary: 'Makes a plan of one application. Changes nothing.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    answers: plan,
    handle: async ({ params, by, signal }, { api, plans }) => {
      const { id } = applicationNamed(api, params['name']);
      return json(await plans.run(by, signal, () => api.plan([id], signal)));
    },
  },
  'GET /api/v1/plan': {
    operationId: 'planAll',
    summary: 'Makes a plan of all applications. Changes nothing.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    answers: plan,
    handle: async ({ by, signal }, { api, plans }) => json(await plans.run(by, signal, () => api.plan('all', signal))),
  },
  'POST /api/v1/plan': {
    operationId: 'planManifests',
    summary:
      'Makes a plan of these manifests instead of those of the source. Changes nothing, and does not keep the manifests.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    body: { type: 'json', schema: planBody },
    bodyBytes: 'planBodyBytes',
    answers: plan,
    handle: async ({ body, by, signal }, { api, plans }) => {
      const { files, variables, prune, adopt, targets } = body as s.TypeOf<typeof planBody>;
      const options = { variables: new Map(Object.entries(variables)), prune, adopt, targets };
      const planned = await plans.run(by, signal, () => api.planManifests(files, options, signal));
      if (planned.type === 'planned') return json(planned.document);
      const { problems } = planned;
      const details = problem(422, 'server/invalid-manifests', {
        detail: `The manifests have ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}, so nothing was planned.`,
        remedy: 'Correct the entries of problems; each has a position.',
        problems,
      });
      return json(details, 422);
    },
  },
});
