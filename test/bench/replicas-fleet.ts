import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControllerStatus } from '../../src/model/status.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { LoggedRequest } from '../../src/sandbox/request-log.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { LeaseObserver } from '../processes/replicas/leases.ts';
import { PostgresServer } from '../support/postgres.ts';
import { requestFloor } from '../support/request-floor.ts';
import { checkout } from './checkout.ts';
import { API_TOKEN, callApi } from './daemon-fleet.ts';
import type { BenchOptions, Figure } from './figures.ts';
import {
  COMPONENTS_PER_APPLICATION,
  fleetManifests,
  type FleetSize,
  fleetSeed,
  large,
  platformNames,
} from './fleet.ts';
import { portolan, Running, TOKEN } from './processes.ts';

const REPLICAS = 3;
const PLATFORMS = 10;
/** Longest time that the fleet may need to be in sync. */
const REST_MS = 1_800_000;
/** The last platforms may move this long, until the replicas have equal parts. */
const EVEN_MS = 30_000;

/** Three controllers, and what they share. */
interface Fleet {
  readonly size: FleetSize;
  readonly sandboxes: ReadonlyMap<string, Sandbox>;
  readonly members: readonly Running[];
  readonly leases: LeaseObserver;
}

/**
 * A round of three replicas over 1,000 applications on 10 platforms (`--full`: 10,000): all requests against the floor, and those that
 * were sent twice. Numbers, not times: any machine gives the same.
 */
export async function replicasFleet({ full }: BenchOptions): Promise<readonly Figure[]> {
  const size: FleetSize = { ...large, platforms: PLATFORMS, applications: full ? large.applications : 1_000 };
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const postgres = await PostgresServer.create();
  const sandboxes = await startPlatforms(size);
  const leases = new LeaseObserver(postgres);
  const members: Running[] = [];
  try {
    const server = '{ listen: "127.0.0.1:0", tokens: [{ name: bench, role: admin, value: { env: BENCH_API_TOKEN } }] }';
    const settings = `{ controller: { concurrency: 32, lease: 5s, resyncInterval: 2h }, server: ${server}, source: { limits: { documents: 100000, heapMib: 1024, timeout: 10m } } }`;
    const urls = new Map([...sandboxes].map(([name, { url }]) => [name, url]));
    const { source, config } = checkout(folder, fleetManifests(size), urls, settings);
    const flags = ['-f', source, '--config', config, '--ledger', postgres.url('portolan')];
    await portolan(['apply', ...flags, '--yes', '--adopt', '--parallelism', '32']);
    for (let n = 1; n <= REPLICAS; n += 1)
      members.push(
        new Running(['run', ...flags, '--replica-name', `replica-${n}`, '--log-format', 'json'], {
          BENCH_API_TOKEN: API_TOKEN,
        }),
      );
    return await figuresOf({ size, sandboxes, members, leases });
  } finally {
    await leases.close();
    for (const member of members) await member.stop();
    for (const sandbox of sandboxes.values()) await sandbox.close();
    await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startPlatforms(size: FleetSize): Promise<ReadonlyMap<string, Sandbox>> {
  const sandboxes = new Map<string, Sandbox>();
  for (const platform of platformNames(size.platforms ?? 1)) {
    const seed = fleetSeed(size, { withRules: true, platform });
    sandboxes.set(platform, await startSandbox({ clock: systemClock, random: systemRandom, seed, token: TOKEN }));
  }
  return sandboxes;
}

async function figuresOf(fleet: Fleet): Promise<readonly Figure[]> {
  const { size, sandboxes, members, leases } = fleet;
  await isReady(fleet);
  await sleep(EVEN_MS);
  await isReady(fleet);
  const led = (await leases.read()).filter(({ unit, isHeld }) => isHeld && unit.startsWith('platform:'));
  const mostLed = Math.max(...[...Map.groupBy(led, ({ pid }) => pid).values()].map((rows) => rows.length));
  for (const sandbox of sandboxes.values()) sandbox.clearRequests();
  const beganMs = systemClock.now();
  await ask(members[0], 'POST', 'sync');
  await isReady(fleet);
  const requests = [...sandboxes.values()].map((sandbox) => sandbox.requests());
  const endedMs = Math.max(...requests.map((of) => of.at(-1)?.atMs ?? beganMs));
  const floor = floorOf(size);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const count = `${size.applications.toLocaleString('en')} applications on ${PLATFORMS} platforms`;
  return [
    {
      name: `requests of a round over ${count}, ${REPLICAS} replicas`,
      unit: '',
      samples: [sum(requests.map(({ length }) => length))],
      floor: [PLATFORMS * sum(Object.values(floor))],
      goal: { text: '1.00 × the floor', isMet: ({ ratio }) => ratio === 1 },
    },
    {
      name: 'of them sent twice',
      unit: '',
      samples: [sum(requests.map((of) => repeated(of, floor)))],
      goal: { text: '0', isMet: ({ max }) => max === 0 },
    },
    { name: 'its time', unit: 's', samples: [(endedMs - beganMs) / 1_000] },
    { name: `platforms of one leader, of ${PLATFORMS}`, unit: '', samples: [mostLed] },
  ];
}

/** Returns the least requests of a round to one platform. */
function floorOf({ applications, teams }: FleetSize): Readonly<Record<string, number>> {
  const own = applications / PLATFORMS;
  const components = own * COMPONENTS_PER_APPLICATION;
  return requestFloor('extended', { platform: 1, 'team and region': teams, application: own, component: components });
}

/** Returns how many requests to one platform were repeated. The log has no queries: of some listings, the floor says how many differ. */
function repeated(requests: readonly LoggedRequest[], floor: Readonly<Record<string, number>>): number {
  let count = 0;
  for (const [operation, same] of Map.groupBy(requests, ({ operation }) => operation)) {
    const paths = new Set(same.map(({ path }) => path)).size;
    count += Math.max(0, same.length - Math.max(paths, floor[operation] ?? 0));
  }
  return count;
}

/** Waits until all applications are ready, and no request was sent for a while. */
async function isReady({ size, sandboxes, members }: Fleet): Promise<void> {
  const sent = (): number => [...sandboxes.values()].reduce((sum, sandbox) => sum + sandbox.requests().length, 0);
  let [before, restMs] = [-1, 0];
  for (const untilMs = performance.now() + REST_MS; performance.now() < untilMs; await sleep(1_000)) {
    const now = sent();
    restMs = now === before ? restMs + 1_000 : 0;
    before = now;
    if (restMs < 5_000) continue;
    const { counts } = (await ask(members[0], 'GET', 'status')) as ControllerStatus;
    if (counts.applications === size.applications && counts.ready === size.applications) return;
  }
  throw new Error(`the replicas never came to rest:\n${members.map(({ err }) => err.slice(-1_000)).join('\n')}`);
}

async function ask(member: Running | undefined, method: string, path: string): Promise<unknown> {
  if (member === undefined) throw new Error('no replica was started');
  const [, url = ''] = await member.says(/(http:\/\/127\.0\.0\.1:\d+)/);
  return (await callApi(url, method, path)).json();
}
