import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../src/server/route.ts';
import { routes } from '../../src/server/routes/table.ts';
import { PORTS, rule, shop, web } from '../cli/scene.ts';
import { settled, visit } from './browsing.ts';
import { openWorld, type World } from './world.ts';

/**
 * Pages of other origins, in a browser that is signed in as admin. `127.0.0.1` on another port is another origin of the same site, so
 * that the browser adds the cookie even though it is `SameSite=Strict`; `localhost` is another site.
 */
const HOSTS = ['127.0.0.1', 'localhost'] as const;

let world: World;
let evil: ReturnType<typeof createServer>;
let evilPort: number;
beforeAll(async () => {
  // Nothing of it has to become ready, so the history changes only if an attack succeeds.
  world = await openWorld({ manifests: { 'shop.yaml': shop(web(PORTS), rule('www', 'www.example.com')) } });
  evil = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><title>Evil</title><body><iframe name="hidden"></iframe>');
  }).listen(0);
  await once(evil, 'listening');
  evilPort = (evil.address() as AddressInfo).port;
});
afterAll(async () => {
  evil.close();
  await world.close();
});

/** What Chromium says of requests that fail, which is what the test wants. */
const REFUSALS = /./;

/** An attacking page in a browser with a session, and the requests that the server got from it. */
async function attack(host: (typeof HOSTS)[number]) {
  const dashboard = await visit(world.url, '/', { expects: REFUSALS });
  await settled(dashboard);
  const page = await dashboard.context().newPage();
  await page.goto(`http://${host}:${evilPort}/`);
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(world.url)) requests.push(request);
  });
  return { dashboard, page, requests };
}

/** Every change of the API, with a name that exists. */
const CHANGES = routes
  .filter(({ method }) => method === 'POST')
  .map(({ path, ...rest }): Route => ({ ...rest, path: path.replace('{name}', 'shop').replaceAll(/\{\w+\}/g, 'x') }));

/** Bodies by operation, so that a request would be carried out if it were let in. */
const BODY = JSON.stringify({
  reason: 'x',
  digest: 'abcdef0123',
  files: [],
  token: 'x',
  returnTo: '/',
  decision: 'applied',
});

/** Tries a change in every way in which a page can send one. */
const TRY_CHANGE = `async ({ url, body, own }) => {
  const tries = [
    fetch(url, { method: 'POST', credentials: 'include', mode: 'no-cors', body, headers: { 'content-type': 'text/plain' } }),
    fetch(url, { method: 'POST', credentials: 'include', body, headers: { 'content-type': 'application/json' } }),
    fetch(url, { method: 'POST', credentials: 'include', body: new URLSearchParams({ reason: 'x' }) }),
    fetch(url, { method: 'POST', credentials: 'include', mode: 'no-cors' }),
    fetch(url, { method: 'POST', credentials: 'include', mode: 'no-cors', referrerPolicy: 'unsafe-url', referrer: own }),
  ];
  navigator.sendBeacon(url, body);
  navigator.sendBeacon(url, new Blob([body], { type: 'application/json' }));
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const form = document.createElement('form');
    Object.assign(form, { action: url, method: 'POST', enctype, target: 'hidden' });
    const field = document.createElement('input');
    // A JSON document as the name and the value of a field.
    Object.assign(field, { name: body.slice(0, -2) + ',"x":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    const loaded = new Promise((resolve) => document.querySelector('iframe').addEventListener('load', resolve, { once: true }));
    form.submit();
    await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, 5000))]);
  }
  const results = await Promise.allSettled(tries);
  return results.map((result) => result.status === 'fulfilled' ? result.value.type + ' ' + result.value.status : 'failed');
}`;

async function answers(requests: readonly Request[]): Promise<readonly (number | undefined)[]> {
  return Promise.all(requests.map(async (request) => (await request.response().catch(() => null))?.status()));
}

async function withCookie(requests: readonly Request[]): Promise<readonly Request[]> {
  const flags = await Promise.all(
    requests.map(async (request) => (await request.allHeaders())['cookie']?.includes('portolan-session') === true),
  );
  return requests.filter((_, at) => flags[at]);
}

