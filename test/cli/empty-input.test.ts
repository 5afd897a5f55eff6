import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collectingTerminal, runHere } from './running.ts';
import { PORTS, type Scene, setScene, shop, web } from './scene.ts';

const NOTHING = { manifests: {} };

/** Runs a command on the scene, on a terminal or without one. */
async function onTerminal(scene: Scene, command: 'plan' | 'apply' | 'validate', isTerminal: boolean, flags: string[]) {
  const { terminal, text } = collectingTerminal({ isTerminal });
  const ledger = command === 'validate' ? [] : ['--ledger', scene.ledgerFile];
  const { code } = await runHere([command, ...scene.options, ...ledger, ...flags], { env: scene.env, terminal });
  return { code, ...text };
}

test.for(['plan', 'apply', 'validate'] as const)(
  '%s of an empty folder is a failure, and a warning on a terminal',
  async (command) => {
    const scene = await setScene(NOTHING);
    const alone = await onTerminal(scene, command, false, []);
    expect(alone).toMatchObject({ code: 3, out: '' });
    expect(alone.err).toContain('No manifest found in');
    expect(alone.err).toContain('--if-empty ok');
    expect(alone.err).toContain('[source/empty]');
    const watched = await onTerminal(scene, command, true, []);
    expect(watched.code).toBe(0);
    expect(watched.err).toContain('warning: No manifest found in');
    expect((await onTerminal(scene, command, true, ['--if-empty', 'fail'])).code).toBe(3);
    const meant = await onTerminal(scene, command, false, ['--if-empty', 'ok']);
    expect(meant.code, meant.err).toBe(0);
    expect(meant.err).not.toContain('no manifest');
  },
);

test('a folder whose files hold no document is empty, too', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': '# nothing yet\n' } });
  const run = await scene.run('plan');
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain('1 file');
});

test('--if-empty ok does not disable guard/empty-source: what the ledger holds stays', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', undefined);
  scene.traffic();
  for (const flags of [[], ['--if-empty', 'ok']]) {
    const run = await scene.run('apply', ['--prune', ...flags]);
    expect(run.code).toBe(4);
    expect(run.out + run.err).toContain('guard/empty-source');
  }
  expect(scene.traffic().writes).toEqual([]);
});

test('a file that is nearly named like a manifest is pointed out', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  for (const name of ['b.ymll', 'c.YAML', 'notes.md', 'page.xml', 'm.ml']) scene.write(name, 'x');
  mkdirSync(join(scene.folder, 'manifests', 'folder.ymll'));
  writeFileSync(join(scene.folder, 'manifests', '.hidden.ymll'), '');
  for (const command of ['plan', 'validate'] as const) {
    const run = await onTerminal(scene, command, false, []);
    expect(run.code, run.err).toBe(0);
    const named = [...run.err.matchAll(/^warning: (\S+) is not read: /gm)].map(([, path = '']) => path);
    expect(named.map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual(['b.ymll', 'c.YAML']);
    expect(run.err).toContain('a manifest ends in .yaml, .yml or .json');
  }
});
