import type { ControllerApi } from '../../controller/api.ts';
import { ONE_LINE_PATTERN } from '../../kinds/schema.ts';
import type { ResourceId } from '../../model/ids.ts';
import { arrayOf, described, objectOf, ref, string, text } from '../../model/schema-words.ts';
import { type Call, type Desk, json, routesOf } from '../route.ts';
import { applicationNamed } from './queries.ts';

const asked = {
  202: {
    description: 'It was asked for; events tell how it goes.',
    schema: objectOf('What is looked at.', { syncing: arrayOf(text) }),
  },
};

/** Returns the schema of a JSON body with one text. */
function bodyOf(name: string, description: string, rules: { readonly [rule: string]: number | string }) {
  const properties = { [name]: string(description, rules) };
  return {
    type: 'json',
    schema: { type: 'object', additionalProperties: false, required: [name], properties },
  } as const;
}

const reason = { minLength: 1, maxLength: 1000, pattern: ONE_LINE_PATTERN };

/** Returns the common part of commands for one application. The command is in effect when the answer is sent. */
function command(
  carryOut: (api: ControllerApi, id: ResourceId, by: string, body: Readonly<Record<string, string>>) => Promise<void>,
) {
  return {
    access: 'operator',
    answers: { 200: { description: 'How the application stands now.', schema: ref('Application') } },
    handle: async ({ params, body, by }: Call, { api }: Desk) => {
      const { id } = applicationNamed(api, params['name']);
      await carryOut(api, id, by, body as Readonly<Record<string, string>>);
      return json(api.application(id));
    },
  } as const;
}

export const commandRoutes = routesOf({
  'POST /api/v1/applications/{name}/sync': {
    operationId: 'syncApplication',
    summary: 'Looks at one application now.',
    access: 'operator',
    answers: asked,
    handle: ({ params, by }, { api }) => {
      const { id } = applicationNamed(api, params['name']);
      api.sync(id, by);
      return json({ syncing: [id] }, 202);
    },
  },
  'POST /api/v1/sync': {
    operationId: 'syncAll',
    summary: 'Looks at the source and at all applications now.',
    access: 'operator',
    answers: asked,
    handle: ({ by }, { api }) => {
      api.pokeSource(`sync by ${by}`);
      api.sync('all', by);
      return json({ syncing: api.applications().map(({ id }) => id) }, 202);
    },
  },
  'POST /api/v1/applications/{name}/suspend': {
    operationId: 'suspendApplication',
    summary: 'Writes nothing for the application until it is resumed.',
    body: bodyOf('reason', 'Why, for whoever finds it suspended.', reason),
    ...command((api, id, by, body) => api.suspend(id, by, body['reason'] ?? '')),
  },
  'POST /api/v1/applications/{name}/resume': {
    operationId: 'resumeApplication',
    summary: 'Goes on with a suspended application.',
    ...command((api, id, by) => api.resume(id, by)),
  },
  'POST /api/v1/applications/{name}/approve': {
    operationId: 'approvePlan',
    summary: 'Lets through the one plan that a guard refused, by its digest.',
    body: bodyOf('digest', 'As the plan and the status show it.', {
      minLength: 8,
      maxLength: 128,
      pattern: '^[0-9a-f]+$',
    }),
    ...command((api, id, by, body) => api.approve(id, body['digest'] ?? '', by)),
  },
  'POST /api/v1/platforms/{name}/rebind': {
    operationId: 'rebindPlatform',
    summary: 'Binds the ledger to the present URL of a platform, and to its regions at their next use.',
    access: 'admin',
    body: bodyOf('reason', 'Why the platform is the same one, for the history.', reason),
    answers: {
      200: {
        description: 'The ledger is bound to this URL now.',
        schema: objectOf('The binding.', {
          platform: text,
          url: text,
          before: described({ type: ['string', 'null'] }, 'The former URL; null: there was none.'),
        }),
      },
    },
    handle: async ({ params, body, by }, { api }) => {
      const platform = params['name'] ?? '';
      return json({ platform, ...(await api.rebind(platform, by, (body as { readonly reason: string }).reason)) });
    },
  },
});
