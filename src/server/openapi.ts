import { fleetSchemas } from '../model/fleet.ts';
import type { JsonObject } from '../model/json.ts';
import { detailSchemas } from '../model/resource-details.ts';
import { manualSchemas } from '../model/manual.ts';
import { monitoringSchemas } from '../model/monitoring.ts';
import { ledgerSchemas } from '../model/owned.ts';
import { platformStatusSchemas } from '../model/platform-status.ts';
import { replicasSchemas } from '../model/replicas.ts';
import { manifestProblemSchema } from '../model/problem.ts';
import { arrayOf, count, literal, objectOf, ref, text, trueOrFalse } from '../model/schema-words.ts';
import { statusSchemas } from '../model/status.ts';
import { planSchemas } from '../model/plan-document.ts';
import { problem, problemDetailsSchema } from './problem.ts';
import type { Route } from './route.ts';
import { isOpenAccess } from './permissions.ts';

/** Returns the API as an OpenAPI 3.1 document, made of the schemas that also check requests. */
export function openApiDocument(routes: readonly Route[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Portolan',
      version: 'v1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'The API of the Portolan controller. Errors are problem details (RFC 9457) with a code and a remedy.',
    },
    servers: [
      { url: '/', description: 'The controller that serves this document.' },
      { url: 'http://127.0.0.1:7780', description: 'A controller on this machine, with its default address.' },
    ],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      schemas: { ...schemas },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'One of spec.server.tokens of Settings.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-portolan-session',
          description:
            'The session of a browser (POST /api/v1/session). It counts only in requests of a page of the same origin. On http://localhost the name is portolan-session-PORT.',
        },
      },
    },
  };
}

/** `components.schemas` of the document. Objects list every field, so an answer never shows an unexpected one. */
const schemas: Readonly<Record<string, JsonObject>> = {
  ...statusSchemas,
  ...detailSchemas,
  ...fleetSchemas,
  ...ledgerSchemas,
  ...manualSchemas,
  ...monitoringSchemas,
  ...platformStatusSchemas,
  ...replicasSchemas,
  ProblemDetails: problemDetailsSchema,
  ManifestProblem: manifestProblemSchema,
  Healthy: objectOf('The process is alive.', { status: literal('ok'), lagMs: count }),
  Readiness: objectOf('Whether the controller is ready, and if not, why.', {
    ready: trueOrFalse,
    reasons: arrayOf(text),
  }),
  ...planSchemas,
};

/** Groups of operations. A path belongs to the first group whose pattern it matches. */
const TAGS: readonly { readonly name: string; readonly description: string; readonly paths: RegExp }[] = [
  { name: 'plans', description: 'Make a plan, or approve a held plan.', paths: /\/(?:plan|adoption|approve)$/ },
  { name: 'commits', description: 'Commits and their progress.', paths: /\/commits/ },
  { name: 'attention', description: 'Everything that requires manual action.', paths: /\/attention$/ },
  { name: 'events', description: 'Events of the controller.', paths: /\/events/ },
  {
    name: 'ledger',
    description: 'Records of the ledger: history, objects, intents, and what people decide about them.',
    paths: /\/(?:history|objects|intents|doubts|resolve|retry|forget|identify|adopt|prune)$/,
  },
  { name: 'webhooks', description: 'A Git host reports that the source may have changed.', paths: /^\/webhooks\// },
  {
    name: 'sessions',
    description: 'Sessions of browsers, and who the caller is.',
    paths: /\/(?:session|sign-in|auth|whoami)\b/,
  },
  {
    name: 'process',
    description: 'The process: status, health, metrics, this document.',
    paths: /^\/(?:healthz|readyz|metrics)$|\/(?:status|platform|replicas|openapi\.json|rebind)$/,
  },
  { name: 'applications', description: 'Applications and their resources.', paths: /./ },
];

/** Examples of names in paths. */
const NAME_EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [/^\/webhooks\//, 'forge'],
  [/\/platforms\//, 'default'],
  [/\/commits\//, '5a2e33990000'],
  [/./, 'shop'],
];

/** Examples of the other parameters in paths. */
const PARAMETER_EXAMPLES: Readonly<Record<string, string>> = {
  platform: 'default',
  team: 'payments',
  region: 'rainbond',
  app: '42',
  kind: 'Kind',
  resource: 'web',
  intent: '3f9c21a07b54',
};

const PROBLEM_EXAMPLE = problem(404, 'controller/unknown-application', {
  detail: 'No application is called shop.',
  remedy: 'GET /api/v1/applications lists all applications.',
}) as unknown as JsonObject;

const WHO: Readonly<Record<Route['access'], string>> = {
  anyone: 'No token is needed.',
  signature: 'No token is needed, because the body is signed.',
  browser: 'No token is needed. Only for pages of the same origin.',
  callback: 'No token is needed. Only for the redirect of the OpenID Connect provider.',
  metrics: 'Any role, for everything. No token is needed if spec.server.metrics.public of Settings is true.',
  caller: 'Any caller, also without a role.',
  viewer: 'Any role. Covers only the applications of the role.',
  'viewer-of-all': 'Any role, for everything.',
  operate: 'Role: operate, operator or admin. Covers only the applications of the role.',
  approve: 'Role: approve, operator or admin. Covers only the applications of the role.',
  admin: 'Role: admin. Covers only the applications of the role.',
  'admin-of-all': 'Role: admin, for everything.',
};

function operationOf(route: Route): JsonObject {
  const { operationId, summary, access, query = {}, body } = route;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: PARAMETER_EXAMPLES[name] ?? NAME_EXAMPLES.find(([pattern]) => pattern.test(route.path))?.[1] ?? '',
  }));
  const inQuery = Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
  const parameters: readonly JsonObject[] = [...inPath, ...inQuery];
  const isOpen = isOpenAccess(access);
  return {
    operationId,
    summary,
    tags: TAGS.filter(({ paths }) => paths.test(route.path))
      .slice(0, 1)
      .map(({ name }) => name),
    description: WHO[access],
    'x-access': access,
    ...(isOpen ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: requestContent(body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: {
        description: 'An error.',
        content: { 'application/problem+json': { schema: ref('ProblemDetails'), example: PROBLEM_EXAMPLE } },
      },
    },
  };
}

function requestContent(body: NonNullable<Route['body']>): JsonObject {
  return body.type === 'json' ? { 'application/json': { schema: body.schema } } : { '*/*': {} };
}

function responseOf({ description, contentType = 'application/json', schema }: Route['answers'][number]): JsonObject {
  if (schema === undefined && contentType === 'application/json') return { description };
  return {
    description,
    content: { [contentType]: schema === undefined ? { schema: { type: 'string' } } : { schema } },
  };
}
