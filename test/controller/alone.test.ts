import { expect, onTestFinished, test } from 'vitest';
import type { Seed } from '../../src/sandbox/seed.ts';
import { DaemonWorld } from './daemon.ts';

const APPLICATIONS = 12;
const serviceId = (application: number): string => application.toString(16).padStart(4, '0').padEnd(32, '0');

const seed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [{ id: '1'.repeat(32), name: 'region-1' }],
  teams: [{ id: '0'.repeat(32), name: 'team-a' }],
  applications: Array.from({ length: APPLICATIONS }, (_, index) => ({
    id: index + 1,
    team: 'team-a',
    region: 'region-1',
    name: `app-${index + 1}`,
    components: [
      { id: serviceId(index + 1), name: `c${index + 1}`, ports: [{ port: 80, alias: `AAA${index + 1}`, inner: true }] },
    ],
  })),
};

/** One file for each application, and what the alias of its port is to begin with: no two of a team may be the same. */
function files(prefixOf: (application: number) => string): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: APPLICATIONS }, (_, index) => {
      const app = index + 1;
      return [
        `${app}.yaml`,
        `apiVersion: portolan/v1
kind: Application
metadata: { name: app-${app} }
spec: { team: team-a, region: region-1, appId: ${app} }
---
apiVersion: portolan/v1
kind: Component
metadata: { name: c${app} }
spec: { application: app-${app}, serviceId: "${serviceId(app)}", ports: [{ port: 80, protocol: http, alias: ${prefixOf(app)}${app}, inner: true }], unlistedPorts: keep }
`,
      ];
    }),
  );
}

async function atRest(world: DaemonWorld): Promise<void> {
  const { api } = world.controller;
  const isReady = (app: number): boolean => world.ready(`Application/app-${app}`) === 'True InSync';
  await world.until(() => {
    const { counts } = api.status();
    return (
      Array.from({ length: APPLICATIONS }, (_, index) => index + 1).every(isReady) &&
      counts.queued + counts.running === 0
    );
  }, 'all are in sync and nothing runs');
}

function operations(world: DaemonWorld): ReadonlySet<string> {
  return new Set(world.requests.map(({ operation }) => operation));
}

test('the few that a commit changes are asked for by themselves, and polls by listings of everybody', async () => {
  const world = new DaemonWorld('{ controller: { resyncInterval: 1h }, prune: { maxShare: 1 } }', seed);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(files(() => 'AAA'));
  await atRest(world);
  expect(operations(world)).toContain('listAllRules');

  world.requests.length = 0;
  await world.commit(files((app) => (app === 3 ? 'BBB' : 'AAA')));
  await world.until(() => world.writes().length === 1, 'the alias is written');
  await atRest(world);
  expect(operations(world)).toContain('getApplication');
  expect(operations(world)).not.toContain('listAllRules');
  expect(operations(world)).not.toContain('listApplications');

  // Many at once: most of them might be as they should be.
  await world.commit(files((app) => (app <= 9 ? 'CCC' : 'AAA')));
  await world.until(() => world.writes().length === 10, 'the aliases are written');
  expect(operations(world)).toContain('listAllRules');
  await atRest(world);

  // One of the few that is at rest is looked at with the others again.
  await world.commit(files((app) => (app === 3 ? 'DDD' : app <= 9 ? 'CCC' : 'AAA')));
  await world.until(() => world.writes().length === 11, 'the alias is written');
  await atRest(world);
  // Its health is read by itself, too.
  await world.pass(60_000);
  world.requests.length = 0;
  await world.pass(2 * 3_600_000);
  expect(operations(world)).toContain('listAllRules');
  expect(operations(world)).not.toContain('getApplication');
});
