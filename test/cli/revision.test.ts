import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, git, repository, temporaryFolder, write } from '../source/repositories.ts';
import { configurationFor, folderOf } from './platform.ts';
import { runHere, runProcess } from './running.ts';
import { PORTS, rule, type Scene, setScene, shop, SHOP, web } from './scene.ts';

const domains = ({ sandbox }: Scene): string[] => [...sandbox.state.rules.all()].map(({ domain }) => domain).sort();

const two = shop(web(PORTS), rule('www', 'www.example.com'), rule('api', 'api.example.com'));
const one = shop(web(PORTS), rule('www', 'www.example.com'));

/** A scene and a repository whose `manifests/` it applies; commits are `ids`, the oldest first. */
async function history(...texts: readonly string[]) {
  const scene = await setScene({ manifests: {} });
  const root = repository();
  const ids = texts.map((text) => commit(root, { 'manifests/shop.yaml': text }));
  const run = (command: 'plan' | 'apply' | 'status', ref: string, ...args: readonly string[]) =>
    scene.run(command, ['-f', join(root, 'manifests'), '--revision', ref, ...args]);
  const accepted = () =>
    scene.portolan(['ledger', 'history', '-o', 'json']).then(({ out }) => {
      const { history: rows = [] } = JSON.parse(out) as { history?: { event: string; detail: { commit?: string } }[] };
      return rows.filter(({ event }) => event === 'snapshot').map(({ detail }) => detail.commit);
    });
  return { scene, root, ids, run, accepted };
}

test('validate, plan, apply and status read a commit, and not the half-written files beside it', async () => {
  const { scene, root, ids, run } = await history(two);
  write(root, 'manifests/shop.yaml', two.slice(0, 200));
  const name = `main@sha1:${ids[0]}`;
  const validated = await runHere([
    'validate',
    '-f',
    join(root, 'manifests'),
    '--revision',
    'main',
    ...scene.options.slice(2),
  ]);
  expect(validated).toMatchObject({
    code: 0,
    out: expect.stringContaining(`valid: 4 resources in 1 file of ${name} (`),
  });

  const planned = await run('plan', 'main', '-o', 'json');
  expect(JSON.parse(planned.out)).toMatchObject({ revision: name, summary: { create: expect.any(Number) } });
  expect((await run('plan', 'main')).out).toContain(`Revision: ${name}\n`);

  const applied = await run('apply', 'main');
  expect(applied.code).toBe(0);
  expect(domains(scene)).toEqual(expect.arrayContaining(['api.example.com', 'www.example.com']));
  expect(JSON.parse((await run('status', 'main', '-o', 'json')).out)).toMatchObject({ revision: name });
  expect((await run('plan', 'main', '--detailed-exitcode')).code).toBe(0);
});

test('plain files have no revision', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': one } });
  expect(JSON.parse((await scene.run('plan', ['-o', 'json'])).out)).toMatchObject({ revision: null });
  expect((await scene.run('plan')).out).not.toContain('Revision:');
});

test('the commit is on record, and the next one too though it says the same', async () => {
  const { root, ids, run, accepted } = await history(two);
  await run('apply', 'main');
  const next = commit(root, { 'README.md': 'words' });
  await run('apply', 'main');
  await run('apply', 'main');
  expect((await accepted()).toSorted()).toEqual([ids[0], next].toSorted());
});

test('faults are shown as the path was named, and nothing is done', async () => {
  const { root, run, scene } = await history(two);
  commit(root, { 'manifests/shop.yaml': two.replace('appId: 42', 'appId: forty') });
  const outcome = await run('apply', 'main');
  expect(outcome.code).toBe(3);
  expect(outcome.err).toContain(`${join(root, 'manifests', 'shop.yaml')}:4:`);
  expect(scene.traffic()).toEqual({ reads: [], writes: [] });
});

test.for([
  ['nosuch', 'source/unknown-revision'],
  ['--upload-pack=x', 'source/bad-revision'],
] as const)('the revision %s ends the command with what to do', async ([ref, code]) => {
  const root = repository({ 'a.yaml': SHOP });
  const outcome = await runHere(['validate', '-f', root, `--revision=${ref}`], { env: { PATH: process.env.PATH } });
  expect(outcome).toMatchObject({ code: 3, out: '', err: expect.stringContaining(`[${code}]`) });
});

test('the real program reads a commit, by flag and by variable, where the configuration lies beside the manifests', async () => {
  const cwd = folderOf({ 'portolan.yaml': configurationFor('https://console.example.com'), 'shop.yaml': SHOP });
  git(cwd, 'init', '--quiet', '--initial-branch=main');
  commit(cwd, {});
  rmSync(join(cwd, 'shop.yaml'));
  const at = git(cwd, 'rev-parse', 'HEAD');
  const expected = {
    code: 0,
    out: `valid: 1 resource in 1 file of HEAD@sha1:${at} (1 Application), and portolan.yaml\n`,
    err: '',
  };
  expect(await runProcess(['validate', '-f', '.', '--revision', 'HEAD'], { cwd })).toEqual(expected);
  expect(await runProcess(['validate', '-f', '.'], { cwd, env: { PORTOLAN_REVISION: 'HEAD' } })).toEqual(expected);
});

