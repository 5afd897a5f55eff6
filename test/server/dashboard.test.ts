import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync, brotliDecompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { PAGE_PATHS, pageAt } from '../../src/server/pages.ts';
import { serve } from './serving.ts';

const PAGE =
  '<link rel="stylesheet" href="./assets/index-1.css"><script type="module" src="./assets/index-1.js"></script>';
const SCRIPT = 'export const answer = 42;\n'.repeat(40);

/** The folder of a built dashboard. */
function built(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-dashboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets', 'index-1.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'index-1.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'index-1.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'boot.js'), 'void 0;\n');
  writeFileSync(join(folder, 'secret.txt'), 'no');
  return folder;
}

const HTML = { accept: 'text/html,application/xhtml+xml' };

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** Requests bytes as they are; `fetch` would decompress them. */
function raw(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject).end();
  });
}

test('every page is the same document with a strict policy, needs no token and is never stored', async () => {
  const { url } = await serve({ dashboardFolder: built() });
  for (const path of PAGE_PATHS) {
    const asked = path.replaceAll(/:\w+/g, 'a%20b');
    const { status, headers, body } = await raw(url + asked);
    expect(status, path).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    const policy = String(headers['content-security-policy']);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy.split('; '), path).toContain(rule);
    expect(policy).not.toContain('unsafe');
    const [, src = ''] = /src="([^"]+)"/.exec(body.toString()) ?? [];
    expect(new URL(src, url + asked).pathname, path).toBe('/assets/index-1.js');
    expect(pageAt(new URL(asked, url).pathname)?.page).toBe(path);
  }
});

test('assets are compressed as the browser accepts it, and stored forever', async () => {
  const { url } = await serve({ dashboardFolder: built() });
  const cases = [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity', undefined],
    ['', undefined],
  ] as const;
  for (const [accepted, encoding] of cases) {
    const { status, headers, body } = await raw(`${url}/assets/index-1.js`, { 'accept-encoding': accepted });
    expect(status).toBe(200);
    expect(headers['content-encoding'], accepted).toBe(encoding);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['vary']).toBe('accept-encoding');
    const plain = encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
    expect(plain.toString()).toBe(SCRIPT);
  }
  const head = await raw(`${url}/assets/index-1.js`, { 'accept-encoding': 'br' }, 'HEAD');
  expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  expect(Number(head.headers['content-length'])).toBe(brotliCompressSync(SCRIPT).length);
});

test('the boot script is never stored, and a file of another version ends the connection', async () => {
  const { url } = await serve({ dashboardFolder: built() });
  const boot = await raw(`${url}/assets/boot.js`);
  expect(boot.status).toBe(200);
  expect(boot.headers['cache-control']).toBe('no-store');
  const missing = await raw(`${url}/assets/index-2.js`);
  expect(missing.status).toBe(404);
  expect(missing.headers['cache-control']).toBe('no-store');
  expect(missing.headers['connection']).toBe('close');
});

test('nothing outside of the assets is a file, and strangers learn no route of the API', async () => {
  const { url } = await serve({ dashboardFolder: built() });
  for (const path of [
    '/assets/..%2fsecret.txt',
    '/assets/../secret.txt',
    '/assets/index-1.js.br',
    '/assets/',
    '/assets/constructor',
  ])
    expect((await raw(url + path)).status, path).not.toBe(200);
  const refused = await raw(`${url}/api/v1/applications`, HTML);
  const unknown = await raw(`${url}/api/v1/nothing`, HTML);
  expect([refused.status, unknown.status]).toEqual([401, 401]);
  expect(unknown.body).toEqual(refused.body);
  expect((await raw(`${url}/nothing`)).status).toBe(401);
  expect((await raw(`${url}/`, {}, 'POST')).status).toBe(401);
});

test('a mistyped address in a browser shows the page, which says so', async () => {
  const { url } = await serve({ dashboardFolder: built() });
  const { status, headers, body } = await raw(`${url}/aplications/shop`, HTML);
  expect(status).toBe(404);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body.toString()).toContain('"../assets/index-1.js"');
});

test('behind a path prefix, whether the proxy strips or keeps it', async () => {
  const { url, ask } = await serve({
    dashboardFolder: built(),
    settings: { publicUrl: 'https://proxy.example.com/portolan' },
  });
  for (const prefix of ['', '/portolan']) {
    const { body } = await raw(`${url}${prefix}/applications/shop/plan`);
    const [, src = ''] = /src="([^"]+)"/.exec(body.toString()) ?? [];
    // As the browser resolves it, which always has the prefix.
    expect(new URL(src, 'https://proxy.example.com/portolan/applications/shop/plan').pathname).toBe(
      '/portolan/assets/index-1.js',
    );
    expect((await raw(`${url}${prefix}/assets/index-1.js`)).status).toBe(200);
    expect((await raw(`${url}${prefix}/healthz`)).status).toBe(200);
    expect((await raw(`${url}${prefix}/api/v1/status`)).status).toBe(401);
  }
  expect((await ask('/api/v1/status')).status).toBe(200);
  expect(await raw(`${url}/portolan?a=1`)).toMatchObject({ status: 308, headers: { location: '/portolan/?a=1' } });
  expect((await raw(`${url}/portolanx/api/v1/status`)).status).toBe(401);
});

test('one switch: on with a token, off without one or when it is set to false', async () => {
  const dashboardFolder = built();
  const statusOf = async (settings: Parameters<typeof serve>[0]): Promise<number> =>
    (await raw(`${(await serve({ dashboardFolder, ...settings })).url}/`, HTML)).status;
  expect(await statusOf({})).toBe(200);
  expect(await statusOf({ settings: { dashboard: false } })).toBe(401);
  expect(await statusOf({ settings: { tokens: [] } })).toBe(401);
  expect(await statusOf({ settings: { tokens: [], dashboard: true } })).toBe(200);
  const serving = await serve({ dashboardFolder });
  serving.reload({ ...serving.settings, dashboard: false });
  expect((await raw(`${serving.url}/`, HTML)).status).toBe(401);
});

test('a dashboard that was not built says what to do, and the API works', async () => {
  const { url, ask, said } = await serve({ dashboardFolder: join(tmpdir(), 'portolan-no-such-folder') });
  const { status, body } = await raw(`${url}/`, HTML);
  expect(status).toBe(503);
  expect(body.toString()).toContain('npm run build');
  expect(said.join('\n')).toContain('the dashboard was not built');
  expect((await ask('/api/v1/status')).status).toBe(200);
});