describe.for(HOSTS)('a page of another origin (%s)', (host) => {
  test('tries every change, and nothing happens', async () => {
    const { dashboard, page, requests } = await attack(host);
    const before = await world.api<{ readonly items: readonly unknown[] }>('/api/v1/history?limit=500');
    const marks = world.log().length;
    for (const { path } of CHANGES) {
      const tried = await page.evaluate<readonly string[]>(
        `(${TRY_CHANGE})(${JSON.stringify({ url: world.url + path, body: BODY, own: page.url() })})`,
      );
      expect(new Set(tried), `${path}: the page learns nothing`).toEqual(new Set(['failed']));
    }
    const statuses = new Set(await answers(requests));
    // Webhooks are open, but need a signature.
    for (const status of statuses) expect([401, 403, 404, undefined]).toContain(status);
    expect(statuses).toContain(403);
    expect(requests.length).toBeGreaterThan(CHANGES.length * 6);
    if (host === '127.0.0.1') expect((await withCookie(requests)).length).toBeGreaterThanOrEqual(CHANGES.length);
    const log = world.log().slice(marks);
    expect(log).not.toMatch(/server: command[^\n]*status=2/);
    expect(log).not.toMatch(/server: signed (?:in|out)/);
    expect(await world.api('/api/v1/history?limit=500')).toEqual(before);
    expect((await world.api<{ pause: unknown }>('/api/v1/applications/shop')).pause).toBeNull();
    await dashboard.reload();
    await settled(dashboard);
    expect(new URL(dashboard.url()).pathname, 'still signed in').toBe('/');
  });

  test('reads nothing: not by fetch, script, style, image, stream, frame or window', async () => {
    const { page } = await attack(host);
    const reading = routes
      .filter(({ method, access }) => method === 'GET' && access !== 'anyone')
      .map(({ path }) => world.url + path.replace('{name}', 'shop').replaceAll(/\{\w+\}/g, 'x'));
    const learned = await page.evaluate<Readonly<Record<string, readonly string[]>>>(
      `(${TRY_READ})(${JSON.stringify([...reading, `${world.url}/`])})`,
    );
    for (const [way, results] of Object.entries(learned)) expect(new Set(results), way).toEqual(new Set(['failed']));
  });

  test('shows the dashboard in no frame, and keeps no hold of its window', async () => {
    const { page } = await attack(host);
    const frame = await page.evaluate<string>(
      `(async () => {
        const frame = document.createElement('iframe');
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
        frame.src = ${JSON.stringify(`${world.url}/`)};
        document.body.append(frame);
        await loaded;
        try { return frame.contentWindow.document.title; } catch { return 'no access'; }
      })()`,
    );
    expect(frame).toBe('no access');
    const inner = page.frames().find((one) => one !== page.mainFrame() && one.name() !== 'hidden');
    expect(inner?.url()).toMatch(/^chrome-error:/);
    const opened = page.context().waitForEvent('page');
    await page.evaluate(`void (window.opened = window.open(${JSON.stringify(`${world.url}/`)}))`);
    const popup = await opened;
    await settled(popup);
    expect(await popup.evaluate<boolean>('window.opener === null')).toBe(true);
    // Another process of the browser learns that its window is gone.
    await expect.poll(() => page.evaluate<boolean>('window.opened.closed')).toBe(true);
  });
});

const TRY_READ = `async (urls) => {
  const outcome = (promise) => promise.then(() => 'learned', () => 'failed');
  const element = (tag, changes) => new Promise((resolve, reject) => {
    const made = Object.assign(document.createElement(tag), changes, { onload: resolve, onerror: reject });
    document.body.append(made);
  });
  const stream = (url) => new Promise((resolve, reject) => {
    const source = new EventSource(url, { withCredentials: true });
    Object.assign(source, { onopen: resolve, onerror: () => { source.close(); reject(new Error('refused')); } });
  });
  const learned = {};
  for (const url of urls) {
    const ways = {
      fetch: fetch(url, { credentials: 'include' }).then((response) => response.text()),
      script: element('script', { src: url }),
      style: element('link', { rel: 'stylesheet', href: url }),
      image: element('img', { src: url }),
      stream: stream(url),
    };
    for (const [way, promise] of Object.entries(ways)) (learned[way] ??= []).push(await outcome(promise));
  }
  return learned;
}`;

describe('the page itself', () => {
  test('accepts no HTML from a script, no inline script and no other server', async () => {
    const page = await visit(world.url, '/', { expects: REFUSALS });
    await settled(page);
    const tries = await page.evaluate<readonly string[]>(
      `(async () => {
      const tries = [
        () => { document.body.innerHTML = '<b>x</b>'; },
        () => { document.write('<b>x</b>'); },
        () => { document.createElement('script').src = 'data:,1'; },
        () => { document.createElement('script').text = '1'; },
        () => { trustedTypes.createPolicy('any', {}); },
        () => { trustedTypes.createPolicy('default', { createHTML: (text) => text }); },
        () => { setTimeout('1'); },
        () => { new Function('return 1')(); },
        () => { new DOMParser().parseFromString('<b>x</b>', 'text/html'); },
        () => { document.createElement('div').insertAdjacentHTML('afterbegin', '<b>x</b>'); },
        () => fetch('http://127.0.0.1:${evilPort}/'),
      ];
      const results = [];
      // The tool of the test may evaluate code; a task of the page may not.
      await new Promise((resolve) => setTimeout(resolve));
      for (const attempt of tries) {
        try { await attempt(); results.push('done: ' + attempt); } catch { results.push('refused'); }
      }
      return results;
    })()`,
    );
    expect(new Set(tries)).toEqual(new Set(['refused']));
    expect(await runsInline(page)).toBe(false);
  });
});

/** Returns whether an inline script in the document would run. */
function runsInline(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const script = document.createElement('script');
    script.append('window.ran = true');
    try { document.body.append(script); } catch {}
    return window.ran === true;
  })()`);
}
