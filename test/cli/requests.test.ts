import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/session/exit-codes.ts';
import { requestFloor } from '../support/request-floor.ts';
import { COMPONENTS_PER_APPLICATION, fleetManifests, fleetSeed, type FleetSize, serviceId } from '../bench/fleet.ts';
import { HANG_MS } from '../support/hang.ts';
import { type Scene, setScene } from './scene.ts';

const SIZE: FleetSize = { applications: 4, teams: 2, rulesPerApplication: 2 };
const ROUND = {
  platform: 1,
  'team and region': SIZE.teams,
  application: SIZE.applications,
  component: SIZE.applications * COMPONENTS_PER_APPLICATION,
};

async function fleetScene(configuredDialect: 'auto' | 'extended'): Promise<Scene> {
  const scene = await setScene({
    configuredDialect,
    manifests: Object.fromEntries(fleetManifests(SIZE)),
    sandbox: { seed: fleetSeed(SIZE, { withRules: true }) },
  });
  const { code, err } = await scene.run('apply', ['--adopt']);
  expect(code, err).toBe(0);
  scene.traffic();
  return scene;
}

function countsOf(reads: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(reads, (read) => read)].map(([read, all]) => [read, all.length]));
}

test.for(['auto', 'extended'] as const)(
  'a plan of what is in sync asks no more than the floor, the whole command, with a dialect that is %s and without a ledger',
  async (configured) => {
    const scene = await fleetScene(configured);
    const { code, out } = await scene.run('plan', ['--ledger', 'none', '--detailed-exitcode']);
    expect(code, out).toBe(0);
    expect(countsOf(scene.traffic().reads)).toEqual(requestFloor('extended', ROUND));
  },
);

test('one application that differs adds its own record and rules, and the regions of the guards, each once', async () => {
  const scene = await fleetScene('auto');
  const [row] = [...scene.sandbox.state.ports.all()].filter((port) => port.serviceId === serviceId(1, 1));
  if (row === undefined) throw new Error('the fleet has ports');
  scene.alterPort(row.serviceId, row.port, { alias: 'OTHER' });
  const { code } = await scene.run('plan', ['--detailed-exitcode']);
  expect(code).toBe(2);
  expect(countsOf(scene.traffic().reads)).toEqual({
    ...requestFloor('extended', ROUND),
    getApplication: 1,
    listRules: 1,
    listRegions: 1,
  });
});

test('a status that hangs is waited for no longer than its deadline, once, and people are told', async () => {
  const scene = await fleetScene('extended');
  const config = join(scene.folder, 'portolan.yaml');
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace('requestsPerSecond: 1000', 'requestsPerSecond: 1000, timeout: 9s'),
  );
  scene.sandbox.setFaults([{ operation: 'getApplication', fault: { type: 'delay', when: 'before', ms: HANG_MS } }]);
  const file = join(scene.folder, 'manifests', 'team-1', 'app-1');
  const { code, out, err } = await scene.run('plan', ['-f', file, '--ledger', 'none']);
  expect(code).toBe(EXIT.unreachable);
  expect(err).toContain(
    'wait  for the status of an application (GET /openapi/v1/teams/team-1/regions/region-1/apps/1)',
  );
  expect(out).toContain('timed out after 9000 ms');
  expect(scene.traffic().reads.filter((read) => read === 'getApplication').length).toBeLessThanOrEqual(1);
});
