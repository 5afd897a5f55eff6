import { defaultSettings } from '../../../src/configuration/configuration.ts';
import { keptOf } from '../../../src/controller/commit-marks.ts';
import { parseStored, statusFact } from '../../../src/controller/ledger-records.ts';
import { sourceUnit, platformUnit } from '../../../src/controller/replicas/leadership.ts';
import { Chance } from '../chance.ts';
import { idOf } from '../drivers/daemon.ts';
import { type AppName, appNames, type EditName, nameOfScope } from '../drivers/estate.ts';
import {
  anyDriverSwarm,
  type DriverSwarm,
  RandomDriverPlan,
  type ReplicaRates,
  scriptedDrivers,
} from '../drivers/perturbations.ts';
import { differences, type DriversOptions, type DriversResult, resultOf } from '../drivers/schedule.ts';
import { undecidable } from '../drivers/person.ts';
import { permissive } from '../drivers/settings.ts';
import type { Replica } from './replica.ts';
import { CLOCK_ERROR, LATE_MS, LEASE_MS, PACE, PLATFORMS, settingTimes } from './surroundings.ts';
import { ReplicasWorld } from './world.ts';

const PEACE_MS = 20_000;
/** Fewer than a single controller takes, and more befalls each of them. */
const STEPS = [40, 80, 160];
const CHAOS_MS_MAX = 6 * 60_000;
/** Applications move to another platform, often enough that they come back, too. */
const MOVES: readonly EditName[] = ['move', 'move', 'move'];
/** What a process still works on is given up, a lease that nobody renews any more is taken, and its successor has begun. */
const LED_MS = defaultSettings().controller.drainTimeoutMs * (1 + CLOCK_ERROR) + 3 * LEASE_MS + 2 * LATE_MS;
/** All comes to rest within this time: longer than any settle window here, and any backoff or circuit after it. */
const RESTS_MS_MAX = 40 * 60_000;
const LOOK_EVERY_MS = 5_000;
/** Once all is as wished, nothing is written for so long: in this time a removal becomes due, and all are looked at twice. */
const QUIET_MS = permissive(settingTimes).pruneAfterMs + 25_000;
const units = [...[...PLATFORMS].map(platformUnit), sourceUnit('default')];

/** One run of several controllers: peace, chaos, calm, and what must be true. The seed decides all of it. */
export async function runReplicas(seed: number, options: DriversOptions = {}): Promise<DriversResult> {
  const chance = new Chance(seed, 10);
  const common = { ...anyDriverSwarm(chance), steps: chance.pick(STEPS), replicas: anyRates(chance), pace: PACE };
  const swarm = withMoves(common, new Chance(seed, 19));
  const drawn = new RandomDriverPlan(new Chance(seed, 7), swarm);
  const world = new ReplicasWorld({ seed, tracing: options.tracing ?? false });
  const isOver = (): boolean => world.violation !== undefined || world.timeline.nowMs > CHAOS_MS_MAX;
  for (let count = world.wanted; count > 0; count -= 1) world.start();
  if (chance.happens(0.7)) await world.letPass(PEACE_MS);
  world.meet(options.script === undefined ? drawn : scriptedDrivers(options.script));
  await world.timeline.drive(() => isOver() || world.hasPassed(swarm.steps));
  if (world.violation === undefined) await settle(world);
  for (const process of world.processes) process.kill();
  const result = resultOf(world, options.script ?? drawn.script);
  return { ...result, ran: { ...result.ran, replicas: true, takeovers: world.leaders.takeovers > 0 } };
}

/** In half of the schedules applications move, and in some of these little else is done than to move and to suspend them. */
function withMoves(swarm: DriverSwarm, chance: Chance): DriverSwarm {
  if (chance.happens(0.5)) return swarm;
  const edits = [...swarm.edits, ...MOVES];
  if (chance.happens(0.7)) return { ...swarm, edits };
  const rates = { ...swarm.rates, git: 0.1, human: 0.1 };
  return {
    ...swarm,
    edits: [...MOVES, 'addRule', 'removeRule'],
    humans: ['suspend', 'suspend', 'resume', 'approve'],
    rates,
  };
}

