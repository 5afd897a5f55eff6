import { afterAll, beforeAll, expect, test } from 'vitest';
import { detailsOf, liveRules, scene, shopDocuments, until, untilReady } from './application-scene.ts';
import { axeViolations, overflow, settled, visit } from './browsing.ts';
import type { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await scene(12);
});
afterAll(() => world.close());

const weighted = (weight: number): Record<string, string> => shopDocuments(12, `, weight: ${weight}`);

test('question 3: a plan that a guard refused is shown in full, and exactly this plan is approved', async () => {
  world.commit(weighted(60), 'Shift the weights');
  await until(async () => (await detailsOf(world, 'shop')).approval !== null);
  const page = await visit(world.url, '/attention');
  await settled(page);
  await page.getByRole('link', { name: 'View the plan' }).click();
  await settled(page);
  const plan = page.getByRole('region', { name: 'Plan', exact: true });
  await plan.getByText('Plan: 0 to create, 12 to change, 0 to delete').waitFor();
  const digest = (await detailsOf(world, 'shop')).approval?.digest ?? '';
  const text = await plan.innerText();
  expect(text).toContain(digest);
  expect(text).toContain('weight: 50 → 60');
  expect(text).toContain('guard/share');
  // The words are those of the command line.
  expect((await world.portolan(['plan', 'shop'])).out).toContain('Plan: 0 to create, 12 to change, 0 to delete');
  expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);

  await plan.getByRole('button', { name: 'Approve this plan' }).click();
  const question = page.getByRole('dialog');
  expect(await question.innerText()).toContain('0 to create, 12 to change, 0 to delete');
  expect(await question.innerText()).toContain(digest);
  expect(await axeViolations(page)).toEqual([]);
  await question.getByRole('button', { name: 'Approve', exact: true }).click();
  await page
    .getByText(`The plan ${digest.slice(0, 12)} of shop is approved.`)
    .first()
    .waitFor();
  await untilReady(world, 'shop');
  expect(new Set(liveRules(world).map(({ weight }) => weight))).toEqual(new Set([60]));
  await plan.getByText('The platform matches the manifests.').waitFor();
  const history = await world.portolan(['history', 'shop']);
  expect(history.out).toMatch(new RegExp(`approved: plan ${digest.slice(0, 12)} by admin`));
});

test('a plan that changed after it was shown is not approved', async () => {
  world.commit(weighted(70), 'Shift the weights again');
  await until(async () => (await detailsOf(world, 'shop')).approval !== null);
  const before = (await detailsOf(world, 'shop')).approval?.digest;
  const page = await visit(world.url, '/applications/shop/plan', { expects: /409|422/ });
  await settled(page);
  await page.getByRole('button', { name: 'Approve this plan' }).click();
  world.commit(weighted(80), 'Shift them once more');
  await until(async () => ![undefined, before].includes((await detailsOf(world, 'shop')).approval?.digest));
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).press('Enter');
  await page.getByRole('dialog').getByText('Nothing was approved').waitFor();
  expect(new Set(liveRules(world).map(({ weight }) => weight))).toEqual(new Set([60]));
});

test('a viewer sees the plan, and why the button is unavailable', async () => {
  const page = await visit(world.url, '/applications/shop/plan', { as: 'viewer' });
  await settled(page);
  const button = page.getByRole('button', { name: 'Approve this plan' });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await button.focus();
  await page.keyboard.press('Enter');
  expect(await page.getByRole('dialog').innerText()).toContain('This needs the role approve, operator or admin');
  await page.keyboard.press('Escape');
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Approve this plan');
});

test('resources that were removed from git have their names in the tree until their removal is approved', async () => {
  world.commit(shopDocuments(6, ', weight: 60'), 'Remove six rules');
  await until(
    async () =>
      (await detailsOf(world, 'shop')).approval?.refusals.some(({ code }) => code.startsWith('guard/')) === true &&
      (await detailsOf(world, 'shop')).resources.length === 7,
  );
  const page = await visit(world.url, '/applications/shop');
  await settled(page);
  await page.getByRole('heading', { name: '7 resources in sync, 6 removed from git' }).waitFor();
  const names = page.getByRole('region', { name: 'Resource tree' }).locator('.node-name');
  await expect.poll(() => names.allInnerTexts()).toContain('rule shop-12.example.com/');
  await page.getByRole('link', { name: 'View the plan' }).click();
  await page.getByText('This plan waits for an approval').waitFor();
  expect(await page.getByRole('link', { name: 'View the plan' }).count()).toBe(0);
});
