import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { PORTS, rule, SHOP, shop, web } from '../cli/scene.ts';
import { overflow, settled, visit } from './browsing.ts';
import { addressIn, EXAMPLES } from './pages.ts';
import { openWorld, type World } from './world.ts';

/** Would become an element, reverse the text behind it, and be wider than any screen. */
const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script><b class="taken">';
const REVERSING = '\u202eesrever\u2066';
const LONG = 'x'.repeat(1_000);
const HOSTILE = `${MARKUP} ${REVERSING} שלום ${LONG}`;

let world: World;
beforeAll(async () => {
  const named = (name: string) => `${name} ${MARKUP} ${LONG}`.slice(0, 250);
  world = await openWorld({
    sandbox: {
      seed: {
        ...demoSeed,
        regions: (demoSeed.regions ?? []).map((region) => ({ ...region, alias: HOSTILE, description: HOSTILE })),
        applications: (demoSeed.applications ?? []).map((application) => ({
          ...application,
          components: (application.components ?? []).map((component) => ({ ...component, alias: named('alias') })),
        })),
      },
    },
    manifests: { 'shop.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
  });
  const label = 'v'.repeat(63);
  world.commit(
    {
      'shop.yaml': [SHOP.replace('name: shop', `name: shop, labels: { team: "${label}" }`), web(PORTS)].join('---\n'),
    },
    HOSTILE,
  );
  await world.settled();
  await world.api('/api/v1/applications/shop/suspend', {
    method: 'POST',
    body: JSON.stringify({ reason: `${MARKUP} שלום ${'x'.repeat(300)}` }),
  });
});
afterAll(() => world.close());

/** Fails unless texts are shown as texts, within the window. */
async function expectHarmless(page: Page, where: string): Promise<void> {
  expect(await page.locator('img, script[src=""], .taken, iframe, object').count(), where).toBe(0);
  expect(await page.title(), where).toMatch(/Portolan$/);
  expect(await page.evaluate<string>('document.body.innerText'), where).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(await overflow(page), where).toBe(0);
}

test('texts of git, of the platform and of users are texts on every page, at 360 px too', async () => {
  const page = await visit(world.url, '/activity', { width: 360 });
  await page.getByText(MARKUP).first().waitFor();
  for (const example of EXAMPLES.filter(({ name }) => name !== 'sign-in')) {
    await page.goto(await addressIn(world, example));
    await settled(page);
    await expectHarmless(page, example.name);
  }
});

/**
 * Runs in the page before its scripts: replaces the texts of people, of git and of the platform in every answer. Words of the API
 * stay.
 */
const POISON = `(() => {
  const TEXTS = new Set(['message', 'reason', 'remedy', 'subject', 'author', 'summary', 'by', 'actor', 'description', 'title',
    'detail', 'command', 'location', 'override', 'value', 'text', 'alias', 'version']);
  const VALUES = ['labels', 'before', 'after', 'lastApplied', 'desired', 'live'];
  const poisoned = (value, key) => {
    if (typeof value === 'string') return TEXTS.has(key) ? window.hostile : value;
    if (Array.isArray(value)) return value.map((each) => poisoned(each, key));
    if (typeof value !== 'object' || value === null) return value;
    const inside = VALUES.includes(key) ? 'text' : undefined;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poisoned(each, inside ?? name)]));
  };
  window.hostile = ${JSON.stringify(HOSTILE)};
  const { fetch } = window;
  window.fetch = async (...request) => {
    const response = await fetch(...request);
    if (!/json/.test(response.headers.get('content-type') ?? '')) return response;
    const body = JSON.stringify(poisoned(await response.json(), ''));
    return new Response(body, { status: response.status, headers: response.headers });
  };
})()`;

test('a text in any answer of the API is a text on every page', async () => {
  const page = await visit(world.url, '/healthz', { width: 360 });
  await page.addInitScript({ content: POISON });
  let shown = 0;
  for (const example of EXAMPLES.filter(({ name }) => name !== 'sign-in')) {
    await page.goto(await addressIn(world, example));
    await settled(page);
    await expectHarmless(page, example.name);
    shown += await page.getByText(MARKUP).count();
  }
  expect(shown).toBeGreaterThan(5);
});
