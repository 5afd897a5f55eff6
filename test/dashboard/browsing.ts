import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import { projectRoot } from '../cli/running.ts';
import { TOKENS, type User } from './world.ts';

let browser: Promise<Browser> | undefined;

/** The one Chromium of all browser tests. */
export function openBrowser(): Promise<Browser> {
  browser ??= chromium.connect(inject('browser'));
  return browser;
}

export interface VisitOptions {
  /** Default: admin. null: signed out. */
  readonly as?: User | null;
  /** In place of a user's of the world. */
  readonly token?: string;
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  readonly context?: BrowserContextOptions;
  /** Messages of the console that the test provokes, for example of a refused request. */
  readonly expects?: RegExp;
}

/**
 * Opens a page of the dashboard in a browser of its own, signed in. The test fails on any message of the console, which includes
 * violations of the policy, and on any error of a script.
 */
export async function visit(url: string, path: string, options: VisitOptions = {}): Promise<Page> {
  const { as = 'admin', width = 1280, theme = 'light', expects } = options;
  const token = options.token ?? (as === null ? undefined : TOKENS[as]);
  const context = await (await openBrowser()).newContext({
    baseURL: url,
    viewport: { width, height: 900 },
    colorScheme: theme,
    timezoneId: 'UTC',
    locale: 'en-GB',
    ...options.context,
  });
  const faults: string[] = [];
  const note = (text: string, address = ''): void => {
    if (expects?.test(text) !== true) faults.push(`${text} ${address}`.trim());
  };
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(message.text(), message.location().url);
  });
  context.on('weberror', (error) => note(error.error().message));
  const unanswered = new Set<string>();
  const nameOf = (request: Request): string => `${request.method()} ${request.url()}`;
  const answered = (request: Request): boolean => unanswered.delete(nameOf(request));
  context.on('request', (request) => unanswered.add(nameOf(request)));
  context.on('requestfinished', answered).on('requestfailed', answered);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') for (const page of context.pages()) await printPage(page, unanswered);
    await context.close();
    expect(faults, 'messages of the console and errors of scripts').toEqual([]);
  });
  if (token !== undefined) await signIn(context, url, token);
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

/** Prints what a page showed when its test failed. */
async function printPage(page: Page, unanswered: ReadonlySet<string>): Promise<void> {
  const text = await page.innerText('body', { timeout: 5_000 }).catch(String);
  console.log(`${page.url()} without answers: ${[...unanswered].join(', ') || 'none'}\n${text}`);
}

/** Starts a session of a browser, as the sign-in page does. */
export async function signIn(context: BrowserContext, url: string, token: string): Promise<void> {
  const response = await context.request.post(`${url}/api/v1/session`, {
    headers: { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' },
    data: { token },
  });
  expect(response.status(), await response.text()).toBe(204);
}

/** Waits until a page shows its content. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
}

/**
 * Returns the address of a page, as the page itself has it: what a key or a click changed is in it. `page.url()` waits for a message
 * that may come later than the end of the key.
 */
export async function addressOf(page: Page): Promise<URL> {
  return new URL(await page.evaluate<string>('location.href'));
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeViolation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Returns the violations of the rules for accessibility. The checker runs through the protocol, as the policy permits no script. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axeSource });
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: 'axe.run(document).then(({ violations }) => JSON.stringify(violations))',
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  expect(exceptionDetails).toBeUndefined();
  const found = JSON.parse(String(result.value)) as readonly AxeViolation[];
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ''}`),
  );
}

/** Number of pixels by which a page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** Where screenshots are, for people to look at. */
export const screenshots = join(projectRoot, '.vitest', 'screenshots');

/** Writes a picture of the whole page: `overview-dark-360.png`. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true, animations: 'disabled' });
}
