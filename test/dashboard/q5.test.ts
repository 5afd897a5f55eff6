import { afterAll, beforeAll, expect, test } from 'vitest';
import { alterPort, livePort, scene, shopDocuments, until, untilReady } from './application-scene.ts';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import type { World } from './world.ts';

let world: World;
let renamed = '';
beforeAll(async () => {
  world = await scene(3);
  renamed = world.commit({ 'web.yaml': (shopDocuments(3)['web.yaml'] ?? '').replace('WEB', 'SITE') }, 'Rename it');
  await until(async () => livePort(world).alias === 'SITE');
  await untilReady(world, 'shop');
  alterPort(world, { alias: 'HAND' });
  await world.portolan(['sync', 'shop']);
  await until(async () => livePort(world).alias === 'SITE');
  await untilReady(world, 'shop');
});
afterAll(() => world.close());

test('question 5: what happened to a port, when, and why, back to its first change', async () => {
  const page = await visit(world.url, '/applications/shop');
  await settled(page);
  await page
    .getByRole('region', { name: 'Resource tree' })
    .getByRole('link', { name: /port 8080/ })
    .click();
  const panel = page.getByRole('complementary', { name: 'Details of Component/shop-web' });
  await panel.getByRole('link', { name: 'The whole history' }).click();
  await settled(page);
  const entries = page.getByRole('region', { name: 'History' }).getByRole('listitem');
  const texts = (await entries.allInnerTexts()).filter((text) => !text.startsWith('~') && !text.startsWith('ports['));
  expect(texts[0]).toMatch(/^Drift corrected/);
  expect(texts.join('\n')).toContain('ports[8080].alias is "HAND", should be "SITE"');
  const run = texts.find((text) => text.includes('"WEB" → "SITE"')) ?? '';
  expect(run).toContain(renamed.slice(0, 12));
  expect(run).toContain('Ann <ann@example.com>');
  expect(run).toContain('(changed in git)');
  expect(texts.at(-1)).toContain('new in git');
  // Nothing of the rules.
  expect(texts.join('\n')).not.toContain('shop-01');
  expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);

  // Each entry has its own address.
  await entries.first().getByRole('link').first().click();
  expect((await addressOf(page)).searchParams.get('entry')).toMatch(/^corrected-/);

  const history = await world.portolan(['history', 'Component/shop-web']);
  expect(history.out).toContain('ports[8080].alias: "WEB" → "SITE"');
  expect(history.out).not.toContain('shop-01');
});

test('a removed rule keeps its history', async () => {
  world.commit({ 'rules.yaml': shopDocuments(2)['rules.yaml'] }, 'Remove a rule');
  await until(async () => (await world.api<{ items: { event: string }[] }>('/api/v1/history')).items.length > 0);
  const page = await visit(world.url, '/applications/shop/history?resource=HttpGatewayRule/shop-03', { width: 360 });
  await settled(page);
  await page.getByText(/create rule shop-03\.example\.com/).waitFor();
  expect(await overflow(page)).toBe(0);
});
