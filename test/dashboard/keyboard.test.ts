import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolations, settled, visit } from './browsing.ts';
import { addressIn, EXAMPLES } from './pages.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Runs in the page: notes which elements get the focus, and those that do not show it. */
const WATCH = `(() => {
  window.reached = new Set();
  window.unseen = [];
  addEventListener('focusin', ({ target }) => {
    window.reached.add(target);
    const { outlineStyle, outlineWidth } = getComputedStyle(target);
    if (outlineStyle === 'none' || outlineWidth === '0px') window.unseen.push(target.outerHTML.slice(0, 200));
  });
})()`;

/** The visible controls of the page. */
const CONTROLS = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && element.tabIndex >= 0)`;

test.for(EXAMPLES)(
  '$name: the Tab key reaches every control, which shows the focus; axe finds nothing',
  async (example) => {
    const who = example.name === 'sign-in' ? { as: null, expects: /status of 401/ } : {};
    const page = await visit(world.url, await addressIn(world, example), who);
    await settled(page);
    expect(await axeViolations(page)).toEqual([]);
    await page.evaluate(WATCH);
    const count = await page.evaluate<number>(`${CONTROLS}.length`);
    expect(count).toBeGreaterThan(0);
    // A radio group is one stop for Tab, and the browser itself may take some.
    for (let step = 0; step < count + 5; step += 1) await page.keyboard.press('Tab');
    const missed = `${CONTROLS}.filter((element) => !reached.has(element) && element.type !== 'radio').map(({ outerHTML }) => outerHTML)`;
    expect(await page.evaluate<string[]>(missed)).toEqual([]);
    expect(await page.evaluate<string[]>('window.unseen')).toEqual([]);
  },
);
