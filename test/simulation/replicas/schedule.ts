import { sourceUnit, platformUnit } from '../../../src/controller/replicas/leadership.ts';
import { Chance } from '../chance.ts';
import { appNames } from '../drivers/estate.ts';
import { anyDriverSwarm, RandomDriverPlan, type ReplicaRates, scriptedDrivers } from '../drivers/perturbations.ts';
import { differences, type DriversOptions, type DriversResult, resultOf } from '../drivers/schedule.ts';
import { undecidable } from '../drivers/person.ts';
import { permissive } from '../drivers/settings.ts';
import type { Replica } from './replica.ts';
import { LEASE_MS, PLATFORMS, timing } from './surroundings.ts';
import { ReplicasWorld } from './world.ts';

const PEACE_MS = 2 * 60_000;
const CHAOS_MS_MAX = 30 * 60_000;
/** A lease that nobody renews any more is taken, and its successor has begun. */
const LED_MS = 3 * LEASE_MS;
/** Longer than any settle window here, and than any backoff or circuit after it. */
const SETTLED_MS = timing.settleInstallMs + 6 * 60_000;
const ROUND_MS = 3 * 60_000;
const ROUNDS_MAX = 12;
const units = [...[...PLATFORMS].map(platformUnit), sourceUnit('default')];

/** One run of several controllers: peace, chaos, calm, and what must be true. The seed decides all of it. */
export async function runReplicas(seed: number, options: DriversOptions = {}): Promise<DriversResult> {
  const chance = new Chance(seed, 10);
  const swarm = { ...anyDriverSwarm(chance), replicas: anyRates(chance) };
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

function anyRates(chance: Chance): ReplicaRates {
  const rate = (...choices: readonly number[]): number => chance.pick(choices);
  return {
    freeze: rate(0, 0.01, 0.03),
    cut: rate(0, 0.01, 0.03),
    outage: rate(0, 0, 0.01),
    join: rate(0, 0.01, 0.03),
    leave: rate(0, 0.01, 0.02),
  };
}

async function settle(world: ReplicasWorld): Promise<void> {
  world.calmDown();
  while (world.alive.length < world.wanted) world.start();
  await world.letPass(LED_MS);
  world.leaders.compare(units);
  if (world.violation !== undefined) return;
  for (const replica of world.alive) replica.reload((world.settings = permissive()));
  await world.letPass(SETTLED_MS);
  for (const name of appNames) await every(world, (replica) => replica.resume(name));
  for (let round = 0; round < ROUNDS_MAX && world.violation === undefined; round += 1) {
    await world.letPass(ROUND_MS);
    while (await every(world, (replica) => replica.approve(0, false))) await world.letPass(30_000);
    if (faults(world).length === 0) break;
  }
  if (world.violation !== undefined) return;
  for (const fault of faults(world)) world.violate('L-CONV', fault);
  await world.letPass(ROUND_MS);
  const writes = world.truth.sent.length;
  await world.letPass(2 * ROUND_MS);
  if (world.truth.sent.length > writes) world.violate('L-QUIET', 'something was written after convergence');
  world.leaders.compare(units);
  for (const { id, method, result } of world.database.commands)
    if (result === undefined) world.violate('L-COMMAND', `command ${id} (${method}) was confirmed, and never answered`);
  await world.books.compare(await world.reader());
}

/** Asks every replica, since only one of them leads what it is about. @returns whether any of them said yes. */
async function every(world: ReplicasWorld, ask: (replica: Replica) => Promise<unknown>): Promise<boolean> {
  let isDone = false;
  for (const replica of world.alive) if ((await world.whileDriving(ask(replica))) === true) isDone = true;
  return isDone;
}

/** Nobody decides here what only a person can, as in schedules of one controller. */
function faults(world: ReplicasWorld): string[] {
  if (undecidable(world).length > 0) return [];
  return differences(world, world.alive[0]);
}
