import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, overflow, screenshot, settled, visit } from './browsing.ts';
import { openFleet } from './fleet.ts';
import { addressIn, EXAMPLES } from './pages.ts';
import type { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openFleet();
});
afterAll(() => world.close());

for (const theme of ['light', 'dark'] as const) {
  for (const width of [360, 1280, 2560]) {
    test.for(EXAMPLES)(
      `$name, ${theme}, ${width} px wide: a picture, no violation, no horizontal scrolling`,
      async (example) => {
        const address = await addressIn(world, example);
        const who = example.name === 'sign-in' ? { as: null, expects: /status of 401/ } : {};
        const page = await visit(world.url, address, { theme, width, ...who });
        await settled(page);
        await screenshot(page, `${example.name}-${theme}-${width}`);
        expect(await axeViolations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
      },
    );
  }
}
