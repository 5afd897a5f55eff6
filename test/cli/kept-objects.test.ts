import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loseAnswer, PORTS, rule, type Scene, SETTLED_MS, setScene, shop, web } from './scene.ts';

const KEEP = 'annotations: { portolan/prune: keep }';
const DOMAIN = 'www.example.com';

const isThere = (scene: Scene): boolean => [...scene.sandbox.state.rules.all()].some(({ domain }) => domain === DOMAIN);

test('a rule whose creation had no answer is kept, though its manifest is removed before it was seen', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), rule('www', DOMAIN, 'weight: 40', KEEP)));
  loseAnswer(scene, 'createRule');
  expect((await scene.run('apply')).out).toContain('1 in doubt');
  scene.write('a.yaml', shop(web(PORTS)));
  await scene.run('apply', ['--prune']);
  scene.clock.push(SETTLED_MS);
  expect((await scene.run('apply', ['--prune'])).out).toContain(
    'it stays, because its manifest said portolan/prune: keep',
  );
  expect(isThere(scene)).toBe(true);
});

test.for([
  [
    'while the rule is suspended',
    rule('www', DOMAIN, 'weight: 40', `${KEEP.slice(0, -2)}, portolan/reconcile: suspend }`),
  ],
  ['with a change in doubt', rule('www', DOMAIN, 'weight: 90', KEEP)],
] as const)('a rule is kept if its manifest said so for one commit, %s', async ([how, kept]) => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', DOMAIN, 'weight: 40')) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), kept));
  if (how.endsWith('doubt')) loseAnswer(scene, 'updateRule');
  await scene.run('apply');
  scene.sandbox.setFaults([]);
  scene.write('a.yaml', shop(web(PORTS)));
  await scene.run('apply', ['--prune']);
  scene.clock.push(SETTLED_MS);
  await scene.run('apply', ['--prune']);
  expect(isThere(scene)).toBe(true);
});

test('ports of a component are kept if its manifest said so for one commit, while it is suspended', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS, `${KEEP.slice(0, -2)}, portolan/reconcile: suspend }`)));
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop());
  const pruned = await scene.run('apply', ['--prune']);
  expect(pruned.out).toContain('it stays, because its manifest said portolan/prune: keep');
  expect(pruned.out).not.toContain('delete unlisted port');
});

test('a mark that a manifest drops counts no longer once the object is as it says', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', DOMAIN, 'weight: 40', KEEP)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), rule('www', DOMAIN, 'weight: 40')));
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS)));
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(isThere(scene)).toBe(false);
});

test('a rule whose adoption had no answer gets its former values back, though its manifest is removed meanwhile', async () => {
  const former = rule('www', DOMAIN, 'weight: 40');
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), former) } });
  expect((await scene.run('apply', ['--ledger', join(scene.folder, 'theirs.db')])).code).toBe(0);
  scene.write(
    'a.yaml',
    shop(web(PORTS), rule('www', DOMAIN, 'weight: 90', 'annotations: { portolan/on-removal: restore }')),
  );
  loseAnswer(scene, 'updateRule');
  expect((await scene.run('apply', ['--adopt'])).out).toContain('1 in doubt');
  scene.write('a.yaml', shop(web(PORTS)));
  await scene.run('apply', ['--prune']);
  scene.clock.push(SETTLED_MS);
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect([...scene.sandbox.state.rules.all()].find(({ domain }) => domain === DOMAIN)?.weight).toBe(40);
});
