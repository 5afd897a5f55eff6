import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemRandom } from '../../src/runtime/random.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { PORTS, rule, type Scene, setScene, SHOP, shop, web } from './scene.ts';

/** A second platform with the same team, region and application: the staging environment beside production. */
async function otherPlatform(scene: Scene, seed: Seed = demoSeed): Promise<Sandbox> {
  const sandbox = await startSandbox({
    clock: scene.clock.unhurried(),
    random: systemRandom,
    dialect: 'extended',
    token: 'sandbox-token',
    seed,
  });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

function writesTo(sandbox: Sandbox): number {
  return sandbox.requests().filter(({ isWrite }) => isWrite).length;
}

const MANIFESTS = { 'shop.yaml': shop(web(PORTS), rule('www', 'www.example.com')) };

/** What is on record, without counters. */
async function records(scene: Scene): Promise<unknown> {
  const { out } = await scene.portolan(['ledger', 'list', '-o', 'json']);
  const { objects } = JSON.parse(out) as { objects: readonly unknown[] };
  expect(objects.length).toBeGreaterThan(0);
  return objects;
}

async function appliedToProduction(settings: Parameters<typeof setScene>[0] = {}): Promise<Scene> {
  const scene = await setScene({ manifests: MANIFESTS, ...settings });
  const applied = await scene.run('apply');
  expect(applied.code, applied.out + applied.err).toBe(0);
  scene.traffic();
  return scene;
}

test('a ledger of production with the URL of staging: every command is held, and nothing is written or forgotten', async () => {
  const scene = await appliedToProduction();
  const before = await records(scene);
  const staging = await otherPlatform(scene);
  scene.configure({ url: staging.url });
  const runs = [
    await scene.run('plan'),
    await scene.run('plan', ['--prune']),
    await scene.run('status'),
    await scene.run('apply'),
    await scene.run('apply', ['--adopt']),
    await scene.portolan(['adopt', ...scene.options, '--yes']),
  ];
  scene.write('shop.yaml', shop(web(PORTS)));
  runs.push(await scene.run('apply', ['--prune', '--allow-shrunk', '--max-prunes', '50']));
  for (const { code, out, err } of runs) {
    expect(code, out + err).toBe(4);
    expect(out + err).toContain(`Platform/default has the URL ${staging.url}`);
    expect(out + err).toContain(scene.sandbox.url);
    expect(out + err).toContain('portolan ledger rebind default --reason');
  }
  expect(writesTo(staging)).toBe(0);
  expect(await records(scene)).toEqual(before);

  scene.write('shop.yaml', MANIFESTS['shop.yaml']);
  scene.configure({});
  const back = await scene.run('apply');
  expect(back.code, back.out + back.err).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
});

test('a region of the same name with another id holds before a record is dropped', async () => {
  const scene = await appliedToProduction();
  const before = await records(scene);
  // The same address leads to another platform now, which has no rule.
  scene.sandbox.alter((state) => {
    for (const region of state.regions.all()) state.regions.put({ ...region, id: `other-${region.id}` });
    for (const row of state.rules.all()) state.rules.delete(row.id);
  });
  scene.write('shop.yaml', shop(web(PORTS)));
  const apply = await scene.run('apply', ['--allow-shrunk']);
  expect(apply.code, apply.out + apply.err).toBe(4);
  expect(apply.out + apply.err).toMatch(/Region \S+ of Platform\/default has the id other-/);
  scene.write('shop.yaml', MANIFESTS['shop.yaml']);
  for (const run of [await scene.run('plan'), await scene.run('apply')]) {
    expect(run.code, run.out + run.err).toBe(4);
    expect(run.out + run.err).toMatch(/Region \S+ of Platform\/default has the id other-/);
  }
  expect(scene.traffic().writes).toEqual([]);
  expect(await records(scene)).toEqual(before);
});

test('a new region beside the known one is not a mismatch', async () => {
  const scene = await appliedToProduction();
  scene.sandbox.alter((state) => {
    const [known] = [...state.regions.all()];
    if (known === undefined) throw new Error('the sandbox has no region');
    state.regions.put({ ...known, name: 'region-new', id: 'id-new' });
  });
  scene.write('shop.yaml', shop(web(PORTS), rule('www', 'www.example.com'), rule('two', 'two.example.com')));
  expect((await scene.run('apply')).code).toBe(0);
});

test('the same platform in another spelling is not a mismatch', async () => {
  const scene = await appliedToProduction();
  for (const url of [`${scene.sandbox.url}/`, scene.sandbox.url]) {
    scene.configure({ url });
    const apply = await scene.run('apply');
    expect(apply.code, apply.out + apply.err).toBe(0);
  }
});

test('rebind needs a reason, is in the history with who and why, and lets the next apply write', async () => {
  const scene = await appliedToProduction();
  const moved = await otherPlatform(scene);
  const config = scene.options.slice(-2);
  const same = await scene.portolan(['ledger', 'rebind', 'default', '--reason', 'none', ...config]);
  expect(same, same.err).toMatchObject({ code: 0 });
  scene.configure({ url: moved.url });
  expect((await scene.portolan(['ledger', 'rebind', 'default', ...config])).code).toBe(3);
  const unknown = await scene.portolan(['ledger', 'rebind', 'defualt', '--reason', 'it moved', ...config]);
  expect(unknown.code).toBe(3);
  expect(unknown.err).toContain('default');

  const rebound = await scene.portolan(['ledger', 'rebind', 'default', '--reason', 'moved, see OPS-17', ...config]);
  expect(rebound.code, rebound.err).toBe(0);
  expect(rebound.out).toContain(`from ${scene.sandbox.url} to ${moved.url}`);
  const history = await scene.portolan(['ledger', 'history', '-o', 'json']);
  expect(history.out).toContain('platform.rebound');
  expect(history.out).toContain('moved, see OPS-17');
  expect(history.out).toMatch(/portolan ledger rebind by /);
  const apply = await scene.run('apply');
  expect(apply.code, apply.out + apply.err).toBe(0);
  expect(writesTo(moved)).toBeGreaterThan(0);
  const shown = await scene.portolan(['ledger', 'show', 'Platform/default']);
  expect(shown.out).toContain(moved.url);
});

test('show and status say what is bound', async () => {
  const scene = await appliedToProduction();
  const { regions } = scene.sandbox.state;
  const [region] = [...regions.all()];
  const shown = await scene.portolan(['ledger', 'show', 'Platform/default']);
  expect(shown.code, shown.err).toBe(0);
  expect(shown.out).toContain(scene.sandbox.url);
  expect(shown.out).toContain(region?.id);
  const status = JSON.parse((await scene.run('status', ['-o', 'json'])).out) as { platforms: unknown };
  expect(status.platforms).toEqual([
    { name: 'default', url: scene.sandbox.url, regions: [{ name: region?.name, id: region?.id }] },
  ]);
});

test('a platform that shows no ids of regions is bound by its URL, and nothing is held', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  scene.sandbox.alter((state) => {
    for (const region of state.regions.all()) state.regions.put({ ...region, id: '' });
  });
  expect((await scene.run('apply')).code).toBe(0);
  const shown = await scene.portolan(['ledger', 'show', 'Platform/default']);
  expect(shown.out).toContain('none bound');
  scene.write('shop.yaml', shop(web(PORTS), rule('www', 'www.example.com'), rule('two', 'two.example.com')));
  expect((await scene.run('apply')).code).toBe(0);
  const staging = await otherPlatform(scene);
  scene.configure({ url: staging.url });
  expect((await scene.run('apply')).code).toBe(4);
  expect(writesTo(staging)).toBe(0);
});

