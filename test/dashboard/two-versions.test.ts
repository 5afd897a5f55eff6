/** A rolling update: two versions of the dashboard, whose files have different names, behind one address without affinity. */
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { projectRoot } from '../cli/running.ts';
import { type Serving, startServing } from '../server/serving.ts';
import { settled, visit } from './browsing.ts';
import { openWorld, type World } from './world.ts';

/** Returns the version to which the balancer sends a request for a page or for a file. */
type Choice = (path: string) => 'former' | 'next';

const MONITORING = '/applications/shop/monitoring?range=6h';
/** Messages of the browser about files that one version does not have. */
const MISSING = /status of 404|Failed to load (?:resource|module script)|Refused to (?:apply|execute)|MIME type/;

let world: World;
let next: Serving;
let balancer: Awaited<ReturnType<typeof openBalancer>>;
const folder = mkdtempSync(join(tmpdir(), 'portolan-next-version-'));
beforeAll(async () => {
  world = await openWorld();
  await world.settled();
  next = await startServing({ dashboardFolder: renamed(folder) });
  balancer = await openBalancer();
});
beforeEach(() => {
  balancer.choose(inTurn());
});
afterAll(async () => {
  balancer.close();
  await Promise.all([next.close(), world.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Copies the dashboard with other names for all hashed files. */
function renamed(to: string): string {
  cpSync(join(projectRoot, 'dist', 'dashboard'), to, { recursive: true });
  for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) {
    const path = join(to, name);
    if (/\.(?:br|gz)$/.test(name)) rmSync(path);
    if (!['.js', '.css', '.svg', '.html'].includes(extname(name))) continue;
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(-[\w-]{8})\.(?=(?:js|css|svg)\b)/g, '$1next.'));
    renameSync(path, path.replace(/(-[\w-]{8})\.(?=\w+$)/, '$1next.'));
  }
  return to;
}

/** Starts a load balancer that sends each request to either version. The controllers behind it share sessions and data. */
async function openBalancer() {
  let choose: Choice = inTurn();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { url: path = '/', method = 'GET', headers } = request;
    const isApi = path.startsWith('/api/');
    const version = isApi ? 'former' : choose(path);
    if (!isApi) requests.push(path);
    const onward = forward(version === 'next' ? next.url : world.url, { path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy()).pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    choose: (choice: Choice): void => {
      choose = choice;
      requests.length = 0;
    },
    /** Returns how often a page was requested since the last choice. */
    pageLoads: () => requests.filter((path) => !path.startsWith('/assets/')).length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function inTurn(): Choice {
  let count = 0;
  return () => ((count += 1) % 2 === 0 ? 'former' : 'next');
}

const isFile = (path: string): boolean => path.startsWith('/assets/');

const open = (path: string): Promise<Page> => visit(balancer.url, path, { expects: MISSING });

test.for(['/', '/applications', MONITORING])(
  '%s appears within a few reloads, and leaves nothing in the storage',
  async (path) => {
    const page = await open(path);
    await settled(page);
    if (path === MONITORING) await page.locator('canvas').first().waitFor();
    // The document, the page and its charts each need a load to notice a missing file, in each version.
    expect(balancer.pageLoads()).toBeLessThanOrEqual(path === MONITORING ? 8 : 6);
    await expect.poll(() => page.evaluate<number>('sessionStorage.length')).toBe(0);
  },
);

test('an open page of a version that is gone loads its next page from the present version', async () => {
  balancer.choose(() => 'former');
  const page = await open('/');
  await settled(page);
  balancer.choose(() => 'next');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  await settled(page);
  expect(balancer.pageLoads()).toBe(1);
});

test('a page whose files never arrive reloads a few times, and then says so', async () => {
  balancer.choose((path) => (isFile(path) && !path.endsWith('/boot.js') ? 'next' : 'former'));
  const page = await open('/');
  await page.getByText('The dashboard could not be loaded').waitFor();
  const loads = balancer.pageLoads();
  expect(loads).toBeGreaterThan(1);
  expect(loads).toBeLessThanOrEqual(5);
  balancer.choose(() => 'former');
  await page.reload();
  await settled(page);
});

test('a chart that never arrives says so after a few reloads, and a reload shows it once it arrives', async () => {
  balancer.choose((path) => (/\/chart-.*\.js$/.test(path) ? 'next' : 'former'));
  const page = await open(MONITORING);
  await page.getByText('This chart could not be loaded').first().waitFor();
  await settled(page);
  expect(balancer.pageLoads()).toBeLessThanOrEqual(5);
  balancer.choose(() => 'former');
  await page.getByRole('button', { name: 'Reload' }).first().click();
  await page.locator('canvas').first().waitFor();
});

test('while a proxy answers for a controller that is away, an open page says what is missing and does not reload', async () => {
  balancer.choose(() => 'former');
  const page = await visit(balancer.url, '/', { expects: /status of 502|Failed to load/ });
  await settled(page);
  balancer.choose(() => 'former');
  await page.route('**/assets/activity-*', (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }));
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Activity' }).click();
  await page.getByText('This page could not be loaded').waitFor();
  expect(balancer.pageLoads()).toBe(0);
});
