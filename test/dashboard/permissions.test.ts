import { expect, onTestFinished, test } from 'vitest';
import { axeViolations, settled, visit } from './browsing.ts';
import { openWorld, TOKENS, type World, type WorldOptions } from './world.ts';

/** Opens a world that is closed after its pages: hooks run in reverse, and a page without a server has errors. */
async function opened(options?: WorldOptions): Promise<World> {
  const world = await openWorld(options);
  onTestFinished(() => world.close());
  return world;
}

test('a token without a role does not sign in, and the page says what to do', async () => {
  const world = await opened();
  const page = await visit(world.url, '/', { as: null, expects: /status of 40[13]/ });
  await page.getByLabel('Token').fill(TOKENS.guest);
  await page.getByRole('button', { name: /^Sign in/ }).click();
  await page.getByText('no role is bound to you').waitFor();
  await page.getByText('Request a role').waitFor();
  expect(await axeViolations(page)).toEqual([]);
});

test('a user of one application sees no other, and no platform', async () => {
  const world = await opened({
    server: '    roles: [{ role: viewer, tokens: [guest], applications: [default/team-a/region-1/42] }]',
  });
  const page = await visit(world.url, '/', { as: 'guest', expects: /status of 403/ });
  await settled(page);
  await page.getByText('of 1', { exact: true }).waitFor();
  await page.locator('.live').getByText('Live', { exact: true }).waitFor();
  expect(await page.content()).not.toContain('blog');
  await page.goto('/platform');
  await page.getByText('No permission').waitFor();
  await page.goto('/activity');
  await settled(page);
  expect(await page.getByRole('listitem').filter({ hasText: 'shop' }).count()).toBeGreaterThan(0);
  expect(await page.getByRole('main').innerText()).not.toContain('blog');
});
