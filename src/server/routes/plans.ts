import { LIMITS } from '../../manifest/limits.ts';
import type { ResourceId } from '../../model/ids.ts';
import { problem } from '../problem.ts';
import { json, routesOf } from '../route.ts';
import {
  arrayOf,
  boolean,
  mapOf,
  objectOf,
  oneOf,
  only,
  ref,
  type Schema,
  string,
  type TypeOf,
} from '../../model/schema-words.ts';
import { applicationNamed } from './queries.ts';

/** Manifests in a request. The size of the body limits them as well. */
const FILES_MAX = 10_000;

const resourceId: Schema<ResourceId> = { type: 'string', maxLength: 256, pattern: '^[A-Za-z]+/[^/]+$' };
const content: Schema<string> = { type: 'string', maxLength: LIMITS.fileBytes };

const planBody = objectOf('Manifests, and what to plan of them.', {
  files: arrayOf(
    objectOf('One manifest file.', {
      path: string('What messages call the file.', { minLength: 1, maxLength: 4096 }),
      content,
    }),
    { maxItems: FILES_MAX, description: 'The manifests, all of them: what is not here counts as removed.' },
  ),
  variables: mapOf('Values for ${NAME}.', {
    maxProperties: 1_000,
    default: {},
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128 },
    additionalProperties: { type: 'string', maxLength: LIMITS.scalarLength },
  }),
  prune: boolean('Also plan removals of what the manifests do not name.', { default: false }),
  adopt: {
    ...oneOf('Plan to take over what exists and is not ours: all, or these.', [
      only('all'),
      arrayOf(resourceId, { maxItems: FILES_MAX }),
    ]),
    default: [],
  },
  'targets?': arrayOf(resourceId, {
    maxItems: FILES_MAX,
    minItems: 1,
    description: 'Only these resources. Absent: all.',
  }),
});

const plan = { 200: { description: 'The plan.', schema: ref('Plan') } };

export const planRoutes = routesOf({
  'GET /api/v1/applications/{name}/plan': {
    operationId: 'planApplication',
    summary: 'A fresh plan of one application. Reads only.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    answers: plan,
    handle: async ({ params, by, signal }, { api, plans }) => {
      const { id } = applicationNamed(api, params['name']);
      return json(await plans.run(by, signal, () => api.plan(id, signal)));
    },
  },
  'GET /api/v1/plan': {
    operationId: 'planAll',
    summary: 'A fresh plan of all applications. Reads only.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    answers: plan,
    handle: async ({ by, signal }, { api, plans }) => json(await plans.run(by, signal, () => api.plan('all', signal))),
  },
  'POST /api/v1/plan': {
    operationId: 'planManifests',
    summary: 'What these manifests would do in place of those of the source. Reads only, and nothing of them is kept.',
    access: 'viewer',
    waits: true,
    isPlan: true,
    body: { type: 'json', schema: planBody },
    bodyBytes: 'planBodyBytes',
    answers: plan,
    handle: async ({ body, by, signal }, { api, plans }) => {
      const { files, variables, prune, adopt, targets } = body as TypeOf<typeof planBody>;
      const options = { variables: new Map(Object.entries(variables)), prune, adopt, targets };
      const planned = await plans.run(by, signal, () => api.planManifests(files, options, signal));
      if (planned.type === 'planned') return json(planned.document);
      const { problems } = planned;
      const details = problem(422, 'server/invalid-manifests', {
        detail: `The manifests have ${problems.length === 1 ? 'a fault' : `${problems.length} faults`}, so nothing was planned.`,
        remedy: 'Correct what problems names, each with its place.',
        problems,
      });
      return json(details, 422);
    },
  },
});
