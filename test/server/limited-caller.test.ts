import { expect, onTestFinished, test } from 'vitest';
import type { ControllerApi } from '../../src/controller/api.ts';
import type { PlanDocument } from '../../src/model/plan-document.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { routes } from '../../src/server/routes/table.ts';
import { DaemonWorld } from '../controller/daemon.ts';
import { type Serving, startServing } from './serving.ts';

const OF_SHOP = '1'.repeat(32);
const OF_OTHER = '2'.repeat(32);
const ID_OF_OTHER_TEAM = 'c'.repeat(32);
const TOKEN = 'limited-limited-limited-1';
const BY_ID = 'by-id-by-id-by-id-by-id-1';

const application = (id: number, team: string, region: string, service: string) => ({
  id,
  team,
  region,
  name: `${team}-app-${id}`,
  components: [{ id: service, name: `${team}-web`, ports: [{ port: 80, alias: `PORT${id}`, inner: true }] }],
});

/** Everything of the other team has a name with "canary" in it. */
const seed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [
    { id: '1'.repeat(32), name: 'region-1' },
    { id: '2'.repeat(32), name: 'canary-region' },
  ],
  teams: [
    { id: 'a'.repeat(32), name: 'team-a' },
    { id: ID_OF_OTHER_TEAM, name: 'canary-team' },
  ],
  applications: [
    application(1, 'team-a', 'region-1', OF_SHOP),
    application(2, 'canary-team', 'canary-region', OF_OTHER),
    application(3, 'canary-team', 'canary-region', '3'.repeat(32)),
  ],
};

const document = (kind: string, name: string, spec: string): string =>
  `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

const port = '{ port: 80, protocol: http, alias: ALIAS, inner: true, outer: true }';

/** An application with a component, and a rule to a domain that both teams want. */
const files = (name: string, team: string, region: string, id: number, service: string, domain: string): string =>
  [
    document('Application', name, `{ team: ${team}, region: ${region}, appId: ${id} }`),
    document(
      'Component',
      `${name}-web`,
      `{ application: ${name}, serviceId: "${service}", ports: [${port.replace('ALIAS', `A${id}`)}], unlistedPorts: keep }`,
    ),
    document(
      'HttpGatewayRule',
      `${name}-rule`,
      `{ application: ${name}, component: ${name}-web, port: 80, domain: ${domain} }`,
    ),
  ].join('---\n');

const SHOP = { 'shop.yaml': files('shop', 'team-a', 'region-1', 1, OF_SHOP, 'shared.example.com') };
const OTHER = { 'canary.yaml': files('canary-app', 'canary-team', 'canary-region', 2, OF_OTHER, 'shared.example.com') };
const GONE = {
  'canary-gone.yaml': files(
    'canary-gone',
    'canary-team',
    'canary-region',
    3,
    '3'.repeat(32),
    'canary-gone.example.com',
  ),
};
const GHOST = {
  'canary-ghost.yaml': document(
    'Application',
    'canary-ghost',
    '{ team: canary-team, region: canary-region, appId: 99 }',
  ),
};

interface Scene {
  readonly world: DaemonWorld;
  readonly at: Serving<ControllerApi>;
  /** Sends a request as the limited caller, or as another one. */
  ask(path: string, body?: object, token?: string): ReturnType<Serving['ask']>;
}

async function scene(role: 'operator' | 'admin' = 'operator', allowed = '*/*/*'): Promise<Scene> {
  const world = new DaemonWorld(
    `{ scopes: { allow: [ "${allowed}", canary-team/*/* ] }, controller: { resyncInterval: 1h }, prune: { maxShare: 1 } }`,
    seed,
  );
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit({ ...OTHER, ...GONE });
  await world.until(() => world.ready('Application/canary-gone') === 'True InSync', 'the other team is in sync');
  await world.commit({ ...SHOP, ...OTHER, ...GHOST });
  const isTried = (): boolean =>
    ['Application/shop', 'Application/canary-ghost'].every(
      (id) => world.application(id as 'Application/shop').lastAttemptMs !== null,
    );
  await world.until(isTried, 'all were tried');
  const at = await startServing({ api: world.controller.api, secrets: { limited: TOKEN, id: BY_ID } });
  onTestFinished(() => at.close());
  const tokens = [
    { name: 'limited', value: { env: 'limited' } },
    { name: 'by-id', value: { env: 'id' } },
  ];
  at.reload({
    ...at.settings,
    tokens: [...at.settings.tokens, ...tokens],
    roles: [
      { role, tokens: ['limited'], users: [], groups: [], applications: ['default/team-a/*/*'] },
      { role, tokens: ['by-id'], users: [], groups: [], applications: [`default/${ID_OF_OTHER_TEAM}/*/*`] },
    ],
  });
  return {
    world,
    at,
    ask: (path, body, token = TOKEN) =>
      at.ask(path, {
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      }),
  };
}

