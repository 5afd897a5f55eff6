import { afterAll, beforeAll, expect, test } from 'vitest';
import { alterPort, detailsOf, scene, shopDocuments, until } from './application-scene.ts';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import type { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await scene(3);
});
afterAll(() => world.close());

test('question 4: the three values of a field, and who caused the difference', async () => {
  await world.portolan(['suspend', 'shop', '--reason', 'a test']);
  alterPort(world, { alias: 'HAND' });
  await world.portolan(['sync', 'shop']);
  await until(async () => (await detailsOf(world, 'shop')).resources.some(({ drift }) => drift !== null));
  // From a cold load: the application, and its port.
  const page = await visit(world.url, '/applications/shop');
  await settled(page);
  const tree = page.getByRole('region', { name: 'Resource tree' });
  await tree.getByRole('link', { name: /port 8080/ }).click();
  const panel = page.getByRole('complementary', { name: 'Details of Component/shop-web' });
  const row = panel.getByRole('row', { name: /ports\[8080\]\.alias/ });
  await row.waitFor();
  expect(await row.getByRole('cell').allInnerTexts()).toEqual(['"WEB"', '"HAND"', '"WEB"']);
  const why = await panel.getByText('changed on the platform by a user or a program on the platform').innerText();
  expect(why).toContain('first seen');
  expect((await addressOf(page)).search).toContain('part=ports%5B8080%5D');

  // A commit changes the same field: both are named.
  const commit = world.commit({ 'web.yaml': (shopDocuments(3)['web.yaml'] ?? '').replace('WEB', 'SITE') }, 'Rename it');
  await panel.getByText(/changed in git, and drifted on the platform by/).waitFor();
  expect(await row.getByRole('cell').allInnerTexts()).toEqual(['"SITE"', '"HAND"', '"WEB"']);
  const both = await panel.getByText(/changed in git, and drifted on the platform by/).innerText();
  expect(both).toContain(commit.slice(0, 12));
  expect(both).toContain('Ann');
  expect(await panel.innerText()).toContain('web.yaml:1:1');
  expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);

  // The same on the command line.
  const status = await world.portolan(['status', 'Component/shop-web']);
  expect(status.out).toContain('"SITE"');
  expect(status.out).toContain('"HAND"');
  expect(status.out).toContain('web.yaml:1:1');
});

test('the tree works with the keyboard alone, and each resource has its own address', async () => {
  const page = await visit(world.url, '/applications/shop?resource=HttpGatewayRule/shop-01');
  await settled(page);
  const panel = page.getByRole('complementary', { name: 'Details of HttpGatewayRule/shop-01' });
  expect(await panel.innerText()).toContain('rules.yaml:1:1');
  await panel.getByRole('link', { name: 'Close the details' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Summary' }).waitFor();
  const link = page.getByRole('region', { name: 'Resource tree' }).getByRole('link', { name: /shop-web/ });
  await link.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Details of Component/shop-web' }).waitFor();
});
