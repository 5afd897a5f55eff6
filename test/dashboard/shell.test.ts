import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, axeViolations, settled, visit } from './browsing.ts';
import { addressIn } from './pages.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Name of the element with the focus. */
async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
  );
}

test('a first look: the overview, and the way to the other pages', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  expect(await page.title()).toBe('Overview · Portolan');
  await page.locator('.live').getByText('Live', { exact: true }).waitFor();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Activity' }).click();
  await settled(page);
  expect(await page.title()).toBe('Activity · Portolan');
  // The new page begins at its heading, also for screen readers.
  expect(await focused(page)).toBe('Activity');
  expect(await pages.locator('[aria-current=page]').innerText()).toBe('Activity');
  expect(await axeViolations(page)).toEqual([]);
  await page.goBack();
  await settled(page);
  expect(await page.title()).toBe('Overview · Portolan');
});

test('the way back leads to where the page was scrolled', async () => {
  const page = await visit(world.url, '/activity', { context: { viewport: { width: 360, height: 300 } } });
  await settled(page);
  const link = page.getByRole('listitem').filter({ hasText: 'source.accepted' }).getByRole('link').first();
  await link.scrollIntoViewIfNeeded();
  const scrollY = () => page.evaluate<number>('Math.round(scrollY)');
  const before = await scrollY();
  expect(before).toBeGreaterThan(100);
  await link.click();
  await page.waitForURL('**/commits/**');
  await settled(page);
  expect(await scrollY()).toBe(0);
  await page.goBack();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  await expect.poll(scrollY).toBe(before);
});

test('without a mouse: skip link, navigation, search, keys and a dialog that returns the focus', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('content');
  expect((await addressOf(page)).pathname).toBe('/');

  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByText('Search').waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'hidden' });
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('content');

  await page.keyboard.press('/');
  expect(await focused(page)).toBe('Search applications, or paste a commit');
  await page.keyboard.type('shop/?');
  await page.keyboard.press('Enter');
  expect((await addressOf(page)).href).toBe(`${world.url}/applications?q=shop%2F%3F`);
  // The heading of the new page gets the focus.
  await expect.poll(() => focused(page)).not.toBe('Search applications, or paste a commit');
  await page.keyboard.press('/');
  // One that exists: the answer about another one would be an error in the console, if it came in time.
  const ofCommit = await addressIn(world, { name: 'commit', address: '/commits/HEAD' });
  await page.keyboard.type(ofCommit.replace('/commits/', ''));
  await page.keyboard.press('Enter');
  expect((await addressOf(page)).href).toBe(world.url + ofCommit);

  await page.goto('/');
  await settled(page);
  const reached: string[] = [];
  for (let step = 0; step < 8; step += 1) {
    await page.keyboard.press('Tab');
    reached.push(await focused(page));
  }
  expect(reached).toEqual([
    'Skip to the content',
    'Portolan, overview',
    'Overview',
    'Applications',
    'Attention',
    'Activity',
    'Platform',
    'Search applications, or paste a commit',
  ]);
  // The ring of the focus is visible.
  const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
  expect(outline).toBe('solid');
});

test('the theme follows the system, or the choice of the user, which stays', async () => {
  const page = await visit(world.url, '/', { theme: 'dark' });
  await settled(page);
  const canvas = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
  const dark = await canvas();
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await canvas();
  expect(light).not.toBe(dark);
  await page.getByRole('button', { name: 'Theme: system' }).click();
  await page.getByRole('button', { name: 'Theme: light' }).click();
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
  expect(await canvas()).toBe(dark);
  await page.reload();
  await settled(page);
  expect(await canvas()).toBe(dark);
  // Nothing else is stored: no token, no data.
  expect(await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe(
    '{"portolan theme":"dark"}',
  );
});

test('on a narrow screen the pages are in a menu', async () => {
  const page = await visit(world.url, '/', { width: 360 });
  await settled(page);
  const link = page.getByRole('link', { name: 'Platform' });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await link.click();
  await settled(page);
  expect((await addressOf(page)).href).toBe(`${world.url}/platform`);
  expect(await link.isVisible()).toBe(false);
});

test('an address without a page says so', async () => {
  const page = await visit(world.url, '/nothing/here', { expects: /status of 404/ });
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'overview' }).click();
  await settled(page);
  expect(await page.title()).toBe('Overview · Portolan');
});

test('a stranger sees the sign-in page only, and no data is requested without a session', async () => {
  const page = await visit(world.url, '/activity?severity=error', { as: null, expects: /status of 401/ });
  await page.getByLabel('Token').waitFor();
  expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
  expect(await page.content()).not.toContain('shop');
  expect((await addressOf(page)).pathname).toBe('/sign-in');
});

test('a file that does not arrive: the page says so, and a reload shows it', async () => {
  const page = await visit(world.url, '/', { expects: /Failed to load resource|net::ERR_FAILED/ });
  await settled(page);
  await page.route('**/assets/activity-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByText('This page could not be loaded').waitFor();
  await page.unroute('**/assets/activity-*.js');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
});

test('a bug in a page leaves the rest of the dashboard, and a message in its place', async () => {
  const page = await visit(world.url, '/activity', { expects: /Cannot destructure property|Cannot read properties/ });
  await settled(page);
  // An answer that no controller sends.
  await page.evaluate(
    `window.fetch = async () => new Response('{"items":[null],"nextCursor":null}', { headers: { 'content-type': 'application/json' } })`,
  );
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByText('This page failed').waitFor();
  await page.getByRole('link', { name: 'Platform' }).waitFor();
});
