import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, settled, visit } from './browsing.ts';
import { openWorld, until, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await until(async () => (await world.api<{ counts: { ready: number } }>('/api/v1/status')).counts.ready === 2);
  world.commit({ 'blog/blog.yaml': undefined }, 'Remove the blog');
  await until(async () => (await world.api<{ orphans: number }>('/api/v1/status')).orphans > 0);
});
afterAll(() => world.close());

test('a prune of an orphan can be confirmed once its plan is shown, and its result is reported', async () => {
  const page = await visit(world.url, '/attention');
  await settled(page);
  // Commands can be run as they are.
  await page.getByText(`--server ${world.url}`).first().waitFor();

  const answered = Promise.withResolvers<void>();
  await page.route('**/api/v1/orphans/**/plan', async (route) => {
    await answered.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Prune' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why?').fill('the blog has moved');
  const confirm = dialog.getByRole('button', { name: 'Prune' });
  expect(await confirm.isDisabled(), 'while the plan loads').toBe(true);
  answered.resolve();
  await dialog.getByText('The controller sends exactly these requests.').waitFor();
  await expect.poll(() => confirm.isEnabled()).toBe(true);
  expect(await axeViolations(page)).toEqual([]);
  await confirm.click();
  const result = page.getByText(/removals? of \d+ done in /).first();
  await result.waitFor();
  // The blog has an install and a port of it, which stay: the request carried the digest that was shown, or it would be refused.
  expect(await result.innerText()).toMatch(/^0 removals of 0 done in default\/team-a\/region-1\/43, \d+ left\./);
});
