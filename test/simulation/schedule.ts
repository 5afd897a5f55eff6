import type { Dialect } from '../../src/sandbox/wire.ts';
import { Chance } from './chance.ts';
import { Controller } from './controller.ts';
import { differences } from './goal.ts';
import { type LedgerHost, memoryHost } from './ledgers.ts';
import { releaseHolds } from './person.ts';
import { anySwarm, type Plan, RandomPlan, type Script, scripted } from './perturbations.ts';
import { defaultTiming } from '../../src/reconcile/timing.ts';
import { FAILURES_MAX } from '../../src/plan/doubts.ts';
import { anyPlatform, anyWishes } from './shop.ts';
import { type Mutant, type Settings, unchanged, type Violation, World } from './world.ts';

export interface ScheduleOptions {
  readonly ledgers?: LedgerHost;
  readonly mutant?: Mutant;
  readonly tracing?: boolean;
  /** Replays these perturbations in place of those that the seed would draw. */
  readonly script?: Script;
}

export interface ScheduleResult {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly script: Script;
  readonly trace: readonly string[];
  readonly traceHash: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly holds: readonly string[];
}

/** The rounds in which a scope must reach what git says, once nothing goes wrong any more. */
const ROUNDS_MAX = 3;
/** Longer than any settle window and any request under way. */
const SETTLED_MS = defaultTiming.settleInstallMs + 900_000 + 60_000;

/** Between two rounds; longer than a scope waits after a write in doubt. */
const ROUND_MS = defaultTiming.settleTargetStateMs + 10_000;
/** Longer than any `wait.timeout`. */
const WAITED_MS = 11 * 60_000;

/** One run of everything: chaos, then calm, then what must be true. The seed decides all of it. */
export async function runSchedule(seed: number, options: ScheduleOptions = {}): Promise<ScheduleResult> {
  const { settings, plan, steps } = settingsOf(seed, options);
  return runWorld(settings, options.script ?? (plan as RandomPlan).script, steps);
}

/** Runs a world of given settings through chaos of so many steps. */
export async function runWorld(settings: Settings, script: Script, chaosSteps: number): Promise<ScheduleResult> {
  const world = new World(settings);
  const holds: string[] = [];
  try {
    world.start();
    await world.timeline.drive(
      () => world.violation !== undefined || world.steps >= chaosSteps || world.timeline.nowMs > 86_400_000,
    );
    if (world.violation === undefined) await settle(world, holds);
  } finally {
    await settings.ledgers.close();
  }
  return {
    seed: settings.seed,
    violation: world.violation,
    script,
    trace: world.trace,
    traceHash: world.traceHash,
    steps: world.steps,
    virtualMs: world.timeline.nowMs,
    counts: world.counts,
    holds,
  };
}

function settingsOf(seed: number, options: ScheduleOptions): { settings: Settings; plan: Plan; steps: number } {
  const chance = new Chance(seed);
  const dialect: Dialect = chance.pick(['documented', 'extended']);
  const swarm = anySwarm(chance);
  const platform = anyPlatform(chance);
  const wishes = anyWishes(chance);
  const drawn = new RandomPlan(new Chance(seed, 7), swarm);
  const plan = options.script === undefined ? drawn : scripted(options.script);
  const settings: Settings = {
    seed,
    platform,
    wishes,
    dialect,
    dialectSetting: chance.happens(0.3) ? 'auto' : dialect,
    plan,
    ledgers: options.ledgers ?? memoryHost(),
    spawn: (world, number) => new Controller(world, number),
    limits: { maxShare: 1, maxPrunes: chance.happens(0.1) ? 1 : 1000, allowedScopes: ['*/*/*'] },
    firstInstall: chance.happens(0.85),
    mutant: options.mutant ?? unchanged,
    tracing: options.tracing ?? false,
    checksSecrets: seed % 8 === 0 || options.tracing === true,
    mayReadOnly: chance.happens(0.2),
  };
  return { settings, plan, steps: swarm.steps };
}

/** Calm: within three rounds everything is as git says or held for a cause, and then nothing is written any more. */
async function settle(world: World, holds: string[]): Promise<void> {
  await world.calmDown();
  if (world.violation !== undefined) return;
  await world.pass();
  await world.letPass(SETTLED_MS);
  await converge(world);
  holds.push(...(world.lastPlan?.holds ?? []).map((hold) => hold.code));
  for (let release = 0; release < 4 && world.violation === undefined; release += 1) {
    const plan = world.lastPlan;
    if (plan === undefined || !(await releaseHolds(world, plan))) break;
    await converge(world);
  }
  if (world.violation !== undefined) return;
  await staysQuiet(world);
  if (world.violation === undefined) await world.compareLedger();
}

async function converge(world: World): Promise<void> {
  let faults: string[] = ['nothing was tried'];
  // What the platform refuses for good is tried three times, and is then a hold.
  for (let round = 1, refusals = 0; round <= ROUNDS_MAX + refusals && faults.length > 0; round += 1) {
    if (world.violation !== undefined) return;
    const { refused } = world;
    let outcome = await world.pass();
    if (world.violation !== undefined || outcome === undefined) return;
    if (outcome.type === 'refused') {
      // Told how many, a person lets them through.
      world.limits = { ...world.limits, maxPrunes: 1000 };
      outcome = await world.pass();
    }
    if (outcome?.type === 'ended' && outcome.waits.length > 0) {
      // What must come to run gets the time that its manifest gives it.
      await world.letPass(WAITED_MS);
      outcome = await world.pass();
    }
    if (world.violation !== undefined || outcome === undefined) return;
    faults =
      outcome.type === 'ended' && outcome.error === undefined
        ? [...(outcome.waits.length > 0 ? ['still waiting'] : []), ...differences(world, outcome.plan)]
        : [`the pass was ${outcome.type}: ${JSON.stringify(outcome)}`];
    if (world.refused > refused) refusals = Math.min(refusals + 1, FAILURES_MAX);
    await world.letPass(ROUND_MS);
  }
  if (faults.length > 0) world.violate('L-CONV', `after ${ROUNDS_MAX} calm rounds: ${faults.join('; ')}`);
}

async function staysQuiet(world: World): Promise<void> {
  const writes = world.truth.sent.length;
  const { commits } = world.books;
  await world.pass();
  if (world.truth.sent.length > writes) world.violate('L-QUIET', 'a round after convergence wrote to the platform');
  if (world.books.commits > commits) world.violate('L-QUIET', 'a round after convergence told the ledger something');
}
