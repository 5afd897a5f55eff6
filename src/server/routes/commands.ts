import type { ControllerApi } from '../../controller/api.ts';
import { ONE_LINE_PATTERN } from '../../kinds/schema.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { json, type Route } from '../route.ts';
import { arrayOf, objectOf, ref, text } from '../../model/schema-words.ts';
import { applicationNamed } from './applications-named.ts';

const asNow = { 200: { description: 'How the application stands now.', schema: ref('Application') } };
const asked = {
  202: {
    description: 'It was asked for; events tell how it goes.',
    schema: objectOf('What is looked at.', { syncing: arrayOf(text) }),
  },
};

function statusOf(api: ControllerApi, id: ResourceId) {
  return json(api.application(id));
}

/** A JSON body with these fields, all of them and no others. */
function bodyOf(properties: JsonObject) {
  const required = Object.keys(properties);
  return { type: 'json', schema: { type: 'object', additionalProperties: false, required, properties } } as const;
}

export const commandRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/applications/{name}/sync',
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
  {
    method: 'POST',
    path: '/api/v1/sync',
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
  {
    method: 'POST',
    path: '/api/v1/applications/{name}/suspend',
    operationId: 'suspendApplication',
    summary: 'Writes nothing for the application until it is resumed.',
    access: 'operator',
    body: bodyOf({
      reason: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        pattern: ONE_LINE_PATTERN,
        description: 'Why, for whoever finds it suspended.',
      },
    }),
    answers: asNow,
    handle: async ({ params, body, by }, { api }) => {
      const { id } = applicationNamed(api, params['name']);
      await api.suspend(id, by, (body as { readonly reason: string }).reason);
      return statusOf(api, id);
    },
  },
  {
    method: 'POST',
    path: '/api/v1/applications/{name}/resume',
    operationId: 'resumeApplication',
    summary: 'Goes on with a suspended application.',
    access: 'operator',
    answers: asNow,
    handle: async ({ params, by }, { api }) => {
      const { id } = applicationNamed(api, params['name']);
      await api.resume(id, by);
      return statusOf(api, id);
    },
  },
  {
    method: 'POST',
    path: '/api/v1/applications/{name}/approve',
    operationId: 'approvePlan',
    summary: 'Lets through the one plan that a guard refused, by its digest.',
    access: 'operator',
    body: bodyOf({
      digest: {
        type: 'string',
        minLength: 8,
        maxLength: 128,
        pattern: '^[0-9a-f]+$',
        description: 'As the plan and the status show it.',
      },
    }),
    answers: asNow,
    handle: async ({ params, body, by }, { api }) => {
      const { id } = applicationNamed(api, params['name']);
      await api.approve(id, (body as { readonly digest: string }).digest, by);
      return statusOf(api, id);
    },
  },
  {
    method: 'POST',
    path: '/api/v1/platforms/{name}/rebind',
    operationId: 'rebindPlatform',
    summary: 'Binds the ledger to the present URL of a platform, and to its regions at their next use.',
    access: 'admin',
    body: bodyOf({
      reason: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        pattern: ONE_LINE_PATTERN,
        description: 'Why the platform is the same one, for the history.',
      },
    }),
    answers: {
      200: {
        description: 'The ledger is bound to this URL now.',
        schema: objectOf('The binding.', {
          platform: text,
          url: text,
          before: { type: ['string', 'null'], description: 'The former URL; null: there was none.' },
        }),
      },
    },
    handle: async ({ params, body, by }, { api }) => {
      const platform = params['name'] ?? '';
      const { url, before } = await api.rebind(platform, by, (body as { readonly reason: string }).reason);
      return json({ platform, url, before });
    },
  },
];
