import { shareLimits } from '../../src/plan/guard.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import type { Violation } from './books.ts';
import { Chance } from './chance.ts';
import { Controller } from './controller.ts';
import { isPending } from './books.ts';
import { differences } from './goal.ts';
import { type LedgerHost, memoryHost } from './ledgers.ts';
import { releaseHolds } from './person.ts';
import { anySwarm, type Effect, type Plan, RandomPlan, Rarities, type Script, scripted } from './perturbations.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { FAILURES_MAX } from '../../src/plan/doubts.ts';
import { anyPlatform, anyWishes, DOMAINS, INSTALLS, MODELS, PATHS, SERVICES, type Wishes } from './shop.ts';
import { ruleNames } from './places.ts';
import { type Mutant, unchanged } from './mutant.ts';
import { type Settings, World } from './world.ts';

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
  readonly tally: Tally;
  readonly virtualMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly holds: readonly string[];
}

/** How much happened: what a schedule is worth. */
export interface Tally {
  readonly writes: number;
  readonly commits: number;
  readonly passes: number;
  /** Passes in chaos that neither wrote nor told the ledger anything. */
  readonly idlePasses: number;
  /** Steps in which something was read, written or waited for. */
  readonly effects: number;
}

/** The rounds in which a scope must reach what git says, once nothing goes wrong any more. */
const ROUNDS_MAX = 3;
/** Longer than any settle window and any request under way. */
const SETTLED_MS = defaultTiming.settleInstallMs + 900_000 + 60_000;

/** Between two rounds; longer than a scope waits after a write in doubt. */
const ROUND_MS = defaultTiming.settleTargetStateMs + 10_000;
/** Between two rounds while a creation is in doubt. */
const ROUND_IN_DOUBT_MS = defaultTiming.settleCreationMs + 10_000;
/** Longer than any `wait.timeout`. */
const WAITED_MS = 11 * 60_000;

/** One run of everything: chaos, then calm, then what must be true. The seed decides all of it. */
export async function runSchedule(seed: number, options: ScheduleOptions = {}): Promise<ScheduleResult> {
  const { settings, plan, steps } = settingsOf(seed, options);
  return runWorld(settings, options.script ?? (plan as RandomPlan).script, steps);
}

/** A world that first lives in peace until all is as wished, and is then told something else and meets the script. */
export interface Turn {
  readonly wishes: Wishes;
  readonly script: Script;
  /** Told of every effect until the one process rests again; nothing goes wrong then. */
  readonly watch?: ((effect: Effect) => void) | undefined;
}

/** Runs a world of given settings through chaos of so many steps. */
export async function runWorld(
  settings: Settings,
  script: Script,
  chaosSteps: number,
  turn?: Turn,
): Promise<ScheduleResult> {
  const world = new World(settings);
  const holds: string[] = [];
  const restore = settings.mutant.patch();
  const isOver = (): boolean => world.violation !== undefined || world.timeline.nowMs > CHAOS_MS_MAX;
  try {
    world.start();
    if (turn !== undefined) {
      // Where nothing came before, the first process is told at once.
      if (turn.wishes !== settings.wishes) await world.timeline.drive(() => isOver() || world.isAtRest);
      world.turnTo(turn.wishes, turn.watch === undefined ? scripted(turn.script) : watching(turn.watch));
      if (turn.watch !== undefined) await world.timeline.drive(() => isOver() || (world.steps > 0 && world.isAtRest));
    }
    await world.timeline.drive(() => isOver() || world.hasPassed(chaosSteps));
    if (world.violation === undefined) await settle(world, holds);
  } finally {
    restore();
    await settings.ledgers.close();
  }
  return {
    seed: settings.seed,
    violation: world.violation,
    script,
    trace: world.trace.lines,
    traceHash: world.trace.hash,
    steps: world.steps,
    tally: {
      writes: world.truth.sent.length,
      commits: world.books.commits,
      passes: world.passes,
      effects: world.steps - world.pauses.steps,
      idlePasses: world.idlePasses,
    },
    virtualMs: world.timeline.nowMs,
    counts: world.counts,
    holds,
  };
}

function watching(watch: (effect: Effect) => void): Plan {
  return {
    at: (_, effect) => {
      watch(effect);
      return undefined;
    },
  };
}

/** A day. */
const CHAOS_MS_MAX = 86_400_000;

function settingsOf(seed: number, options: ScheduleOptions): { settings: Settings; plan: Plan; steps: number } {
  const chance = new Chance(seed);
  const dialect: Dialect = chance.pick(['documented', 'extended']);
  const swarm = anySwarm(chance);
  const platform = anyPlatform(chance);
  const wishes = marked(anyWishes(chance), new Chance(seed, 20));
  const drawn = new RandomPlan(new Chance(seed, 7), swarm, new Rarities(new Chance(seed, 9), new Chance(seed, 21)));
  const plan = options.script === undefined ? drawn : scripted(options.script);
  const settings: Settings = {
    seed,
    platform,
    wishes,
    dialect,
    dialectSetting: chance.happens(0.3) ? 'auto' : dialect,
    plan,
    ledgers: options.mutant?.ledgers() ?? options.ledgers ?? memoryHost(),
    spawn: (world, number) => new Controller(world, number),
    limits: { ...shareLimits(1), maxPrunes: chance.happens(0.1) ? 1 : 1000, allowedScopes: ['*/*/*'] },
    firstInstall: chance.happens(0.85),
    mutant: options.mutant ?? unchanged,
    tracing: options.tracing ?? false,
    comparesLedger: seed % 4 === 0 || options.tracing === true,
    checksSecrets: seed % 8 === 0 || options.tracing === true,
    answersAsValues: seed % 8 !== 1,
    restsLong: true,
    mayReadOnly: chance.happens(0.2),
  };
  return { settings, plan, steps: swarm.steps };
}

