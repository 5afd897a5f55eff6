import { setTimeout as sleep } from 'node:timers/promises';
import { differences, Estate } from '../processes/replicas/estate.ts';
import { LeaseObserver } from '../processes/replicas/leases.ts';
import { Replica } from '../processes/replicas/replica.ts';
import { replicaCycles } from '../processes/replicas/replica-cycles.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { sharedCommits } from './postgres.ts';
import { replicasFleet } from './replicas-fleet.ts';

const LEASE_MS = 2_000;
const TAKEOVERS = 10;
const PLATFORMS = 30;
const LATENCY_MS = 150;
/** Commits of a run, each of which changes every platform. */
const ROUNDS = 7;
const WAIT_MS_MAX = 300_000;

/**
 * Several controllers on one PostgreSQL: their commits, takeovers, 30 slow platforms with three of them and with one, and a round of three
 * over a fleet.
 */
export async function replicas(options: BenchOptions): Promise<readonly Figure[]> {
  return [
    ...(await sharedCommits()),
    ...(await takeovers()),
    ...(await manyPlatforms()),
    ...(await replicasFleet(options)),
  ];
}

async function takeovers(): Promise<readonly Figure[]> {
  const settings = {
    replicas: 3,
    cycles: TAKEOVERS,
    seed: 1,
    lease: `${LEASE_MS / 1_000}s`,
    settle: '1s',
    platforms: 3,
  };
  const goals = { kill: LEASE_MS + 2_000, terminate: 1_000 };
  const figures: Figure[] = [];
  for (const [fault, limitMs] of Object.entries(goals)) {
    const report = await replicaCycles({ ...settings, faults: [fault] });
    if (report.violations.length > 0) throw new Error(report.violations.join('\n'));
    figures.push({
      name: `from ${fault} until the lease of another replica (lease of ${settings.lease})`,
      unit: 'ms',
      samples: report.takeovers.get(fault) ?? [],
      goal: { text: `≤ ${limitMs} ms`, isMet: ({ max }) => max <= limitMs },
    });
  }
  return figures;
}

interface Rounds {
  /** Milliseconds from a commit until all platforms are in sync. */
  readonly times: readonly number[];
  readonly requests: readonly number[];
  /** Platforms of the replica that leads most of them. */
  readonly mostLed: number;
}

async function manyPlatforms(): Promise<readonly Figure[]> {
  // Each goes first once: the machine may become slower or faster meanwhile.
  const first = await rounds(1);
  const three = [await rounds(3), await rounds(3)];
  const one = [first, await rounds(1)];
  return [
    {
      name: `requests of a commit for ${PLATFORMS} platforms without listings of regions, 3 replicas`,
      unit: '',
      samples: three.flatMap(({ requests }) => requests),
      floor: one.flatMap(({ requests }) => requests),
      goal: { text: '1.00 × those of one', isMet: ({ ratio }) => ratio === 1 },
    },
    {
      name: 'its time, 3 replicas',
      unit: 'ms',
      samples: three.flatMap(({ times }) => times),
      floor: one.flatMap(({ times }) => times),
      goal: { text: '≤ 1 / 0.9 of the time of one', isMet: ({ ratio = Number.NaN }) => ratio <= 1 / 0.9 },
    },
    {
      name: `platforms of one leader, of ${PLATFORMS}`,
      unit: '',
      samples: three.map(({ mostLed }) => mostLed),
      goal: { text: '≤ 13', isMet: ({ max }) => max <= 13 },
    },
  ];
}

async function rounds(count: number): Promise<Rounds> {
  const estate = await Estate.create({
    platforms: PLATFORMS,
    generations: ROUNDS + 1,
    lease: '5s',
    settle: '1s',
    latencyMs: LATENCY_MS,
    resync: '30m',
    installs: false,
  });
  const leases = new LeaseObserver(estate.postgres);
  const members: Replica[] = [];
  try {
    for (let n = 1; n <= count; n += 1) members.push(await Replica.start(`replica-${n}`, estate));
    await inSync(estate);
    // The last platforms may move until the replicas have equal parts.
    await sleep(30_000);
    await atRest(estate);
    const led = (await leases.read()).filter(({ unit, isHeld }) => isHeld && unit.startsWith('platform:'));
    const mostLed = Math.max(...[...Map.groupBy(led, ({ pid }) => pid).values()].map((rows) => rows.length));
    const [times, requests]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = requestCount(estate);
      const began = performance.now();
      estate.change(estate.platforms);
      await inSync(estate);
      times.push(performance.now() - began);
      await atRest(estate);
      requests.push(requestCount(estate) - before);
    }
    return { times, requests, mostLed };
  } finally {
    await leases.close();
    for (const member of members) await member.remove();
    await estate.remove();
  }
}

/** Listings of regions do not count: they are read again when they are old, so it is chance which commits need them. */
const REGIONS = /\/regions$/;

function requestCount({ platforms }: Estate): number {
  const counted = platforms.map(({ sandbox }) => sandbox.requests().filter(({ path }) => !REGIONS.test(path)));
  return counted.reduce((sum, { length }) => sum + length, 0);
}

async function inSync(estate: Estate): Promise<void> {
  for (const untilMs = performance.now() + WAIT_MS_MAX; performance.now() < untilMs; await sleep(20))
    if (estate.platforms.every((platform) => differences(platform, false).length === 0)) return;
  throw new Error('the platforms were never in sync');
}

/** Waits until no request was sent for a while. */
async function atRest(estate: Estate): Promise<void> {
  for (let [before, restMs] = [-1, 0]; restMs < 5_000; ) {
    await sleep(500);
    const now = requestCount(estate);
    restMs = now === before ? restMs + 500 : 0;
    before = now;
  }
}
