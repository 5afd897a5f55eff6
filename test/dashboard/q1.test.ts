import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import { type FleetWorld, openFleetWorld } from './fleet-world.ts';

let world: FleetWorld;
beforeAll(async () => {
  const file = 'team-3/app-3/component-app-3-c0.yaml';
  world = await openFleetWorld((files) => ({
    [file]: (files.get(file) ?? '').replace(
      'metadata:\n',
      'metadata:\n  annotations:\n    portolan/reconcile: "report"\n',
    ),
  }));
  await world.until((counts) => counts['in-sync'] === 12);
  world.changeByHand(3, 'BYHAND');
  await world.portolan(['sync', 'app-3']);
  await world.until((counts) => counts['drifted'] === 1);
});
afterAll(() => world.close());

test('question 1: is everything in sync, what is not, since when, and who owns it', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  // One click: the tile leads to the applications that drifted.
  await page.getByRole('link', { name: /^Drifted/ }).click();
  await settled(page);
  expect((await addressOf(page)).search).toBe('?state=drifted');
  const row = page.getByRole('row', { name: /app-3/ });
  await row.waitFor();
  expect(await page.getByRole('row').count()).toBe(2); // The head, and the one.
  const text = await row.innerText();
  expect(text).toContain('Drifted');
  expect(text).toContain('default/team-3/region-1/3');
  expect(text).toContain('owner=team-3-people');
  expect(text).toMatch(/just now|minute/);
  expect(await row.getByRole('time').last().getAttribute('datetime')).toMatch(/^\d{4}-.*Z$/);
  expect(await page.getByRole('button', { name: /^In sync 11$/ }).count()).toBe(1);
  // A second click: the resource and its fields are on the page of the application.
  await row.getByRole('link', { name: 'app-3' }).click();
  expect((await addressOf(page)).pathname).toBe('/applications/app-3');
});

test('search, filters and order are in the address, work from the keyboard, and survive a reload', async () => {
  const page = await visit(world.url, '/applications');
  await settled(page);
  await page.getByRole('row', { name: /app-12/ }).waitFor();
  // The most urgent first.
  expect(await page.getByRole('row').nth(1).innerText()).toContain('Drifted');
  await page.getByRole('searchbox', { name: 'Find applications by name, scope or label' }).focus();
  await page.keyboard.type('team-2');
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  expect((await addressOf(page)).search).toBe('?q=team-2');
  await page.getByRole('button', { name: 'Application', exact: true }).press('Enter');
  await expect.poll(async () => (await addressOf(page)).search).toBe('?q=team-2&sort=name');
  await page.getByRole('button', { name: 'Application', exact: true }).press('Enter');
  await expect.poll(async () => page.getByRole('row').nth(1).innerText()).toContain('app-8');
  await page.reload();
  await settled(page);
  expect(await page.getByRole('row').nth(1).innerText()).toContain('app-8');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByRole('combobox', { name: 'Team' }).selectOption('team-1');
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  await page.getByRole('searchbox', { name: 'Find applications by name, scope or label' }).fill('app-2');
  await page.getByText('No application matches.').waitFor();
  await page.getByRole('button', { name: 'Clear all filters' }).click();
  await expect.poll(() => page.getByRole('row').count()).toBe(13);
  await page.getByRole('button', { name: 'owner=team-1-people' }).first().click();
  await expect.poll(async () => (await addressOf(page)).searchParams.get('label')).toBe('owner=team-1-people');
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  await page.goBack();
  await expect.poll(() => page.getByRole('row').count()).toBe(13);
  expect(await axeViolations(page)).toEqual([]);
});

test('a row changes in its place while the pointer is on the list, and moves only on request', async () => {
  const page = await visit(world.url, '/applications?sort=state');
  await settled(page);
  const names = async () => page.locator('tbody th a').allInnerTexts();
  const before = await names();
  const last = before.at(-1) ?? '';
  await page.getByRole('row', { name: new RegExp(`${last} `) }).hover();
  await world.portolan(['suspend', last, '--reason', 'a move']);
  await page.getByRole('row', { name: new RegExp(`Suspended ${last}`) }).waitFor();
  expect(await names()).toEqual(before);
  // The new order waits behind a button.
  await page.getByRole('button', { name: 'Update the list' }).click();
  await expect.poll(async () => (await names()).indexOf(last)).toBe(1);
  await world.portolan(['resume', last]);
});

test('on a phone, each application is a block, and nothing scrolls sideways', async () => {
  const page = await visit(world.url, '/applications', { width: 360 });
  await settled(page);
  await page.getByText('default/team-3/region-1/12').waitFor();
  expect(await overflow(page)).toBe(0);
});