test('of several platforms in one ledger, only the one that differs is held', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const [west, east] = [await otherPlatform(scene), await otherPlatform(scene)];
  const config = join(scene.folder, 'portolan.yaml');
  const first = readFileSync(config, 'utf8');
  const platform = first.slice(0, first.indexOf('---')).replace('name: default', 'name: west');
  const configure = (url: string): void =>
    writeFileSync(config, `${first}---\n${platform.replace(scene.sandbox.url, url)}`);
  configure(west.url);
  const there = `${SHOP.replace('name: shop', 'name: there').replace('spec: {', 'spec: { platform: west,')}`;
  const rules = (name: string): string =>
    `${web(PORTS)}---\n${rule('www', name)}`
      .replaceAll('application: shop', 'application: there')
      .replaceAll('shop-web', 'there-web')
      .replace('name: www', 'name: there-www');
  scene.write('there.yaml', `${there}---\n${rules('there.example.com')}`);
  const applied = await scene.run('apply');
  expect(applied.code, applied.out + applied.err).toBe(0);
  expect(writesTo(west)).toBeGreaterThan(0);

  scene.traffic();
  configure(east.url);
  scene.write('shop.yaml', shop(web(PORTS), rule('www', 'www.example.com'), rule('two', 'two.example.com')));
  const held = await scene.run('apply');
  expect(held.code, held.out + held.err).toBe(4);
  expect(held.out + held.err).toContain(`Platform/west has the URL ${east.url}`);
  expect(scene.traffic().writes).toEqual(['createRule']);
  expect(writesTo(east)).toBe(0);
});
