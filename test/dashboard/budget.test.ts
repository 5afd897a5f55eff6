import { afterAll, beforeAll, expect, test } from 'vitest';
import { settled, visit } from './browsing.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const KIB = 1024;

test.for(['/', '/applications'])(
  'JavaScript and CSS of %s at a first visit are at most 60 KiB, compressed, and charts are not among them',
  async (path) => {
    const page = await visit(world.url, '/healthz');
    const sizes: Promise<number>[] = [];
    const names: string[] = [];
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (!/\.(?:js|css)$/.test(pathname)) return;
      expect(response.headers()['content-encoding'], pathname).toMatch(/^(?:br|gzip)$/);
      names.push(pathname);
      sizes.push(response.finished().then(async () => (await response.request().sizes()).responseBodySize));
    });
    await page.goto(path);
    await settled(page);
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    console.log(`${path}: ${names.length} files, ${(total / KIB).toFixed(1)} KiB`);
    expect(names.join(' ')).not.toMatch(/uplot|monitoring/i);
    expect(total).toBeGreaterThan(10 * KIB);
    expect(total).toBeLessThanOrEqual(60 * KIB);
  },
);
