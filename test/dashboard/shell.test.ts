import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, overflow, settled, visit } from './browsing.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('a first look: the overview, and the way to the other pages', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  expect(await page.title()).toBe('Overview · Portolan');
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Activity' }).click();
  await settled(page);
  expect(await page.title()).toBe('Activity · Portolan');
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Activity');
  expect(await axeViolations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
});
