import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOf, settled, visit } from './browsing.ts';
import { openLine } from './line.ts';
import { openWorld, TOKENS, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Messages of the browser about requests that a test makes fail. */
const LOST = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|status of (?:401|503)/;

/** Marks the document, which a reload would replace. */
async function mark(page: Page): Promise<void> {
  await page.evaluate('window.isTheSame = true');
}

async function isMarked(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('window.isTheSame === true');
}

const live = (page: Page) => page.locator('.live').getByText('Live', { exact: true });

/** Makes an event with a text of its own. */
async function makeEvent(reason: string): Promise<void> {
  await world.portolan(['suspend', 'blog', '--reason', reason]);
  await world.portolan(['resume', 'blog']);
}

test('an event reaches the page without a reload, and new rows wait while the pointer is on the list', async () => {
  const page = await visit(world.url, '/activity');
  await settled(page);
  await live(page).waitFor();
  await mark(page);
  await makeEvent('the first reason');
  await page.getByText('the first reason').waitFor();

  await page.getByRole('listitem').getByText('controller.started').hover();
  await makeEvent('the second reason');
  const button = page.getByRole('button', { name: /^\d+ new$/ });
  await button.waitFor();
  expect(await page.getByText('the second reason').count()).toBe(0);
  await button.click();
  await page.getByText('the second reason').waitFor();
  expect(await isMarked(page)).toBe(true);
});

test('an update keeps the focus, and moves nothing while the focus is in the list', async () => {
  const page = await visit(world.url, '/activity');
  await settled(page);
  await live(page).waitFor();
  const link = page.getByRole('listitem').filter({ hasText: 'source.accepted' }).getByRole('link').first();
  await link.focus();
  const place = await link.boundingBox();
  await makeEvent('while the focus is in the list');
  await page.getByRole('button', { name: /^\d+ new$/ }).waitFor();
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe(await link.textContent());
  expect(await link.boundingBox()).toEqual(place);
});

test('a paused list lets everything wait, and the filters of the address hold for new events', async () => {
  const page = await visit(world.url, '/activity?type=application.suspended');
  await settled(page);
  await live(page).waitFor();
  await makeEvent('before the pause');
  await page.getByText('before the pause').waitFor();
  expect(await page.getByText('application.resumed').count()).toBe(0);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('heading', { level: 1 }).hover();
  await makeEvent('during the pause');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await page.getByText('during the pause').count()).toBe(0);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('during the pause').waitFor();
});

test('an event has its own address', async () => {
  const page = await visit(world.url, '/activity');
  await settled(page);
  await page.getByRole('listitem').filter({ hasText: 'source.accepted' }).getByRole('link').last().click();
  const card = page.getByRole('region', { name: 'Event', exact: true });
  await card.getByText('source.accepted').waitFor();
  const { pathname, search } = await addressOf(page);
  const copy = await visit(world.url, pathname + search);
  await copy.getByRole('region', { name: 'Event', exact: true }).getByText('source.accepted').waitFor();
  const gone = await visit(world.url, '/activity?event=none');
  await gone.getByText('This event is no longer available.').waitFor();
});

test('a tab that nobody sees loads nothing until it is visible again', async () => {
  const page = await visit(world.url, '/');
  await settled(page);
  await live(page).waitFor();
  const show = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await show(true);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  // What the tab passes on to others shows that the event has arrived.
  await page.evaluate(
    `new BroadcastChannel('portolan events /').addEventListener('message', ({ data }) => {
      if (data.event?.message.includes('while hidden')) window.hasArrived = true;
    })`,
  );
  await makeEvent('while hidden');
  await expect.poll(() => page.evaluate('window.hasArrived')).toBe(true);
  expect(requests).not.toContain('/api/v1/attention');
  await show(false);
  await expect.poll(() => requests).toContain('/api/v1/attention');
});

test('a lost connection: the page says so, retries, and catches up without a reload', async () => {
  const line = await openLine(world.url);
  const page = await visit(line.url, '/activity', { expects: LOST });
  await settled(page);
  await live(page).waitFor();
  await mark(page);
  await line.cut();
  await page.getByText('The connection to the controller is lost.').waitFor();
  await page.getByText('Offline', { exact: true }).waitFor();
  await makeEvent('while the line is cut');
  expect(await page.getByText('while the line is cut').count()).toBe(0);
  await line.mend();
  await page.getByText('while the line is cut').waitFor();
  await live(page).waitFor();
  expect(await page.getByText('The connection to the controller is lost.').count()).toBe(0);
  expect(await isMarked(page)).toBe(true);
});

test('the tabs of a browser share one stream, and another tab continues it', async () => {
  const first = await visit(world.url, '/healthz');
  const streams: string[] = [];
  const context = first.context();
  context.on('request', (request) => {
    if (request.url().includes('/events/stream')) streams.push(request.url());
  });
  await first.goto('/activity');
  await settled(first);
  await live(first).waitFor();
  const second = await context.newPage();
  await second.goto('/activity');
  await settled(second);
  await live(second).waitFor();
  await makeEvent('in both tabs');
  await first.getByText('in both tabs').waitFor();
  await second.getByText('in both tabs').waitFor();
  expect(streams.length).toBe(1);
  await first.close();
  await makeEvent('in the tab that is left');
  await second.getByText('in the tab that is left').waitFor();
  expect(streams.length).toBe(2);
});

test('a tab whose session has ended leaves the stream to one that signs in', async () => {
  const line = await openLine(world.url);
  const first = await visit(line.url, '/activity', { expects: LOST });
  await settled(first);
  await live(first).waitFor();
  const second = await first.context().newPage();
  await second.goto('/activity');
  await settled(second);
  await line.cut();
  await first.context().clearCookies();
  await line.mend();
  await first.getByText('Your session has ended').waitFor();
  await second.getByText('Your session has ended').waitFor();
  await second.getByLabel('Token').fill(TOKENS.admin);
  await second.getByRole('button', { name: /^Sign in/ }).click();
  await live(second).waitFor();
  await makeEvent('after the second sign-in');
  await second.getByText('after the second sign-in').waitFor();
});

test('a controller restart under an open page: the page says so, and shows the new state after the sign-in', async () => {
  const page = await visit(world.url, '/activity', { expects: LOST });
  await settled(page);
  await live(page).waitFor();
  await world.stop();
  await page.getByText('The connection to the controller is lost.').waitFor();
  await page.getByText('Offline', { exact: true }).waitFor();
  // What was loaded stays readable.
  await page.getByText('controller.started').waitFor();
  await world.start();
  // The page may find the controller by itself before the click.
  const retry = page.getByRole('button', { name: 'Retry now' });
  await retry.click({ timeout: 5_000 }).catch(() => {});
  await page.getByLabel('Token').fill(TOKENS.admin);
  await page.getByRole('button', { name: /^Sign in/ }).click();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  expect((await addressOf(page)).pathname).toBe('/activity');
  await live(page).waitFor();
  await page.getByText('controller.started').waitFor();
});
