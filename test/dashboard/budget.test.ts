import { afterAll, beforeAll, expect, test } from 'vitest';
import { settled, visit } from './browsing.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const KIB = 1024;

test('JavaScript and CSS of the first page are at most 60 KiB, compressed, and charts are not among them', async () => {
  const page = await visit(world.url, '/healthz');
  const session = await page.context().newCDPSession(page);
  // As at a first visit.
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  const files = new Map<string, number>();
  page.on('requestfinished', (request) => {
    void (async () => {
      const { pathname } = new URL(request.url());
      if (/\.(?:js|css)$/.test(pathname)) files.set(pathname, (await request.sizes()).responseBodySize);
    })();
  });
  const encodings = new Set<string>();
  page.on('response', (response) => {
    if (/\.(?:js|css)$/.test(response.url())) encodings.add(response.headers()['content-encoding'] ?? 'identity');
  });
  for (const path of ['/', '/applications']) {
    files.clear();
    await page.goto(path);
    await settled(page);
    await expect.poll(() => files.size).toBeGreaterThan(2);
    const total = [...files.values()].reduce((sum, size) => sum + size, 0);
    console.log(`${path}: ${files.size} files, ${(total / KIB).toFixed(1)} KiB`);
    expect([...files.keys()].join(' ')).not.toMatch(/uplot|monitoring/i);
    expect(total).toBeGreaterThan(10 * KIB);
    expect(total).toBeLessThanOrEqual(60 * KIB);
  }
  expect([...encodings]).not.toContain('identity');
});
