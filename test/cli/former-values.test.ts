import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { PortRow } from '../../src/sandbox/state.ts';
import { loseAnswer, PORTS, type Scene, SETTLED_MS, setScene, shop, web } from './scene.ts';

const RESTORE = 'annotations: { portolan/on-removal: restore }';
const CHANGED = 'ports:\n  - { port: 8080, protocol: http, outer: true, alias: FRONT }';

const withoutEntry = shop(web('ports: []', RESTORE));
const withoutComponent = shop();

async function given(spec: string): Promise<{ readonly scene: Scene; readonly former: object | undefined }> {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(spec, RESTORE)) } });
  return { scene, former: scene.port(demo.webServiceId, 8080) };
}

/** Prunes while the write is in doubt, and again afterwards. */
async function pruned(scene: Scene): Promise<void> {
  await scene.run('apply', ['--prune']);
  scene.clock.push(SETTLED_MS);
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
}

test.for([
  ['was sent, and its entry', 0, withoutEntry],
  ['was sent, and its component', 0, withoutComponent],
  ['was done, the next one sent, and its entry', 1, withoutEntry],
  ['was done, the next one sent, and its component', 1, withoutComponent],
] as const)(
  'a port whose first change %s was removed from git before it was seen, gets its former values back',
  async ([, skip, manifest]) => {
    const { scene, former } = await given(CHANGED);
    loseAnswer(scene, 'updatePort', skip);
    expect((await scene.run('apply')).out).toContain('1 in doubt');
    expect(scene.port(demo.webServiceId, 8080)).not.toEqual(former);
    scene.write('a.yaml', manifest);
    await pruned(scene);
    expect(scene.port(demo.webServiceId, 8080)).toEqual(former);
  },
);

test('a field that a manifest no longer manages keeps its value, though a request once changed it', async () => {
  const { scene, former } = await given(CHANGED);
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web('ports:\n  - { port: 8080, protocol: http, outer: true }', RESTORE)));
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', withoutEntry);
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.port(demo.webServiceId, 8080)).toEqual({ ...former, alias: 'FRONT' });
});

test.for([
  ['alone', 'serviceName: front\nports: []'],
  ['with an alias', 'serviceName: front\nports:\n  - { port: 8080, protocol: http, alias: FRONT }'],
])('a component whose service name was set %s gets its former one back', async ([, spec = '']) => {
  const { scene, former } = await given(spec);
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.port(demo.webServiceId, 8080)?.serviceName).toBe('front');
  scene.write('a.yaml', withoutComponent);
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.port(demo.webServiceId, 8080)).toEqual(former);
});

test('a service name whose request had no answer is given back, though its component is removed meanwhile', async () => {
  const { scene, former } = await given('serviceName: front\nports:\n  - { port: 8080, protocol: http, alias: FRONT }');
  loseAnswer(scene, 'updatePort');
  await scene.run('apply');
  scene.write('a.yaml', withoutComponent);
  await pruned(scene);
  expect(scene.port(demo.webServiceId, 8080)).toEqual(former);
});

/** The component has no port when Portolan first reads it, and has its ports and the added ones when its service is named. */
async function namedLater(spec: string, added: readonly Partial<PortRow>[] = []): Promise<Scene> {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(spec, RESTORE)) } });
  const { ports } = scene.sandbox.state;
  const rows = ports.in('component', demo.webServiceId);
  for (const { port } of rows) ports.delete(`${demo.webServiceId}/${port}`);
  expect((await scene.run('apply')).code).toBe(0);
  for (const row of rows) for (const changes of [{}, ...added]) ports.put({ ...row, ...changes });
  scene.write('a.yaml', shop(web('serviceName: front\nports: []', RESTORE)));
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.port(demo.webServiceId, 8080)?.serviceName).toBe('front');
  return scene;
}

test.for([['ports: []'], ['serviceName: front\nports: []']])(
  'a component without ports at its first reading gets the service name back that it had later: %j',
  async ([spec = '']) => {
    const { former } = await given(spec);
    const scene = await namedLater(spec);
    scene.write('a.yaml', withoutComponent);
    expect((await scene.run('apply', ['--prune'])).code).toBe(0);
    expect(scene.port(demo.webServiceId, 8080)).toEqual(former);
  },
);

test('a component whose ports had different service names before Portolan set one keeps that one', async () => {
  const scene = await namedLater('ports: []', [{ port: 8081, alias: 'OTHER', serviceName: 'other' }]);
  scene.write('a.yaml', withoutComponent);
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.port(demo.webServiceId, 8080)?.serviceName).toBe('front');
});

test('a reading without ports does not end what is owed while the answer of a naming request is lost', async () => {
  const { scene, former } = await given('serviceName: front\nports: []');
  loseAnswer(scene, 'updatePort');
  expect((await scene.run('apply')).out).toContain('1 in doubt');
  const { ports } = scene.sandbox.state;
  const rows = ports.in('component', demo.webServiceId);
  for (const { port } of rows) ports.delete(`${demo.webServiceId}/${port}`);
  await scene.run('apply');
  for (const row of rows) ports.put(row);
  scene.write('a.yaml', withoutComponent);
  await pruned(scene);
  expect(scene.port(demo.webServiceId, 8080)).toEqual(former);
});

test('a port that somebody deleted, and that Portolan adds again, stays when it is removed from git', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  expect((await scene.run('apply')).code).toBe(0);
  for (const port of [8080, 9000]) scene.sandbox.state.ports.delete(`${demo.webServiceId}/${port}`);
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web('ports: []')));
  expect((await scene.run('apply', ['--prune'])).out).toContain('delete unlisted port 9000');
  expect(scene.port(demo.webServiceId, 8080)).toBeDefined();
  expect(scene.port(demo.webServiceId, 9000)).toBeUndefined();
});

test('a former alias that another port has now is held, with what to do', async () => {
  const { scene } = await given(CHANGED);
  const former = scene.port(demo.webServiceId, 8080)?.alias ?? '';
  await scene.run('apply');
  const port = scene.port(demo.webServiceId, 8080) ?? expect.fail('there is no port 8080');
  scene.sandbox.state.ports.put({ ...port, port: 7000, alias: former, outer: false });
  scene.write('a.yaml', withoutEntry);
  const held = await scene.run('apply', ['--prune']);
  expect(held.code).toBe(4);
  expect(held.out).toContain('port 8080 was removed from its manifest and cannot get its former values back');
  expect(held.out).toContain('Set them in the console. The port is then removed from the ledger.');
});
