import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { axeViolations, settled, signIn, visit } from './browsing.ts';
import { type FleetWorld, openFleetWorld } from './fleet-world.ts';

const TOKEN = 'limited-limited-limited-1';
/** Names of applications and teams that the user may not see. */
const HIDDEN = /team-[13]\b|app-(?:1|3|4|6|7|9|10|12)\b/;

let world: FleetWorld;
let commit = '';

beforeAll(async () => {
  world = await openFleetWorld(undefined, {
    env: { LIMITED: TOKEN },
    server: `      - { name: limited, value: { env: LIMITED } }
    roles: [ { role: viewer, tokens: [ limited ], applications: [ "default/team-2/*/*" ] } ]`,
  });
  await world.until((counts) => counts['in-sync'] === 12);
  // Drift, a suspension, an application that does not exist and a faulty file, all of other teams.
  world.changeByHand(3, 'BYHAND');
  await world.portolan(['suspend', 'app-4', '--reason', 'team-1 moves app-4']);
  commit = world.commit({
    'team-3/ghost.yaml':
      'apiVersion: portolan/v1\nkind: Application\nmetadata: { name: app-9-ghost }\nspec: { team: team-3, region: region-1, appId: 4711 }\n',
  });
  await world.settled();
  await world.until((counts) => (counts['failing'] ?? 0) + (counts['pending'] ?? 0) > 0);
});
afterAll(() => world.close());

async function visitLimited(path: string, expects?: RegExp): Promise<Page> {
  const page = await visit(world.url, '/sign-in', {
    as: null,
    ...(expects === undefined ? {} : { expects: new RegExp(`401|${expects.source}`) }),
  });
  await signIn(page.context(), world.url, TOKEN);
  await page.goto(path);
  await settled(page);
  return page;
}

test('a viewer of one team sees only its applications, on every page and in every count', {
  timeout: 300_000,
}, async () => {
  const page = await visitLimited('/', /40[134]/);
  await page.getByRole('link', { name: /^In sync/ }).waitFor();
  expect(await page.getByRole('link', { name: /^In sync/ }).innerText()).toMatch(/4\s*of 4/);
  // A number, and nothing else: the application that does not exist, and the one that is suspended.
  await page.getByText(/^\s*[12] faults? outside your scope$/).waitFor();
  for (const path of ['/', '/applications', '/attention', '/activity', `/commits/${commit}`]) {
    await page.goto(path);
    await settled(page);
    expect(await page.locator('body').innerText(), path).not.toMatch(HIDDEN);
  }
  await page.goto('/applications');
  await settled(page);
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  await page.getByRole('searchbox', { name: 'Find applications by name, scope or label' }).fill('app-3');
  await page.getByText('No application matches.').waitFor();
});

test('an application of another team is like one that does not exist, and the platform needs another role', {
  timeout: 300_000,
}, async () => {
  const page = await visitLimited('/applications/app-3/monitoring', /40[134]/);
  await page.getByText('No application is called app-3').first().waitFor();
  const hidden = await page.locator('main').innerText();
  await page.goto('/applications/app-0/monitoring');
  await page.getByText('No application is called app-0').first().waitFor();
  expect((await page.locator('main').innerText()).replaceAll('app-0', 'app-3')).toBe(hidden);
  await page.goto('/platform');
  await page.getByText('No permission').waitFor();
  expect(await page.locator('main').innerText()).toContain('needs viewer for everything');
  expect(await axeViolations(page)).toEqual([]);
});
