import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES, type Role } from '../../src/configuration/settings/roles-spec.ts';
import type { Route } from '../../src/server/route.ts';
import { routes } from '../../src/server/routes/table.ts';
import { isOpenAccess } from '../../src/server/permissions.ts';
import { COMMIT } from './hand-made-fleet.ts';
import { serve, type Serving, startServing, TOKENS } from './serving.ts';

/** A request that its route would carry out. */
async function call(serving: Serving, route: Route, authorization: string | undefined): Promise<number> {
  const stop = new AbortController();
  const path = route.path
    .replace('{name}', route.operationId === 'approvePlan' ? 'blog' : 'shop')
    .replace('{sha}', COMMIT.id);
  const bodies: Record<string, object> = {
    planManifests: { files: [] },
    suspendApplication: { reason: 'x' },
    approvePlan: { digest: 'abcdef0123' },
    rebindPlatform: { reason: 'x' },
    adoptResource: { digest: 'abcdef0123', reason: 'x' },
    pruneOrphans: { digest: 'abcdef0123', reason: 'x' },
    forgetOrphans: { reason: 'x' },
    resolveIntent: { decision: 'applied', reason: 'x' },
    forgetResource: { reason: 'x' },
    identifyResource: { reason: 'x' },
    startSession: { token: TOKENS.admin },
    startOidcSession: { returnTo: '/' },
  };
  const body = bodies[route.operationId];
  const response = await fetch(serving.url + path, {
    method: route.method,
    signal: stop.signal,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  stop.abort(); // A stream would go on.
  return response.status;
}

/** Who may use a route, told by its access alone. */
const ALLOWED: Readonly<Record<Route['access'], readonly Role[]>> = {
  anyone: ROLES,
  signature: [],
  browser: [],
  callback: [],
  metrics: ROLES,
  caller: ROLES,
  viewer: ROLES,
  'viewer-of-all': ROLES,
  operate: ['operate', 'operator', 'admin'],
  approve: ['approve', 'operator', 'admin'],
  admin: ['admin'],
  'admin-of-all': ['admin'],
};

/** Where a token does not help: pages of this origin only, and no provider is configured. */
const REFUSED: Readonly<Partial<Record<Route['access'], number>>> = { browser: 403, callback: 404 };

const bad: readonly (readonly [string, string | undefined])[] = [
  ['no token', undefined],
  ['an empty one', 'Bearer '],
  ['only the word', 'Bearer'],
  ['another scheme', `Basic ${TOKENS.admin}`],
  ['no scheme', TOKENS.admin],
  ['a wrong one', 'Bearer wrong-wrong-wrong-wrong'],
  ['the beginning of a right one', `Bearer ${TOKENS.admin.slice(0, -1)}`],
  ['a right one and more', `Bearer ${TOKENS.admin}x`],
  ['two right ones', `Bearer ${TOKENS.admin} ${TOKENS.admin}`],
];

describe('who may use what', () => {
  let serving: Serving;
  beforeAll(async () => {
    // Webhooks are limited by themselves; here they are only refused.
    serving = await startServing({ settings: { maxStreams: 100 }, limits: { webhookBurst: 1_000 } });
  });
  afterAll(() => serving.close());

  test('the table is whole: nothing but health and webhooks is open', () => {
    const open = routes.filter(({ access }) => isOpenAccess(access)).map(({ path }) => path);
    expect(open).toEqual([
      '/healthz',
      '/readyz',
      '/webhooks/{name}',
      '/api/v1/sign-in',
      '/api/v1/session',
      '/api/v1/session/oidc',
      '/api/v1/session/end',
      '/auth/callback',
    ]);
    const writing = routes.filter(({ method, operationId }) => method === 'POST' && operationId !== 'planManifests');
    expect(writing.filter(({ access }) => access === 'viewer')).toEqual([]);
  });

  test.for(routes)('$method $path', async (route) => {
    serving.reload(serving.settings);
    const isOpen = route.access === 'anyone';
    for (const [what, authorization] of bad) {
      const status = await call(serving, route, authorization);
      expect(status, what).toBe(REFUSED[route.access] ?? (isOpen ? 200 : 401));
    }
    for (const role of ROLES) {
      const status = await call(serving, route, `Bearer ${TOKENS[role]}`);
      if (isOpenAccess(route.access) && !isOpen) expect(status, role).toBe(REFUSED[route.access] ?? 401);
      else if (ALLOWED[route.access].includes(role)) expect([200, 202], role).toContain(status);
      else expect(status, role).toBe(403);
    }
  });

  test.for(routes.filter(({ access }) => !isOpenAccess(access)))(
    '$method $path after a reload: the new token counts, the old one and other roles do not',
    async (route) => {
      const role = ALLOWED[route.access].at(-1) ?? 'admin';
      serving.secrets.set('next', 'next-next-next-next-next');
      serving.reload({ ...serving.settings, tokens: [{ name: 'next', role, value: { env: 'next' } }] });
      expect([200, 202]).toContain(await call(serving, route, 'Bearer next-next-next-next-next'));
      for (const old of ROLES) expect(await call(serving, route, `Bearer ${TOKENS[old]}`)).toBe(401);
      serving.reload({ ...serving.settings, tokens: [] });
      expect(await call(serving, route, 'Bearer next-next-next-next-next')).toBe(401);
    },
  );
});

test('a refusal is the same for every bad token, and tells nothing; many do not fill the log', async () => {
  const { ask, said } = await serve();
  const answers = await Promise.all(
    bad.map(([, authorization = '']) => ask('/api/v1/status', { role: null, headers: { authorization } })),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.headers.get('www-authenticate')).toBe('Bearer');
  expect(answers[0]?.body).toMatchObject({ code: 'server/no-token' });
  expect(said.filter((line) => line.includes('without a valid token')).length).toBe(1);
});

test('what does not exist is told only to those who may look', async () => {
  const { ask } = await serve();
  for (const path of ['/', '/api/v1/nothing', '/api/v2/status', '/webhooks', '/.env']) {
    expect((await ask(path, { role: null })).status, path).toBe(401);
    expect((await ask(path)).body, path).toMatchObject({ status: 404, code: 'server/no-such-route' });
  }
  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    expect((await ask('/api/v1/status', { method, role: null })).status, method).toBe(401);
    expect((await ask('/api/v1/status', { method, role: 'admin' })).status, method).toBe(404);
  }
});

test('a role that is not enough is told which one is', async () => {
  const { ask } = await serve();
  const { body } = await ask('/api/v1/sync', { method: 'POST', role: 'viewer' });
  expect(body).toMatchObject({
    code: 'server/wrong-role',
    detail: expect.stringContaining('needs operate') as string,
  });
});

test('a token whose file was changed counts as it is now, without a reload', async () => {
  const { ask, secrets } = await serve();
  secrets.set('viewer', 'rotated-rotated-rotated');
  expect((await ask('/api/v1/status')).status).toBe(401);
  const headers = { authorization: 'Bearer rotated-rotated-rotated' };
  expect((await ask('/api/v1/status', { headers })).status).toBe(200);
});

test('metrics are public only where the operator says so', async () => {
  const { ask, reload, settings } = await serve();
  expect((await ask('/metrics', { role: null })).status).toBe(401);
  expect(await ask('/metrics')).toMatchObject({ status: 200, text: 'up 1\n' });
  reload({ ...settings, metrics: { public: true } });
  expect((await ask('/metrics', { role: null })).status).toBe(200);
});

test('a reload that cannot be is refused, and leaves all as it was', async () => {
  const { ask, reload, settings, secrets } = await serve();
  secrets.set('short', 'short');
  const tokens = [{ name: 'short', role: 'admin' as const, value: { env: 'short' } }];
  expect(() => reload({ ...settings, tokens })).toThrow(/fewer than 16/);
  const webhooks = [{ name: 'short', type: 'github' as const, secret: { env: 'short' } }];
  expect(() => reload({ ...settings, tokens: [], webhooks })).toThrow(/fewer than 16/);
  expect((await ask('/api/v1/status')).status).toBe(200);
});