const planned = async ({ ask }: Scene, content: string, token?: string): Promise<PlanDocument> =>
  (await ask('/api/v1/plan', { files: [{ path: 'a.yaml', content }] }, token)).body as PlanDocument;

test('no answer shows a limited caller anything of another team, whatever is wrong there', async () => {
  const at = await scene();
  await at.world.commit({ ...SHOP, ...OTHER, 'canary-broken.yaml': 'kind: Canary\n' });
  await at.world.until(() => at.world.controller.api.status().source.error !== null, 'the source is rejected');
  const { body } = await at.ask('/api/v1/status');
  expect(body).toMatchObject({
    source: { error: { message: '1 fault outside your scope.' } },
    orphans: 0,
    counts: { applications: 1 },
    outside: { faults: 1 },
  });
  const reads = routes.filter(
    ({ method, access, operationId }) =>
      method === 'GET' && ['viewer', 'operate', 'caller'].includes(access) && operationId !== 'streamEvents',
  );
  for (const { path } of reads)
    for (const name of path.includes('{name}') ? ['shop', 'canary-app', 'canary-ghost'] : ['-']) {
      const filled = path
        .replace('{name}', name)
        .replace('{kind}/{resource}', `Component/${name}-web`)
        .replace('{sha}', '0'.repeat(39) + '2');
      const { text, status } = await at.ask(filled);
      if (name === 'shop' || name === '-')
        expect(text.replaceAll(/main@sha1:\w+/g, ''), filled).not.toMatch(/canary|"PORT2|2222222/i);
      else expect(status, filled).toBe(404);
    }
  expect((await at.ask('/api/v1/applications')).body).toMatchObject({ total: 1, items: [{ id: 'Application/shop' }] });
});

test('the history of a limited caller has all rows of the own applications, page by page, and no others', async () => {
  const at = await scene();
  // Rows of both teams in turn.
  for (let time = 0; time < 3; time += 1)
    for (const id of ['Application/shop', 'Application/canary-app', 'Application/canary-ghost'] as const) {
      await at.world.controller.api.suspend(id, 'a test', 'a test');
      await at.world.controller.api.resume(id, 'a test');
    }
  const all = (await at.at.ask('/api/v1/history?limit=1000', { role: 'admin' })).body as { items: { scope: string }[] };
  const own = all.items.filter(({ scope }) => scope.startsWith('default/team-a/'));
  expect(own.length).toBeGreaterThan(3);
  const found: unknown[] = [];
  let cursor = '';
  for (;;) {
    const page = (await at.ask(`/api/v1/history?limit=2${cursor}`)).body as {
      items: unknown[];
      nextCursor: string | null;
    };
    found.push(...page.items);
    if (page.nextCursor === null) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  expect(found).toEqual(own);
  // Without an application, a resource is looked for in the own ones only.
  const rowsOf = async (resource: string, ask = at.ask): Promise<readonly { scope: string }[]> =>
    ((await ask(`/api/v1/history?limit=100&resource=${resource}`)).body as { items: { scope: string }[] }).items;
  const ofShop = await rowsOf('HttpGatewayRule/shop-rule');
  expect(new Set(ofShop.map(({ scope }) => scope))).toEqual(new Set(['default/team-a/region-1/1']));
  const asAdmin: typeof at.ask = (path) => at.at.ask(path, { role: 'admin' });
  expect((await rowsOf('HttpGatewayRule/canary-app-rule', asAdmin)).length).toBeGreaterThan(0);
  const [foreign, none] = await Promise.all(
    ['canary-app-rule', 'none'].map((name) => at.ask(`/api/v1/history?resource=HttpGatewayRule/${name}`)),
  );
  expect(none?.status).toBe(404);
  expect(foreign, 'as if there were none').toMatchObject({
    status: 404,
    text: none?.text.replaceAll('HttpGatewayRule/none', 'HttpGatewayRule/canary-app-rule'),
  });
});

test('a sync of everything syncs the own applications only', async () => {
  const at = await scene();
  expect((await at.ask('/api/v1/sync', {})).body).toEqual({ syncing: ['Application/shop'] });
  const all = (await at.at.ask('/api/v1/sync', { method: 'POST', role: 'operate' })).body;
  expect(all).toEqual({ syncing: ['Application/canary-app', 'Application/canary-ghost', 'Application/shop'] });
});

test('a plan of sent manifests reads and shows only applications that the caller may see', async () => {
  const at = await scene();
  const own = await planned(at, SHOP['shop.yaml']);
  expect(own.scopes.map(({ scope }) => scope)).toEqual([
    { platform: 'default', team: 'team-a', region: 'region-1', appId: 1 },
  ]);
  expect(own.notes).toEqual([]);

  const [known, unknown] = await Promise.all(
    [3, 98].map((id) =>
      planned(at, document('Application', 'canary-app', `{ team: canary-team, region: canary-region, appId: ${id} }`)),
    ),
  );
  expect(known).toEqual(unknown);
  expect(known).toMatchObject({ scopes: [], unobserved: [{ code: 'controller/outside-scope' }], notes: [] });
  expect(at.world.requests.filter(({ path }) => path.endsWith('/apps/98'))).toEqual([]);
});

test('a plan that Settings do not allow does not show what they allow', async () => {
  const at = await scene('operator', 'team-a/*/1');
  for (const id of [96, 1]) {
    const plan = await planned(at, document('Application', 'shop', `{ team: team-a, region: region-1, appId: ${id} }`));
    expect(JSON.stringify(plan)).not.toContain('canary');
  }
  const { unobserved } = await planned(
    at,
    document('Application', 'shop', '{ team: team-a, region: region-1, appId: 96 }'),
  );
  expect(unobserved).toMatchObject([{ code: 'guard/scope' }]);
});

test('a manifest gains nothing by another word for a team: the resolved name counts', async () => {
  const at = await scene();
  const byId = document('Application', 'mine', `{ team: ${ID_OF_OTHER_TEAM}, region: canary-region, appId: 3 }`);
  expect(await planned(at, byId, BY_ID)).toMatchObject({
    scopes: [],
    unobserved: [{ code: 'controller/outside-scope' }],
  });
  // In the source neither.
  await at.world.commit({ ...SHOP, 'mine.yaml': byId });
  await at.world.until(() => at.world.application('Application/mine').scope !== null, 'it is resolved');
  expect((await at.ask('/api/v1/applications', undefined, BY_ID)).body).toMatchObject({ items: [] });
  expect((await at.ask('/api/v1/applications/mine', undefined, BY_ID)).status).toBe(404);
});

test('a limited admin decides about the own applications only, and never about a platform', async () => {
  const at = await scene('admin');
  const orphan = '/api/v1/orphans/default/canary-team/canary-region';
  const [real, none] = await Promise.all([3, 98].map((id) => at.ask(`${orphan}/${id}/forget`, { reason: 'x' })));
  expect(real?.text.replaceAll('region/3', 'region/98')).toBe(none?.text);
  expect(real?.status).toBe(404);
  expect((await at.ask('/api/v1/platforms/default/rebind', { reason: 'x' })).status).toBe(403);
  expect((await at.ask('/api/v1/platform')).status).toBe(403);
  expect((await at.ask('/metrics')).status).toBe(403);
  expect(
    (await at.ask('/api/v1/applications/canary-app/resources/Component/canary-app-web/forget', { reason: 'x' })).status,
  ).toBe(404);
  expect((await at.ask('/api/v1/applications/shop/resources/Component/shop-web/retry', {})).status).toBe(200);
});

test('a binding that was removed by a reload ends streams, and applies to requests under way', async () => {
  const at = await scene();
  const stream = await fetch(`${at.at.url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(stream.status).toBe(200);
  const ended = stream.text();
  const held = Promise.withResolvers<undefined>();
  at.world.answer = () => held.promise;
  const manifest = document('Application', 'new', '{ team: team-a, region: region-1, appId: 97 }');
  const plan = at.ask('/api/v1/plan', { files: [{ path: 'a.yaml', content: manifest }] });
  await at.world.until(() => at.world.requests.some(({ path }) => path.endsWith('/apps/97')), 'the plan reads');
  at.at.reload({
    ...at.at.settings,
    tokens: [...at.at.settings.tokens, { name: 'limited', value: { env: 'limited' } }],
  });
  held.resolve(undefined);
  expect((await plan).status).toBe(403);
  expect(await ended).not.toContain('canary');
  expect((await at.ask('/api/v1/applications/shop')).status).toBe(403);
  expect((await at.ask('/api/v1/whoami')).body).toMatchObject({ name: 'limited', roles: [], permissions: [] });
});
