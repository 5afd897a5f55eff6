import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { collectingTerminal, runHere } from './running.ts';
import { install, PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

/** The shop as somebody else has made it: ports, a rule and an install that no ledger of ours knows. */
async function foreignShop(dialect: 'documented' | 'extended', metadata = ''): Promise<Scene> {
  const documents = [web(PORTS), rule('www', 'www.example.com', 'weight: 40', metadata)];
  if (dialect === 'extended') documents.push(install('db'));
  const scene = await setScene({ dialect, manifests: { 'a.yaml': shop(...documents) } });
  expect((await scene.run('apply', ['--ledger', join(scene.folder, 'theirs.db')])).code).toBe(0);
  scene.traffic();
  return scene;
}

function adopting(scene: Scene, ...args: readonly string[]) {
  return scene.portolan(['adopt', ...scene.options, ...args]);
}

test('an application is taken over in one go: nothing is sent, and the plan that follows is empty', async () => {
  const scene = await foreignShop('extended');
  expect((await scene.run('plan')).code).toBe(4);
  const adopted = await adopting(scene, 'Application/shop', '--yes');
  expect(adopted.out).toContain('StoreInstall/db  adopted as it is');
  expect(adopted.out).toContain('HttpGatewayRule/www  adopted as it is (');
  expect(adopted.out).toContain('Component/shop-web  recorded as it is, with ports 8080, 9000');
  expect(adopted.out).toContain('5 objects recorded. Nothing was sent to the platform.');
  expect(adopted.code).toBe(0);
  const plan = await scene.run('plan');
  expect(plan.out).toContain('No changes. 3 resources in sync');
  expect(plan.code).toBe(0);
  expect((await adopting(scene, '--yes')).out).toContain('Everything is already recorded.');
  expect(scene.traffic().writes).toEqual([]);
  const history = await scene.portolan(['ledger', 'history']);
  expect(history.out).toContain('portolan adopt by somebody on a test');
});

test('what was exported can be adopted as it comes', async () => {
  const scene = await foreignShop('extended');
  const { env, clock } = scene;
  const config = ['--config', join(scene.folder, 'portolan.yaml')];
  const app = `${demo.team}/${demo.region}/${demo.appId}`;
  const exported = await runHere(['export', '--app', app, ...config], { env, clock });
  expect(exported.code).toBe(0);
  const { terminal, text } = collectingTerminal({ input: exported.out });
  const around = { env, clock, terminal };
  await runHere(['adopt', '-f', '-', '--yes', '--ledger', scene.ledgerFile, ...config], around);
  expect(text.out).toContain('recorded. Nothing was sent to the platform.');
  expect(scene.traffic().writes).toEqual([]);
});

test('two installs of different models are adopted, though nobody can tell whose components are whose', async () => {
  const scene = await foreignShop('extended');
  const redis = `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: cache }
spec: { application: shop, store: main, model: { id: "${demo.redisModelId}", version: "7.4.0" } }
`;
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 40'), install('db'), redis));
  expect((await scene.run('apply', ['--ledger', join(scene.folder, 'theirs.db')])).code).toBe(0);
  scene.traffic();
  const without = await scene.run('plan', ['--ledger', 'none']);
  expect(without.out).toContain('without a ledger that counts as StoreInstall/cache');
  expect(without.out).toContain('No changes. 4 resources in sync');
  expect((await adopting(scene, '--yes')).out).toContain('6 objects recorded.');
  expect((await scene.run('plan')).out).toContain('No changes. 4 resources in sync');
  expect(scene.traffic().writes).toEqual([]);
});

test('only what is named is taken over', async () => {
  const scene = await foreignShop('extended');
  expect((await adopting(scene, 'HttpGatewayRule/www', '--yes')).out).toContain('1 object recorded');
  const plan = await scene.run('plan');
  expect(plan.out).toContain('install/not-ours');
  expect(plan.out).not.toContain('rule/not-ours');
  const unknown = await adopting(scene, 'HttpGatewayRule/wwww', '--yes');
  expect(unknown.code).toBe(3);
  expect(unknown.err).toContain('HttpGatewayRule/wwww, which is not among the manifests');
});

for (const dialect of ['extended', 'documented'] as const) {
  test(`${dialect}: an application that differs is shown and left out, and apply is named as the way on`, async () => {
    const scene = await foreignShop(dialect);
    scene.alterPort(demo.webServiceId, 9000, { alias: 'OTHER' });
    const refused = await adopting(scene, '--yes');
    expect(refused.out).toContain('change alias of port 9000 to RPC');
    expect(refused.out).toContain('Not adopted, because of differences from the manifests: Application/shop.');
    expect(refused.out).toContain('portolan apply -f … --adopt');
    expect(refused.code).toBe(4);
    expect(scene.traffic().writes).toEqual([]);
    expect((await scene.portolan(['ledger', 'list', '-o', 'json'])).out).toContain('"objects": []');
  });
}

test('without a terminal it wants --yes; on one it asks, and a no records nothing', async () => {
  const scene = await foreignShop('extended');
  const mute = await adopting(scene);
  expect(mute.code).toBe(3);
  expect(mute.err).toContain('Record 5 objects of 1 application?');
  expect(mute.err).toContain('Pass --yes');
  const { terminal, text } = collectingTerminal({ answers: ['n'] });
  const args = ['adopt', ...scene.options, '--ledger', scene.ledgerFile];
  expect(await runHere(args, { env: scene.env, clock: scene.clock, terminal })).toMatchObject({ code: 0 });
  expect(text.out).toContain('Nothing was recorded.');
  expect((await scene.run('plan')).code).toBe(4);
});

test('a dry run makes no ledger; none at all is refused', async () => {
  const scene = await foreignShop('extended');
  const dry = await adopting(scene, '--dry-run');
  expect(dry.out).toContain('5 objects can be recorded. Nothing was recorded.');
  expect(existsSync(scene.ledgerFile)).toBe(false);
  const json = JSON.parse((await adopting(scene, '--dry-run', '-o', 'json')).out) as { recorded: boolean };
  expect(json).toMatchObject({ recorded: false, objects: { length: 5 }, left: [] });
  const none = await runHere(['adopt', ...scene.options, '--ledger', 'none'], { env: scene.env, clock: scene.clock });
  expect(none.code).toBe(3);
});

test.for([
  ['left as it is', '', [], 90],
  ['given back what it had', 'annotations: { portolan/on-removal: restore }', ['updateRule'], 40],
] as const)('what was adopted and is removed from git is %s', async ([, metadata, writes, weight]) => {
  const scene = await foreignShop('extended', metadata);
  expect((await adopting(scene, '--yes')).code).toBe(0);
  const hidden = 'extensions: []\n';
  scene.write(
    'a.yaml',
    shop(web(PORTS), rule('www', 'www.example.com', `weight: 90\n${hidden}`, metadata), install('db')),
  );
  expect((await scene.run('apply')).code).toBe(0);
  scene.traffic();
  scene.write('a.yaml', shop(web(PORTS), install('db')));
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.traffic().writes).toEqual(writes);
  const row = [...scene.sandbox.state.rules.all()].find(({ domain }) => domain === 'www.example.com');
  expect(row?.weight).toBe(weight);
});

test('a platform that cannot be reached ends it with 5, and nothing is recorded', async () => {
  const scene = await foreignShop('extended');
  await scene.sandbox.close();
  const run = await adopting(scene, '--yes');
  expect(run.code).toBe(5);
  expect(run.out).toContain('Nothing was recorded.');
});