/** Often, every component gives its ports back as they were, and rules are kept or given back. */
function marked(wishes: Wishes, chance: Chance): Wishes {
  const components = chance.happens(0.3) ? [...SERVICES.map(({ name }) => name), ...installed()] : [];
  const mark = chance.pick([{ 'portolan/prune': 'keep' }, { 'portolan/on-removal': 'restore' }]);
  const rules = chance.happens(0.2)
    ? DOMAINS.flatMap((domain) => PATHS.flatMap((path) => ruleNames(domain, path)))
    : [];
  const annotations: (readonly [string, Readonly<Record<string, string>>])[] = [
    ...components.map((name) => [`Component/${name}`, { 'portolan/on-removal': 'restore' }] as const),
    ...rules.map((name) => [`HttpGatewayRule/${name}`, mark] as const),
  ];
  return annotations.length === 0 ? wishes : { ...wishes, annotations: new Map(annotations) };
}

function installed(): readonly string[] {
  return INSTALLS.flatMap((install) => MODELS.map(({ component }) => `${install}-${component}`));
}

/** Calm: within three rounds everything is as git says or held for a cause, and then nothing is written any more. */
async function settle(world: World, holds: string[]): Promise<void> {
  await world.calmDown();
  if (world.violation !== undefined) return;
  // Windows of intents that a process, or a machine, left behind begin when the next one looks.
  if ([...world.books.intents.values()].some(isPending)) await world.pass();
  await world.letPass(SETTLED_MS);
  let rests = await converge(world);
  holds.push(...(world.lastPlan?.holds ?? []).map((hold) => hold.code));
  for (let release = 0; release < 4 && world.violation === undefined; release += 1) {
    const plan = world.lastPlan;
    if (plan === undefined || !(await releaseHolds(world, plan))) break;
    rests = await converge(world);
  }
  if (world.violation !== undefined) return;
  if (!rests) await staysQuiet(world);
  if (world.violation === undefined && world.comparesLedger) await world.compareLedger();
}

/** @returns whether the last round wrote nothing any more, to the platform or the ledger. */
async function converge(world: World): Promise<boolean> {
  let rests = false;
  let faults: string[] = ['nothing was tried'];
  // What was recorded last, such as an adoption, may release what is held: the next round does it.
  let isReleasing = false;
  // What the platform refuses for good is tried three times, and is then a hold; what waited for it, or becomes of it, is tried after that.
  world.refusedRequests.clear();
  for (let round = 1, refusals = 0; round <= ROUNDS_MAX + refusals && (faults.length > 0 || isReleasing); round += 1) {
    if (world.violation !== undefined) return false;
    const { refused } = world;
    const done = world.truth.sent.length + world.books.commits;
    let outcome = await world.pass();
    if (world.violation !== undefined || outcome === undefined) return false;
    if (outcome.type === 'refused') {
      // Told how many, a person lets them through.
      world.limits = { ...world.limits, maxPrunes: 1000 };
      outcome = await world.pass();
    }
    if (outcome?.type === 'ended' && (outcome.waits.length > 0 || world.server.isRestless())) {
      // What must come to run gets the time that its manifest gives it, or that it takes.
      await world.letPass(WAITED_MS);
      outcome = await world.pass();
    }
    if (world.violation !== undefined || outcome === undefined) return false;
    rests = world.truth.sent.length + world.books.commits === done;
    faults =
      outcome.type === 'ended' && outcome.error === undefined
        ? [...(outcome.waits.length > 0 ? ['still waiting'] : []), ...differences(world, outcome.plan)]
        : [`the pass was ${outcome.type}: ${JSON.stringify(outcome)}`];
    if (world.refused > refused) refusals = Math.min(refusals + 1, FAILURES_MAX * world.refusedRequests.size);
    const holds = outcome.type === 'ended' ? outcome.plan.holds : [];
    isReleasing = !rests && holds.length > 0;
    // A refusal that no row of the classifier knows is in doubt first.
    const isSettling = [...world.books.intents.values()].some(isPending);
    if (!rests || faults.length > 0) await world.letPass(isSettling ? ROUND_IN_DOUBT_MS : ROUND_MS);
  }
  if (faults.length > 0) world.violate('L-CONV', `after ${ROUNDS_MAX} calm rounds: ${faults.join('; ')}`);
  return rests;
}

async function staysQuiet(world: World): Promise<void> {
  const writes = world.truth.sent.length;
  const { commits } = world.books;
  await world.pass();
  if (world.truth.sent.length > writes) world.violate('L-QUIET', 'a round after convergence wrote to the platform');
  if (world.books.commits > commits) world.violate('L-QUIET', 'a round after convergence told the ledger something');
}
