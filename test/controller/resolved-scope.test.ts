import { expect, onTestFinished, test } from 'vitest';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { DaemonWorld } from './daemon.ts';

const SHOP = 'Application/shop';
const OF_A = '1'.repeat(32);
const OF_B = '2'.repeat(32);
const ID_OF_B = 'b'.repeat(32);

const application = (id: number, team: string, service: string) => ({
  id,
  team,
  region: 'region-1',
  name: `app-${id}`,
  components: [{ id: service, name: `c${id}`, ports: [{ port: 80, alias: `PORT${id}`, inner: true }] }],
});

const seed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [{ id: '1'.repeat(32), name: 'region-1' }],
  teams: [
    { id: 'a'.repeat(32), name: 'team-a' },
    { id: ID_OF_B, name: 'team-b' },
  ],
  applications: [
    application(1, 'team-a', OF_A),
    application(2, 'team-b', OF_B),
    application(3, 'team-b', '3'.repeat(32)),
  ],
};

const empty = (name: string, team: string, appId: number): string =>
  `apiVersion: portolan/v1\nkind: Application\nmetadata: { name: ${name} }\nspec: { team: ${team}, region: region-1, appId: ${appId} }\n`;

/** The application shop, with one port whose alias was changed on the platform. */
const shop = (team: string, appId: number, service: string): Record<string, string> => ({
  'shop.yaml': `${empty('shop', team, appId)}---
apiVersion: portolan/v1
kind: Component
metadata: { name: web }
spec: { application: shop, serviceId: "${service}", ports: [{ port: 80, protocol: http, alias: WEB, inner: true }], unlistedPorts: keep }
`,
});

function started(): DaemonWorld {
  const world = new DaemonWorld('{ controller: { resyncInterval: 1h }, prune: { maxShare: 1 } }', seed);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  return world;
}

const inSync = (world: DaemonWorld): Promise<void> =>
  world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');

const down = (): PlatformResponse => ({ status: 503, contentType: 'text/plain', retryAfter: null, body: 'down' });

test('an application whose manifest moves to another team has no scope until the platform has resolved it', async () => {
  const world = started();
  await world.commit(shop('team-a', 1, OF_A));
  await inSync(world);
  expect(world.application(SHOP).scope).toBe('default/team-a/region-1/1');

  world.answer = down;
  const before = world.events.length;
  await world.commit(shop('team-b', 2, OF_B));
  await world.until(() => world.eventsOf('application.failed').length > 0, 'the platform does not answer');
  expect(world.application(SHOP).scope).toBeNull();

  const seen: Promise<unknown>[] = [];
  world.answer = (request) => {
    const { scope, resources, pending } = world.application(SHOP);
    // Until the pass has ended, nothing of the former application is shown with the new scope.
    if (!request.isRead)
      seen.push(
        world.controller.api
          .details(SHOP)
          .then((details) => ({ scope, resources, pending, observed: details?.observed })),
      );
    return undefined;
  };
  await world.controller.api.sync([SHOP], 'a test');
  await inSync(world);
  expect(await Promise.all(seen)).toEqual([
    { scope: 'default/team-b/region-1/2', resources: [], pending: null, observed: null },
  ]);
  const scopes = world.events.slice(before).flatMap(({ application, scope }) => (application === SHOP ? [scope] : []));
  expect(new Set(scopes)).toEqual(new Set([null, 'default/team-b/region-1/2']));
});

test('after a restart the scope counts only for the manifest that it was resolved from', async () => {
  const world = started();
  await world.commit(shop('team-a', 1, OF_A));
  await inSync(world);
  const restart = async (files: Record<string, string>): Promise<string | null> => {
    await world.controller.drain();
    world.restart();
    world.answer = down;
    world.start();
    await world.commit(files);
    return world.application(SHOP).scope;
  };
  expect(await restart(shop('team-a', 1, OF_A))).toBe('default/team-a/region-1/1');
  expect(await restart(shop('team-b', 2, OF_B))).toBeNull();
  expect(await restart(shop('team-a', 1, OF_A))).toBe('default/team-a/region-1/1');
});

test('a manifest that names a team by its id is resolved to the name of the team', async () => {
  const world = started();
  // Two applications in these words are read by one listing, which does not have the name of the team.
  await world.commit({ 'shop.yaml': empty('shop', ID_OF_B, 2), 'blog.yaml': empty('blog', ID_OF_B, 3) });
  await inSync(world);
  expect(world.application(SHOP).scope).toBe('default/team-b/region-1/2');
});
