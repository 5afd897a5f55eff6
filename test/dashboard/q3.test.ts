import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import { eventually, type FleetWorld, openFleetWorld } from './fleet-world.ts';

let world: FleetWorld;
let file = '';
beforeAll(async () => {
  world = await openFleetWorld();
  await world.until((counts) => counts['in-sync'] === 12);
  const fault = { type: 'status', when: 'before', status: 403, body: { msg: 'no' } } as const;
  world.sandbox.setFaults(['**/apps/5', '**/apps/5/**'].map((path) => ({ path, fault })));
  await world.portolan(['sync', 'app-5']);
  await world.until((counts) => counts['failing'] === 1);
  file = world.componentFile(2);
  const faulty = (world.files.get(file) ?? '').replace('spec:\n', 'spec:\n  sise: 3\n');
  world.commit({ [file]: faulty }, 'Break it');
  await eventually(() => world.log().includes('was rejected'));
});
afterAll(() => world.close());

test('question 3: what requires manual action, with its place and its remedy', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Attention' }).click();
  await settled(page);
  const items = page.getByRole('region', { name: 'Items that require manual action' }).getByRole('listitem');
  const source = items.filter({ hasText: 'Source not accepted' });
  const text = await source.first().innerText();
  expect(text).toContain(`${file}:6:3`);
  expect(text).toContain('there is no field "sise" here');
  expect(text).toContain('Correct the manifests and commit again.');
  // The oldest first.
  const failing = await items.first().innerText();
  expect(failing).toMatch(/^Failing/);
  expect(failing).toContain('Application/app-5');
  expect(failing).toContain('portolan events --application app-5');
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('button', { name: /^Failing 1$/ }).press('Enter');
  await expect.poll(() => source.count()).toBe(0);
  expect((await addressOf(page)).search).toBe('?kind=failure');
  const run = await world.portolan(['attention']);
  expect(run).toMatchObject({ code: 4, out: expect.stringContaining(`${file}:6:3: there is no field "sise" here`) });
});

test('it goes by itself when its cause is gone, and an empty page says so', async () => {
  const page = await visit(world.url, '/attention', { width: 360 });
  await settled(page);
  await page.getByText('there is no field "sise" here').first().waitFor();
  expect(await overflow(page)).toBe(0);
  world.sandbox.setFaults([]);
  world.commit({ [file]: world.files.get(file) }, 'Repair it');
  await world.portolan(['sync', 'app-5']);
  await page.getByText('Nothing requires manual action.').waitFor();
});
