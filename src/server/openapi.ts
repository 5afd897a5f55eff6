import type { JsonObject } from '../model/json.ts';
import type { Route } from './route.ts';
import { ref } from '../model/schema-words.ts';
import { schemas } from './schemas.ts';

/** The API as an OpenAPI 3.1 document, of the same schemas that check requests. */
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
      description: 'What the controller sees and does. Errors are problem details (RFC 9457) with a code and a remedy.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: { ...schemas },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const WHO: Readonly<Record<Route['access'], string>> = {
  anyone: 'No token is needed.',
  signature: 'No token is needed: the body is signed.',
  metrics: 'Role: viewer, or nobody where spec.server.metrics.public of Settings says so.',
  viewer: 'Role: viewer.',
  operator: 'Role: operator.',
  admin: 'Role: admin.',
};

function operationOf(route: Route): JsonObject {
  const { operationId, summary, access, query = {}, body } = route;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
  const parameters: readonly JsonObject[] = [...inPath, ...inQuery];
  const isOpen = access === 'anyone' || access === 'signature';
  return {
    operationId,
    summary,
    description: WHO[access],
    'x-access': access,
    ...(isOpen ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: requestContent(body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: {
        description: 'An error.',
        content: { 'application/problem+json': { schema: ref('ProblemDetails') } },
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
