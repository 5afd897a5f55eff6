import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Scene, setScene, shop } from './scene.ts';
import { collectingTerminal } from './running.ts';

const INSTALL = `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: db }
spec: { application: shop, store: main, model: { id: 0a1b2c, version: "8.0.36" } }
`;
const SCOPE = 'default/team-a/region-1/42';

/** An application that has components, on a server that cannot list them. */
function documented(): Promise<Scene> {
  return setScene({ dialect: 'documented', manifests: { 'a.yaml': shop(INSTALL) }, confirmsInstalls: false });
}

function ledger(scene: Scene, name: string): readonly string[] {
  return ['--ledger', join(scene.folder, `${name}.db`)];
}

function installs(scene: Scene): number {
  return [...scene.sandbox.state.installs.all()].length;
}

test('four jobs with a ledger of their own and --yes install nothing into an application that has components', async () => {
  const scene = await documented();
  for (const name of ['one', 'two', 'three', 'four']) {
    const run = await scene.run('apply', ledger(scene, name));
    expect(run.code).toBe(4);
    expect(run.out).toMatch(/this ledger has never recorded the application/);
    expect(run.out).toContain(`--first-install ${SCOPE}`);
    // A second run of the same job: to have held is not to have recorded.
    expect((await scene.run('apply', ledger(scene, name))).code).toBe(4);
  }
  expect(installs(scene)).toBe(0);
});

test('--first-install SCOPE confirms it for that scope alone, once', async () => {
  const scene = await documented();
  expect((await scene.run('apply', ['--first-install', 'default/team-a/region-1/43'])).code).toBe(4);
  expect(installs(scene)).toBe(0);
  expect((await scene.run('plan', ['--first-install', SCOPE])).out).toContain('install 0a1b2c 8.0.36');
  expect((await scene.run('apply', ['--first-install', SCOPE])).code).toBe(0);
  expect((await scene.run('apply')).code).toBe(0);
  expect(installs(scene)).toBe(1);
});

test('ledger confirm does the same', async () => {
  const scene = await documented();
  await scene.run('apply');
  expect((await scene.portolan(['ledger', 'confirm', SCOPE])).code).toBe(0);
  expect((await scene.run('apply')).code).toBe(0);
  expect(installs(scene)).toBe(1);
});

test('a person on a terminal is shown what is not known, and asked', async () => {
  const scene = await documented();
  const asked = collectingTerminal({ isTerminal: true, answers: ['y'] });
  const args = ['apply', ...scene.options, '--ledger', scene.ledgerFile];
  const { runProgram } = await import('../../src/cli/program.ts');
  const { surroundingsFor } = await import('./running.ts');
  expect(await runProgram(args, surroundingsFor(asked.terminal, { env: scene.env, clock: scene.clock }))).toBe(0);
  expect(asked.text.out).toMatch(/this ledger has never recorded the application/);
  expect(asked.text.err).toContain('Apply 1 change? [y/N]');
  expect(installs(scene)).toBe(1);
});

test('an application without components needs no word', async () => {
  const scene = await documented();
  scene.sandbox.alter((state) => {
    for (const row of state.components.all()) state.components.delete(row.id);
  });
  expect((await scene.run('apply')).code).toBe(0);
  expect(installs(scene)).toBe(1);
});

test('a text that is not a scope is refused', async () => {
  const scene = await documented();
  const run = await scene.run('apply', ['--first-install', 'shop']);
  expect(run.code).toBe(3);
  expect(run.err).toContain('--first-install names "shop", which is not a scope');
});

test('a saved plan keeps the word it was made with', async () => {
  const scene = await documented();
  const file = join(scene.folder, 'plan.json');
  expect((await scene.run('plan', ['--first-install', SCOPE, '--save', file])).code).toBe(0);
  const flags = ['--config', join(scene.folder, 'portolan.yaml')];
  const run = await scene.portolan(['apply', file, '--yes', ...flags]);
  expect(run.err + run.out).toContain('1 done');
  expect(installs(scene)).toBe(1);
});
