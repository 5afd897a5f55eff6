import { expect, test } from 'vitest';
import { savePlan } from './saved.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const manifests = (rules: number): string =>
  shop(web(PORTS), ...Array.from({ length: rules }, (_, n) => rule(`r${n}`, `r${n}.example.com`)));

/** Thirty rules, of which a first run has removed six. */
async function sixGone(): Promise<Scene> {
  const scene = await setScene({ manifests: { 'a.yaml': manifests(30) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', manifests(24));
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  scene.traffic();
  scene.write('a.yaml', manifests(18));
  return scene;
}

test('apply --prune spends the daily budget; --max-prunes overrides it, and that is on record', async () => {
  const scene = await sixGone();
  for (const command of ['plan', 'apply'] as const) {
    const run = await scene.run(command, ['--prune']);
    expect(run.code).toBe(4);
    expect(run.out).toContain('refused by a guard (guard/budget)');
    expect(run.out).toMatch(/has 4 left of 10 in 24 h of observed time: spent were 6 by manifests [0-9a-f]{12};/);
    expect(run.out).toContain('→ to allow it: --max-prunes 6');
  }
  expect(scene.traffic().writes).toEqual([]);
  expect((await scene.run('apply', ['--prune', '--max-prunes', '5'])).code).toBe(4);
  expect((await scene.run('apply', ['--prune', '--max-prunes', '6'])).code).toBe(0);
  expect(scene.traffic().writes).toHaveLength(6);
  expect((await scene.portolan(['ledger', 'history'])).out).toContain('budget-overridden');
});

test('a plan that was agreed to as a whole spends nothing, and is let through', async () => {
  const scene = await sixGone();
  const saved = await savePlan(scene, ['--prune']);
  expect(saved.planned.code).toBe(4);
  expect((await saved.apply()).code).toBe(0);
  expect(scene.traffic().writes).toHaveLength(6);
  expect((await scene.portolan(['ledger', 'history'])).out).not.toContain('budget-overridden');
});

test('a day later there is room again, whatever the wall clock says', async () => {
  const scene = await sixGone();
  scene.clock.push(23 * 3_600_000);
  expect((await scene.run('apply', ['--prune'])).code).toBe(4);
  scene.clock.push(2 * 3_600_000);
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.traffic().writes).toHaveLength(6);
});