test('where the operator asks for a signature, a commit without one is not read', async () => {
  const { scene, run, root } = await history(two);
  scene.configure({ settings: '{ source: { signatures: { by: ssh, keys: /nowhere/allowed_signers } } }' });
  const outcome = await run('apply', 'main');
  expect(outcome).toMatchObject({ code: 4, out: '', err: expect.stringContaining('[source/signature]') });
  expect(scene.traffic()).toEqual({ reads: [], writes: [] });
  expect((await scene.run('plan', ['-f', join(root, 'manifests')])).code).toBe(0);
});

test('a removal in a commit that came after is carried out', async () => {
  const { scene, run } = await history(two, one);
  await run('apply', 'main~1');
  expect((await run('apply', 'main', '--prune')).code).toBe(0);
  expect(domains(scene)).not.toContain('api.example.com');
});

test('a branch that was rewound removes nothing until somebody says so', async () => {
  const { scene, root, ids, run, accepted } = await history(one, two);
  await run('apply', 'main');
  git(root, 'reset', '--quiet', '--hard', 'HEAD~1');
  scene.traffic();
  const refused = await run('apply', 'main', '--prune');
  expect(refused.code).toBe(4);
  expect(refused.out).toContain('refused by a guard (guard/not-descendant)');
  expect(refused.out).toContain(
    `commit ${ids[0]!.slice(0, 12)} of the source "default" does not descend from ${ids[1]!.slice(0, 12)}`,
  );
  expect(refused.out).toContain('to allow it: --allow-rewind');
  expect(scene.traffic().writes).toEqual([]);
  expect(await accepted()).toEqual([ids[1]]);
  expect((await run('plan', 'main', '--prune')).code).toBe(4);

  // Without removals it is applied, and that confirms nothing: a second look still refuses.
  expect((await run('apply', 'main')).code).toBe(0);
  const again = await run('apply', 'main', '--prune');
  expect(again).toMatchObject({
    code: 4,
    out: expect.stringContaining('this was not confirmed as intended; 1 removal would follow'),
  });
  expect(domains(scene)).toContain('api.example.com');

  expect((await run('apply', 'main', '--prune', '--allow-rewind')).code).toBe(0);
  expect(domains(scene)).not.toContain('api.example.com');

  // Confirmed: later commits prune again.
  commit(root, { 'manifests/shop.yaml': shop(web(PORTS)) });
  expect((await run('apply', 'main', '--prune')).code).toBe(0);
  expect(domains(scene)).not.toContain('www.example.com');
});

test('a branch that was rewritten is held like one that was rewound', async () => {
  const { scene, root, run } = await history(two);
  await run('apply', 'main');
  git(root, 'checkout', '--quiet', '--orphan', 'fresh');
  commit(root, { 'manifests/shop.yaml': one });
  git(root, 'branch', '--quiet', '--force', 'main', 'fresh');
  expect(await run('apply', 'main', '--prune')).toMatchObject({
    code: 4,
    out: expect.stringContaining('rewound or rewritten'),
  });
  expect(domains(scene)).toContain('api.example.com');
});

test('a shallow clone that cannot tell removes nothing, and says how to find out', async () => {
  const { scene, root, run } = await history(two, one);
  await run('apply', 'main~1');
  const clone = join(temporaryFolder(), 'clone');
  git(root, 'clone', '--quiet', '--depth=1', `file://${root}`, clone);
  const prune = () => scene.run('apply', ['-f', join(clone, 'manifests'), '--revision', 'main', '--prune']);
  expect(await prune()).toMatchObject({ code: 4, out: expect.stringContaining('git fetch --unshallow') });
  expect(domains(scene)).toContain('api.example.com');
  git(clone, 'fetch', '--quiet', '--unshallow');
  expect((await prune()).code).toBe(0);
  expect(domains(scene)).not.toContain('api.example.com');
});

test('each source has a history of its own', async () => {
  const { root, run } = await history(one, two);
  await run('apply', 'main');
  git(root, 'reset', '--quiet', '--hard', 'HEAD~1');
  const other = await run('plan', 'main', '--prune', '--source', 'other');
  expect(other.out).not.toContain('guard/not-descendant');
});

test('the repository is as it was', async () => {
  const { root, run } = await history(two);
  const before = readFileSync(join(root, '.git', 'index'));
  await run('plan', 'main');
  expect(readFileSync(join(root, '.git', 'index'))).toEqual(before);
  expect(git(root, 'status', '--porcelain')).toBe('');
});
