import type { ControllerApi } from '../../controller/api.ts';
import { ONE_LINE_PATTERN } from '../../kinds/schema.ts';
import type { ResourceId } from '../../model/ids.ts';
import { arrayOf, described, objectOf, ref, string, text } from '../../model/schema-words.ts';
import { type Call, type Services, json, routesOf } from '../route.ts';
import { applicationNamed } from './queries.ts';

const asked = {
  202: {
    description: 'The sync was requested. Events report its progress.',
    schema: objectOf('The applications that are synced.', { syncing: arrayOf(text) }),
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

/** Returns the schema of a reason that a person gives. */
export const reasonSchema = (description: string) => string(description, reason);

/** Returns the common part of commands for one application. The command is in effect when the answer is sent. */
function command(
  access: 'operate' | 'approve',
  carryOut: (api: ControllerApi, id: ResourceId, by: string, body: Readonly<Record<string, string>>) => Promise<void>,
) {
  return {
    access,
    answers: { 200: { description: 'The application after the command.', schema: ref('Application') } },
    handle: async ({ params, body, by }: Call, { api }: Services) => {
      const { id } = applicationNamed(api, params['name']);
      await carryOut(api, id, by, body as Readonly<Record<string, string>>);
      return json(await api.details(id));
    },
  } as const;
}

export const commandRoutes = routesOf({
  'POST /api/v1/applications/{name}/sync': {
    operationId: 'syncApplication',
    summary: 'Requests a sync of one application.',
    access: 'operate',
    answers: asked,
    handle: async ({ params, by }, { api }) => {
      const { id } = applicationNamed(api, params['name']);
      return json({ syncing: await api.sync([id], by) }, 202);
    },
  },
  'POST /api/v1/sync': {
    operationId: 'syncAll',
    summary: 'Requests a read of the source and a sync of all applications, or of those that the caller may sync.',
    access: 'operate',
    answers: asked,
    handle: async ({ by }, { api }) => {
      await api.pokeSource(`sync by ${by}`);
      return json({ syncing: await api.sync('all', by) }, 202);
    },
  },
  'POST /api/v1/applications/{name}/suspend': {
    operationId: 'suspendApplication',
    summary: 'Suspends an application: Portolan writes nothing for it until it is resumed.',
    body: bodyOf('reason', 'Why the application is suspended. Status shows the reason.', reason),
    ...command('operate', (api, id, by, body) => api.suspend(id, by, body['reason'] ?? '')),
  },
  'POST /api/v1/applications/{name}/resume': {
    operationId: 'resumeApplication',
    summary: 'Resumes a suspended application.',
    ...command('operate', (api, id, by) => api.resume(id, by)),
  },
  'POST /api/v1/applications/{name}/approve': {
    operationId: 'approvePlan',
    summary: 'Approves the plan with this digest, which a guard has refused.',
    body: bodyOf('digest', 'The digest that the plan and the status show.', {
      minLength: 8,
      maxLength: 128,
      pattern: '^[0-9a-f]+$',
    }),
    ...command('approve', (api, id, by, body) => api.approve(id, body['digest'] ?? '', by)),
  },
  'POST /api/v1/platforms/{name}/rebind': {
    operationId: 'rebindPlatform',
    summary: 'Binds the ledger to the current URL of a platform, and to its regions at their next use.',
    access: 'admin-of-all',
    body: bodyOf('reason', 'Why the platform is still the same one. The history keeps the reason.', reason),
    answers: {
      200: {
        description: 'The ledger is now bound to this URL.',
        schema: objectOf('The binding.', {
          platform: text,
          url: text,
          before: described({ type: ['string', 'null'] }, 'The previous URL; null if the ledger had none.'),
        }),
      },
    },
    handle: async ({ params, body, by }, { api }) => {
      const platform = params['name'] ?? '';
      return json({ platform, ...(await api.rebind(platform, by, (body as { readonly reason: string }).reason)) });
    },
  },
});