function anyRates(chance: Chance): ReplicaRates {
  const rate = (...choices: readonly number[]): number => chance.pick(choices);
  return {
    freeze: rate(0, 0.02, 0.06),
    cut: rate(0, 0.02, 0.06),
    outage: rate(0, 0, 0.02),
    join: rate(0, 0.02, 0.05),
    leave: rate(0, 0.02, 0.04),
  };
}

async function settle(world: ReplicasWorld): Promise<void> {
  world.calmDown();
  while (world.working.length < world.wanted) world.start();
  // Persons may be about to do something.
  if (world.leaders.areClear(units)) await world.letPass(1_000);
  await leadersAreClear(world);
  if (world.violation !== undefined) return;
  for (const fault of await lostSuspensions(world)) world.violate('I-SUSPENDED', fault);
  for (const replica of world.working) replica.reload((world.settings = permissive(settingTimes)));
  const untilMs = world.timeline.nowMs + RESTS_MS_MAX;
  while (world.violation === undefined && world.timeline.nowMs < untilMs) {
    await world.letPass(LOOK_EVERY_MS);
    for (const name of appNames) if (isSuspended(world, name)) await every(world, (replica) => replica.resume(name));
    if (faults(world).length === 0) break;
    while (await every(world, (replica) => replica.approve(0, false))) await world.letPass(LOOK_EVERY_MS);
  }
  if (world.violation !== undefined) return;
  for (const fault of faults(world)) world.violate('L-CONV', fault);
  await rest(world);
  await leadersAreClear(world);
  for (const { id, method, result } of world.database.commands)
    if (result === undefined) world.violate('L-COMMAND', `command ${id} (${method}) was confirmed, and never answered`);
  await world.books.compare(await world.reader());
}

/** A unit that is handed over has no leader for a moment. */
async function leadersAreClear(world: ReplicasWorld): Promise<void> {
  const untilMs = world.timeline.nowMs + LED_MS;
  // After a violation, time stands still.
  const isOver = (): boolean => world.violation !== undefined || world.timeline.nowMs >= untilMs;
  while (!isOver() && !world.leaders.areClear(units)) await world.letPass(1_000);
  world.leaders.compare(units);
}

/** What persons have suspended is so on record, unless git ceased to name it. */
async function lostSuspensions(world: ReplicasWorld): Promise<readonly string[]> {
  const { git, permissions } = world;
  const ledger = await world.reader();
  const lost: string[] = [];
  for (const name of appNames) {
    if (permissions.suspensions.since(name) === undefined || !git.hasAlwaysNamed(name)) continue;
    const stored = parseStored((await ledger.fact(statusFact('default', idOf(name)))) ?? '');
    if (stored === undefined || keptOf(stored).suspended === null) lost.push(`${name} is not suspended on record`);
  }
  return lost;
}

function isSuspended({ working }: ReplicasWorld, name: AppName): boolean {
  return working.some(({ api }) => api?.application(idOf(name))?.pause?.type === 'suspended');
}

/** Waits until nothing is written any more. */
async function rest(world: ReplicasWorld): Promise<void> {
  const { sent } = world.truth;
  const fromMs = world.timeline.nowMs;
  const quietMs = (): number => world.timeline.nowMs - Math.max(fromMs, sent.at(-1)?.sentMs ?? 0);
  while (world.violation === undefined && quietMs() < QUIET_MS) {
    if (world.timeline.nowMs - fromMs > RESTS_MS_MAX) return world.violate('L-QUIET', 'it never ceases to write');
    await world.letPass(QUIET_MS - quietMs());
  }
}

/** Asks every replica, since only one of them leads what it is about. @returns whether any of them said yes. */
async function every(world: ReplicasWorld, ask: (replica: Replica) => Promise<unknown>): Promise<boolean> {
  let isDone = false;
  for (const replica of world.working) if ((await world.whileDriving(ask(replica))) === true) isDone = true;
  return isDone;
}

/** Nobody decides here what only a person can, as in schedules of one controller: what waits for that is left out. */
function faults(world: ReplicasWorld): string[] {
  const waiting = undecidable(world).map(({ scope }) => nameOfScope(scope));
  return differences(world, world.working[0], new Set(waiting.filter((name) => name !== undefined)));
}
