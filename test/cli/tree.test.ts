import { expect, test } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import type { TreeNode } from '../../src/views/tree.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import { collectingTerminal, type Run, runHere } from './running.ts';
import { install, PORTS, rule, type Scene, type SceneSettings, setScene, shop, web } from './scene.ts';

const DATABASE = `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-db }
spec: { application: shop, from: { install: db, component: mysql }, ports: [{ port: 3306, inner: true }] }
`;

/** One application with one of everything: moved, held, suspended, not in the manifests, to come. */
async function busyShop(settings: SceneSettings = {}): Promise<Scene> {
  const documents = [web(PORTS), rule('www', 'www.example.com', 'weight: 50'), install('db'), DATABASE];
  const scene = await setScene({
    sandbox: { random: seededRandom(7) },
    manifests: { 'a.yaml': shop(...documents) },
    ...settings,
  });
  expect((await scene.run('apply')).code).toBe(0);
  // Somebody else's rule, and a port and an alias by hand.
  const other = ['--ledger', `${scene.folder}/other.db`, '--source', 'other', '--adopt'];
  scene.write('a.yaml', shop(web(''), rule('old', 'old.example.com'), rule('api', 'api.example.com')));
  await scene.run('apply', other);
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  const api = `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-api, annotations: { portolan/reconcile: suspend } }
spec: { application: shop, serviceId: ${demo.apiServiceId}, ports: [{ port: 8000, inner: true }] }
`;
  const spec = `${PORTS}\n  - { port: 9100, protocol: http, alias: METRICS, inner: true }`;
  scene.write('a.yaml', shop(...documents.with(0, web(spec)), rule('old', 'old.example.com'), api));
  return scene;
}

async function tree(
  scene: Scene,
  args: readonly string[] = [],
  window: Parameters<typeof collectingTerminal>[0] = {},
  command = 'tree',
): Promise<Run> {
  const { terminal, text } = collectingTerminal(window);
  const { env, clock } = scene;
  const around = { terminal, env, clock };
  const { code } = await runHere([command, ...scene.options, '--ledger', scene.ledgerFile, ...args], around);
  return { code, ...text };
}

test('a tree of what there is, how it stands, and what no manifest names', async () => {
  const scene = await busyShop();
  const { code, out, err } = await tree(scene);
  expect(err).toBe('');
  expect(code).toBe(4);
  await expect(out).toMatchFileSnapshot('golden/tree.txt');
});

test.for([
  ['tree', 48, false],
  ['tree', 80, false],
  ['tree', 120, false],
  ['tree', 120, true],
  ['status', 40, false],
  ['status', 80, false],
  ['status', 120, false],
  ['status', 120, true],
] as const)('%s in %i columns, with colour: %s', async ([command, columns, color]) => {
  const scene = await busyShop();
  const { out } = await tree(scene, [], { isTerminal: true, columns, color }, command);
  const bare = out.replace(/\u001b\[\d+m/g, '');
  expect(bare === out).toBe(!color);
  expect(bare).toMatch(/\b1 application\b/);
  expect(bare.split('\n').filter((line) => displayWidth(line) > columns)).toEqual([]);
  // Ports of sandboxes differ, and have five digits each.
  const same = out.replaceAll(/127\.0\.0\.1:\d{5}/g, '127.0.0.1:54321');
  await expect(same).toMatchFileSnapshot(`golden/${command}-${columns}${color ? '-colour' : ''}.txt`);
});

test('nothing but ASCII where that is wanted', async () => {
  const scene = await busyShop();
  for (const [args, window] of [
    [['--ascii'], {}],
    [['--ascii'], { isTerminal: true, columns: 70 }],
  ] as const) {
    const { out } = await tree(scene, args, window);
    expect(out).toMatch(/^[\u0020-\u007e\n]+$/);
    expect(out).toContain('|- ');
    expect(out).toContain('`- ');
  }
});

test('json is the same tree', async () => {
  const scene = await busyShop();
  const { out } = await tree(scene, ['-o', 'json', 'Application/shop']);
  const { applications } = JSON.parse(out) as { applications: TreeNode[] };
  const states = new Map<string, string>();
  const walk = ({ name, state, children }: TreeNode): void => {
    states.set(name, state);
    children.forEach(walk);
  };
  applications.forEach(walk);
  expect(Object.fromEntries(states)).toMatchObject({
    'Application/shop': 'held',
    'StoreInstall/db': 'in-sync',
    'Component/shop-db': 'in-sync',
    'Component/shop-web': 'drifted',
    'port 8080': 'drifted',
    'port 9100': 'to-change',
    'HttpGatewayRule/old': 'not-ours',
    'HttpGatewayRule/www': 'in-sync',
    'rule api.example.com/': 'not-in-manifests',
    'Component/shop-api': 'suspended',
    'component shop-worker': 'not-in-manifests',
  });
});

test('what git no longer names and we made is told from what others made', async () => {
  const scene = await busyShop();
  scene.write('a.yaml', shop(web(PORTS)));
  const { out } = await tree(scene);
  expect(out).toMatch(/rule www\.example\.com\/ +removed from git/);
  expect(out).toMatch(/rule old\.example\.com\/ +not in the manifests/);
});

test('a server that lists nothing shows what the manifests name, and says what is not shown', async () => {
  const scene = await setScene({
    dialect: 'documented',
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50')) },
  });
  await scene.run('apply');
  const { code, out } = await tree(scene);
  expect(code).toBe(0);
  expect(out).toMatch(/Component\/shop-web +\w+ +in sync/);
  expect(out).toMatch(/HttpGatewayRule\/www +www\.example\.com\/ +in sync/);
  expect(out).toContain('not shown: components that no manifest names: this server does not list them');
  expect(out).toContain('not shown: rules that no manifest names: this server does not list them');
});

test('an application that cannot be read is not compared, and hides no other', async () => {
  const scene = await setScene();
  await scene.run('apply');
  const fault = { type: 'status', when: 'before', status: 403, body: { msg: 'no' } } as const;
  scene.sandbox.setFaults(['**/apps/43', '**/apps/43/**'].map((path) => ({ path, fault })));
  const { code, out } = await tree(scene);
  expect(code).toBe(5);
  expect(out).toMatch(/Application\/blog +not compared +GET .*HTTP 403/);
  expect(out).toMatch(/Component\/shop-web .* in sync/);
  expect(out).toContain('→ Application/blog: Give the token');
});

test('one application, by its name or its id; another name is told the one that was meant', async () => {
  const scene = await setScene();
  for (const name of ['shop', 'Application/shop']) {
    const { out } = await tree(scene, [name]);
    expect(out).toContain('Application/shop');
    expect(out).not.toContain('Application/blog');
  }
  const { code, err } = await tree(scene, ['shpo']);
  expect(code).toBe(3);
  expect(err).toContain('Did you mean shop?');
});

test('nothing is written, neither to the platform nor to the ledger', async () => {
  const scene = await busyShop();
  const before = (await scene.portolan(['ledger', 'export'])).out;
  scene.traffic();
  await tree(scene);
  expect(scene.traffic().writes).toEqual([]);
  expect((await scene.portolan(['ledger', 'export'])).out).toBe(before);
});
