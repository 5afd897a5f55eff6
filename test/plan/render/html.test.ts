import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderHtml } from '../../../src/report/html.ts';
import { openBrowser } from '../../support/browser.ts';
import { HOSTILE, saying } from './hostile.ts';

const golden = join(import.meta.dirname, '..', 'golden');
const plans = readdirSync(golden);
let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

interface Opened {
  readonly page: Page;
  /** Errors of the console and of scripts, and addresses that were asked for besides the page itself. */
  readonly faults: string[];
}

async function open(look: 'light' | 'dark', width: number, show: (page: Page) => Promise<unknown>): Promise<Opened> {
  const page = await browser.newPage({ colorScheme: look, viewport: { width, height: 900 } });
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  await show(page);
  return { page, faults };
}

function openGolden(plan: string, look: 'light' | 'dark', width: number): Promise<Opened> {
  return open(look, width, async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const url = pathToFileURL(join(golden, plan, 'plan.html')).href;
    await page.goto(url);
    expect(asked).toEqual([url]);
  });
}

/** Runs in the page: the texts with less contrast to what is behind them than people need. */
const FAINT_TEXTS = `(() => {
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((channel) => {
      const share = channel / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    if (element === null) return 'rgb(255, 255, 255)';
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 ? behind(element.parentElement) : color;
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .flatMap((element) => {
      const text = luminance(getComputedStyle(element).color);
      const ground = luminance(behind(element));
      const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
      return ratio >= 4.5 ? [] : [element.textContent + ': ' + ratio.toFixed(2)];
    });
})()`;

const LOOKS = [
  ['light', 1100],
  ['dark', 1100],
  ['light', 360],
  ['dark', 360],
] as const;

for (const [look, width] of LOOKS) {
  test.for(plans)(
    `%s in a browser, ${look}, ${width} wide: nothing is asked for, nothing is faint, nothing sticks out`,
    async (plan) => {
      const { page, faults } = await openGolden(plan, look, width);
      expect(faults).toEqual([]);
      expect(await page.evaluate(FAINT_TEXTS)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await page.close();
    },
  );
}

test.for(plans)('%s: title, headings and tables are those of the plan', async (plan) => {
  const { page } = await openGolden(plan, 'light', 1100);
  const document = JSON.parse(readFileSync(join(golden, plan, 'plan.json'), 'utf8'));
  const { scopes, digest } = (document.plan ?? document) as {
    scopes: { application: string; actions: { resource: string; summary: string }[] }[];
    digest: string;
  };
  const heading = await page.locator('h1').innerText();
  expect(await page.title()).toBe(`${heading} · default · Portolan`);
  expect(await page.locator('h1').count()).toBe(1);
  expect(await page.locator('main details > summary h2').allInnerTexts()).toEqual(
    scopes.map((scope) => scope.application),
  );
  const text = await page.locator('body').innerText();
  if (plan !== 'empty') expect(text).toContain(digest);
  for (const { summary, resource } of scopes.flatMap((scope) => scope.actions)) {
    expect(text).toContain(summary);
    expect(text).toContain(resource);
  }
  expect(await page.locator('table:not(:has(caption))').count()).toBe(0);
  await page.close();
});

test('it can be folded and read without a script, and prints what is folded', async () => {
  const { page } = await openGolden('mixed', 'light', 1100);
  const row = page.locator('p', { hasText: 'delete rule old.example.com/' });
  expect(await row.isVisible()).toBe(true);
  await page.locator('summary').click();
  expect(await row.isVisible()).toBe(false);
  await page.emulateMedia({ media: 'print' });
  expect(await row.isVisible()).toBe(true);
  await page.close();
});

test.for(HOSTILE)('no text does anything in it: %s', async (text) => {
  const { page, faults } = await open('light', 1100, (opened) => opened.setContent(renderHtml(saying(text), '0.0.0')));
  expect(faults).toEqual([]);
  expect(await page.title()).not.toBe('taken');
  expect(await page.locator('script, img, svg, h1:has-text("taken")').count()).toBe(0);
  expect(await page.locator('h1').count()).toBe(1);
  expect(await page.locator('main details').count()).toBe(1);
  await page.close();
});

test('even a script that got in would not run: the policy lets nothing through but the one style', async () => {
  const page = renderHtml(saying('x'), '0.0.0');
  const smuggled = page.replace(
    '</main>',
    '<script>document.title="taken"</script><img src="http://127.0.0.1:9/x"></main>',
  );
  const { page: opened, faults } = await open('light', 1100, (one) => one.setContent(smuggled));
  expect(await opened.title()).not.toBe('taken');
  expect(faults.join('\n')).toMatch(/Content Security Policy/);
  expect(await opened.evaluate('getComputedStyle(document.body).margin')).toBe('0px');
  await opened.close();
});
