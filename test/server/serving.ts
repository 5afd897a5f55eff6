import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect, onTestFinished } from 'vitest';
import type { ServerSettings } from '../../src/configuration/settings/server-spec.ts';
import { ROLES } from '../../src/configuration/settings/roles-spec.ts';
import type { ControllerApi } from '../../src/controller/api.ts';
import type { Replicas } from '../../src/controller/replicas/group.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { Secret } from '../../src/model/secret.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { Log } from '../../src/runtime/log.ts';
import type { ServerLimits } from '../../src/server/limits.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import type { Route } from '../../src/server/route.ts';
import { routes } from '../../src/server/routes/table.ts';
import { type RunningServer, startServer } from '../../src/server/start.ts';
import { createTraffic } from '../../src/server/traffic.ts';
import { HandMadeController } from './controller.ts';

export const TOKENS = {
  viewer: 'viewer-viewer-viewer-1',
  operate: 'operate-operate-operate-1',
  approve: 'approve-approve-approve-1',
  operator: 'operator-operator-oper-1',
  admin: 'admin-admin-admin-admin-1',
} as const;

export const WEBHOOK_SECRET = 'webhook-webhook-webhook';

export const documentId = 'https://portolan.test/openapi';

export interface Serving<Api = HandMadeController> extends RunningServer {
  readonly api: Api;
  readonly settings: ServerSettings;
  /** Secrets by the variable that names them; a change counts at once. */
  readonly secrets: Map<string, string>;
  readonly said: string[];
  /** Sends a request with the token of a role; every answer is held against the document. */
  ask(path: string, init?: RequestInit & { readonly role?: keyof typeof TOKENS | null }): Promise<Answered>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
}

export interface ServingOptions<Api = HandMadeController> {
  readonly api?: Api;
  readonly settings?: Partial<ServerSettings>;
  readonly limits?: Partial<ServerLimits>;
  readonly clock?: Clock;
  /** Further secrets by the variable that names them. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly dashboardFolder?: string;
  /** The processes that share the ledger. */
  readonly replicas?: Pick<Replicas, 'shared' | 'leaseMs'>;
}

/** As `startServing`; closed at the end of the test. */
export async function serve(options: ServingOptions = {}): Promise<Serving> {
  const serving = await startServing(options);
  onTestFinished(() => serving.close());
  return serving;
}

/** A server on a free port, with a token for each role and a webhook of each type. */
export async function startServing<Api extends ControllerApi = HandMadeController>(
  options: ServingOptions<Api> = {},
): Promise<Serving<Api>> {
  const api = options.api ?? (new HandMadeController() as ControllerApi as Api);
  const secrets = new Map<string, string>([
    ...Object.entries(TOKENS),
    ['hook', WEBHOOK_SECRET],
    ...Object.entries(options.secrets ?? {}),
  ]);
  const settings: ServerSettings = {
    ...defaultSettings().server,
    listen: '127.0.0.1:0',
    tokens: ROLES.map((role) => ({ name: role, role, value: { env: role } })),
    webhooks: (['github', 'gitlab', 'gitea', 'generic'] as const).map((type) => ({
      name: `my-${type}`,
      type,
      secret: { env: 'hook' },
    })),
    ...options.settings,
  };
  const said: string[] = [];
  const server = await startServer({
    api,
    settings,
    openSecret: (reference) => () => new Secret(secrets.get(Object.values(reference)[0] ?? '') ?? '', 'a test'),
    log: collecting(said),
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
    traffic: createTraffic(options.clock ?? systemClock),
    processFacts: () => ({ version: '0.1.0', node: '24.0.0', rssBytes: 3, heapBytes: 1, heapLimitBytes: 2 }),
    clock: options.clock ?? systemClock,
    random: systemRandom,
    redact: (text) => text.replaceAll('canary-canary', '[secret]'),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    replicas: options.replicas,
    ...(options.dashboardFolder === undefined ? {} : { dashboardFolder: options.dashboardFolder }),
  });
  return {
    ...server,
    api,
    settings,
    secrets,
    said,
    ask: async (path, { role = 'viewer', ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (role !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${TOKENS[role]}`);
      if (typeof init.body === 'string' && !headers.has('content-type'))
        headers.set('content-type', 'application/json');
      const response = await fetch(server.url + path, { ...init, headers });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '');
      const body: unknown = isJson ? JSON.parse(text) : text;
      expectAsDescribed(init.method ?? 'GET', path, response, body);
      return { status: response.status, headers: response.headers, body, text };
    },
  };
}

export function collecting(said: string[]): Log {
  const say = (level: string) => (message: string, fields?: object) => {
    said.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
const document = openApiDocument(routes);
ajv.addSchema({ $id: documentId, ...document });
const validators = new Map<string, ValidateFunction>();

/** The route that a path is for. */
export function routeOf(method: string, path: string): Route | undefined {
  const [bare = ''] = path.split('?');
  const fits = (route: Route): boolean =>
    new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare);
  return routes.find((route) => route.method === method && fits(route));
}

/** Status, media type and body of an answer are what the document says of its route. */
export function expectAsDescribed(method: string, path: string, response: Response, body: unknown): void {
  const route = routeOf(method, path);
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  if (route === undefined || (route.answers[response.status] === undefined && response.status >= 400)) {
    expect(type, `${method} ${path} ${response.status}`).toBe('application/problem+json');
    expectValid(`${documentId}#/components/schemas/ProblemDetails`, body, path);
    return;
  }
  const described = route.answers[response.status];
  expect(described, `${method} ${path} answered ${response.status}, which the document has not`).toBeDefined();
  if (described?.schema === undefined) return;
  expect(type).toBe(described.contentType ?? 'application/json');
  const at = route.path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
  const mediaType = type.replaceAll('/', '~1');
  const pointer = `/paths/${at}/${method.toLowerCase()}/responses/${response.status}/content/${mediaType}/schema`;
  expectValid(`${documentId}#${pointer}`, body, path);
}

function expectValid(reference: string, body: unknown, path: string): void {
  const validate = validators.get(reference) ?? ajv.compile({ $ref: reference });
  validators.set(reference, validate);
  const isValid = validate(body);
  expect(isValid ? [] : validate.errors, path).toEqual([]);
}
