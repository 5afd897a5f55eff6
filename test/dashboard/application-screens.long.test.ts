import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, overflow, screenshot, settled, visit } from './browsing.ts';
import { alterPort, detailsOf, scene, until, untilReady } from './application-scene.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let large: World;
beforeAll(async () => {
  world = await openWorld();
  await untilReady(world, 'shop');
  await world.api('/api/v1/applications/shop/suspend', {
    method: 'POST',
    body: '{"reason":"the database moves, see OPS-17"}',
  });
  alterPort(world, { alias: 'HAND' });
  world.sandbox.alter(({ rules }) => {
    for (const row of rules.all()) if (row.type === 1) rules.put({ ...row, weight: 7 });
  });
  await world.api('/api/v1/applications/shop/sync', { method: 'POST', body: '{}' });
  await until(async () => (await detailsOf(world, 'shop')).resources.some(({ drift }) => drift !== null));
  large = await scene(60);
});
afterAll(async () => {
  await world.close();
  await large.close();
});

const PAGES = [
  ['application', '/applications/shop'],
  ['application-resource', '/applications/shop?resource=Component/shop-web'],
  ['application-port', '/applications/shop?resource=Component/shop-web&part=ports%5B8080%5D'],
  ['application-plan', '/applications/shop/plan'],
  ['application-history', '/applications/shop/history'],
] as const;

for (const theme of ['light', 'dark'] as const) {
  for (const width of [360, 1280, 2560]) {
    test.for(PAGES)(
      `%s, ${theme}, ${width} px wide: a picture, no violation, no horizontal scrolling`,
      async ([name, path]) => {
        const page = await visit(world.url, path, { theme, width });
        await settled(page);
        await screenshot(page, `${name}-${theme}-${width}`);
        expect(await axeViolations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
      },
    );
  }
}

test.for([360, 1280, 2560])('an application with 60 rules, %i px wide', async (width) => {
  for (const [name, path] of PAGES) {
    const page = await visit(large.url, path, { width });
    await settled(page);
    await screenshot(page, `large-${name}-light-${width}`);
    expect(await overflow(page)).toBe(0);
  }
});
