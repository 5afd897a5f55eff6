import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { RuleRow } from '../../src/sandbox/state.ts';
import { loseAnswer, PORTS, rule, type Scene, SETTLED_MS, setScene, shop, web } from './scene.ts';

const RESTORE = 'annotations: { portolan/on-removal: restore }';
const ADDED = '\n  - { port: 9005, protocol: tcp, inner: true }';
const OPEN = 'ports:\n  - { port: 8080, protocol: http, outer: true }';

async function inDoubt(scene: Scene, args: readonly string[] = []): Promise<void> {
  const run = await scene.run('apply', args);
  expect(run.out).toContain('1 in doubt');
}

async function settled(scene: Scene): Promise<void> {
  scene.clock.push(SETTLED_MS);
  expect((await scene.run('apply')).code).toBe(0);
}

const ruleOf = (scene: Scene): RuleRow | undefined =>
  [...scene.sandbox.state.rules.all()].find(({ domain }) => domain === 'www.example.com');

test.for([
  ['nobody looks', 0],
  ['a pass sees it there', 1],
] as const)(
  'a port that Portolan added without an answer is removed with its entry, if %s meanwhile',
  async ([, passes]) => {
    const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
    expect((await scene.run('apply')).code).toBe(0);
    scene.write('a.yaml', shop(web(PORTS + ADDED)));
    loseAnswer(scene, 'addPort');
    await inDoubt(scene);
    for (let pass = 0; pass < passes; pass += 1) expect((await scene.run('apply')).code).toBe(4);
    await settled(scene);
    expect(scene.port(demo.webServiceId, 9005)).toBeDefined();
    scene.write('a.yaml', shop(web(PORTS)));
    expect((await scene.run('apply', ['--prune'])).out).toContain('delete unlisted port 9005');
    expect(scene.port(demo.webServiceId, 9005)).toBeUndefined();
  },
);

test('a port that Portolan added without an answer is removed, though its manifest is removed meanwhile', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web('ports: []')) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(ADDED.replace('\n', 'ports:\n'))));
  loseAnswer(scene, 'addPort');
  await inDoubt(scene);
  scene.write('a.yaml', shop());
  await scene.run('apply', ['--prune']);
  expect(scene.port(demo.webServiceId, 9005)).toBeDefined();
  scene.clock.push(SETTLED_MS);
  await scene.run('apply', ['--prune']);
  expect(scene.port(demo.webServiceId, 9005)).toBeUndefined();
});

test.for([
  ['nobody looks', 0],
  ['a pass sees it changed', 1],
] as const)(
  'a port whose first change had no answer gets its former values back, if %s meanwhile',
  async ([, passes]) => {
    const scene = await setScene({ manifests: { 'a.yaml': shop(web('ports: []', RESTORE)) } });
    expect(scene.port(demo.webServiceId, 8080)?.outer).toBe(false);
    scene.write('a.yaml', shop(web(OPEN, RESTORE)));
    loseAnswer(scene, 'updatePort');
    await inDoubt(scene);
    for (let pass = 0; pass < passes; pass += 1) expect((await scene.run('apply')).code).toBe(4);
    await settled(scene);
    expect(scene.port(demo.webServiceId, 8080)?.outer).toBe(true);
    scene.write('a.yaml', shop(web('ports: []', RESTORE)));
    await scene.run('apply', ['--prune']);
    expect(scene.port(demo.webServiceId, 8080)?.outer).toBe(false);
  },
);

test.for([
  ['nobody looks', []],
  ['a pass sees it changed', ['--adopt']],
] as const)(
  'a rule whose adoption had no answer stays adopted with its former values, if %s meanwhile',
  async ([, args]) => {
    const scene = await setScene({
      manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 40', RESTORE)) },
    });
    expect((await scene.run('apply', ['--ledger', join(scene.folder, 'theirs.db')])).code).toBe(0);
    scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 90', RESTORE)));
    loseAnswer(scene, 'updateRule');
    await inDoubt(scene, ['--adopt']);
    if (args.length > 0) await scene.run('apply', args);
    await settled(scene);
    expect(ruleOf(scene)?.weight).toBe(90);
    scene.write('a.yaml', shop(web(PORTS)));
    await scene.run('apply', ['--prune']);
    expect(ruleOf(scene)?.weight).toBe(40);
  },
);
