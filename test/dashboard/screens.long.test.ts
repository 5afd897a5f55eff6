import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, overflow, screenshot, settled, visit } from './browsing.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Pages by the name of their pictures. */
const PAGES = [
  ['overview', '/'],
  ['activity', '/activity'],
  ['activity-filtered', '/activity?severity=warning'],
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
