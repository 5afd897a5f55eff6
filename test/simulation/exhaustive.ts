import { shareLimits } from '../../src/plan/guard.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { Controller } from './controller.ts';
import { memoryHost } from './ledgers.ts';
import { faultsFor, type Effect, type Perturbation, type Script } from './perturbations.ts';
import { runWorld, type ScheduleResult } from './schedule.ts';
import { type Mutant, unchanged } from './mutant.ts';
import type { Settings } from './world.ts';
import { type Workload, workloads } from './workloads.ts';

/** A sweep over every point of every workload. */
export interface SweepReport {
  schedules: number;
  readonly failures: SweepFailure[];
}

export interface SweepFailure extends Case {
  readonly invariant: string;
  readonly message: string;
}

/** One schedule of one workload. */
export interface Case {
  readonly workload: string;
  readonly dialect: Dialect;
  readonly script: Script;
  /** Of pauses and latencies; 1 unless told. */
  readonly seed?: number;
}

export interface SweepOptions {
  /** Only every n-th schedule, from this one on: a sample. */
  readonly each: number;
  readonly from: number;
  readonly mutant?: Mutant;
}

export const everything: SweepOptions = { each: 1, from: 0 };

type Crash = Extract<Perturbation, { type: 'crash' }>;

/** One answer per verdict of the classifier, with the effect and without it where both can be. */
const REPRESENTATIVES: readonly string[] = [
  'refused',
  'reset-before',
  'reset-after',
  'reset-late',
  'timeout-late',
  'status-500-late',
  'cluster-400-after',
  'busy-409-before',
  'status-503-retry-after-after',
  'licence-401-after',
  'forbidden-403-before',
  'validation-400-before',
  'page-200-after',
  'foreign-id',
  'accepted-not-done',
];

const crash = (when: Crash['when'], reboots = false): Crash => ({ type: 'crash', when, downMs: 0, a: 5, reboots });
const CRASHES: readonly Crash[] = [crash('before'), crash('during'), crash('after'), crash('after', true)];
/** How far behind a fault its process still dies: the answer, its outcome, and what comes next. */
const STEPS_AFTER_FAULT = 6;
/** The second crash strikes at most so many steps after the first: by then the successor has seen everything. */
const STEPS_BETWEEN_CRASHES = 24;

export type Sweep = (effects: readonly Effect[]) => Generator<Script>;

/** Every crash point. */
export const singleCrashes: Sweep = function* (effects) {
  for (let step = 1; step <= effects.length; step += 1)
    for (const each of crashesAt(effects[step - 1])) yield [[step, each]];
};

/** Every fault at every effect that it can befall. */
export const singleFaults: Sweep = function* (effects) {
  for (const [index, effect] of effects.entries()) {
    for (const perturbation of faultsAt(effect)) yield [[index + 1, perturbation]];
  }
};

/** Every pair of crash points. */
export const crashPairs: Sweep = function* (effects) {
  for (let first = 1; first <= effects.length; first += 1) {
    for (const one of crashesAt(effects[first - 1]).slice(0, 3)) {
      for (let second = first + 1; second <= first + STEPS_BETWEEN_CRASHES; second += 1) {
        for (const other of CRASHES.slice(0, 3))
          yield [
            [first, one],
            [second, other],
          ];
      }
    }
  }
};

/** Every kind of fault at every write, and a crash at every step that follows. */
export const crashesAfterFaults: Sweep = function* (effects) {
  for (const [index, effect] of effects.entries()) {
    if (effect.kind !== 'write') continue;
    for (const fault of faultsFor(effect).filter((name) => REPRESENTATIVES.includes(name))) {
      for (let after = 1; after <= STEPS_AFTER_FAULT; after += 1) {
        for (const one of CRASHES.slice(0, 3)) {
          yield [
            [index + 1, { type: 'write', fault, a: 11 + after }],
            [index + 1 + after, one],
          ];
        }
      }
    }
  }
};

function crashesAt(effect: Effect | undefined): readonly Crash[] {
  return CRASHES.filter((each) => each.when !== 'during' || effect?.kind === 'write');
}

function faultsAt(effect: Effect): Perturbation[] {
  const others: Perturbation[] = [{ type: 'takeover' }, { type: 'stop', downMs: 0 }];
  switch (effect.kind) {
    case 'read':
    case 'write': {
      const { kind } = effect;
      return [
        ...faultsFor(effect).flatMap((fault) => [3, 8].map((a): Perturbation => ({ type: kind, fault, a }))),
        ...others,
      ];
    }
    case 'commit':
      return [
        ...[1, 2, 3, 6].map((commits): Perturbation => ({ type: 'full', commits })),
        ...[1_999, 2_000, 30_000].map((ms): Perturbation => ({ type: 'pause', ms })),
        { type: 'pause', ms: 30_000, suspension: { jumpMs: -600_000 } },
        ...others,
      ];
    case 'sleep':
    case 'rest':
      return others;
  }
}

/** Runs a sweep over all workloads, in every dialect that has them. */
export async function sweep(kind: Sweep, { each, from, mutant }: SweepOptions): Promise<SweepReport> {
  const report: SweepReport = { schedules: 0, failures: [] };
  let turn = from;
  for (const workload of workloads) {
    for (const dialect of workload.dialects) {
      for (const script of kind(await effectsOf(workload, dialect))) {
        turn += 1;
        if (turn % each !== 0) continue;
        report.schedules += 1;
        const one = { workload: workload.name, dialect, script };
        const { violation } = await live(one, { mutant });
        if (violation !== undefined) {
          report.failures.push({ ...one, ...violation });
          if (report.failures.length >= (mutant === undefined ? 5 : 1)) return report;
        }
      }
    }
  }
  return report;
}

/** The effects of a workload when nothing goes wrong, from its first look until it rests. */
export async function effectsOf(workload: Workload, dialect: Dialect): Promise<readonly Effect[]> {
  const effects: Effect[] = [];
  const one = { workload: workload.name, dialect, script: [] };
  const { violation } = await live(one, { watch: (effect) => effects.push(effect) });
  if (violation === undefined) return effects;
  throw new Error(`${dialect}: ${workload.name}: ${violation.invariant}: ${violation.message}`);
}

export interface LiveOptions {
  readonly mutant?: Mutant | undefined;
  readonly watch?: (effect: Effect) => void;
}

/** Lives through one case. */
export function live(
  { workload, dialect, script, seed = 1 }: Case,
  { mutant, watch }: LiveOptions = {},
): Promise<ScheduleResult> {
  const found = workloads.find((candidate) => candidate.name === workload);
  if (found === undefined) throw new Error(`there is no workload "${workload}"`);
  const { before, wishes, platform } = found;
  const settings: Settings = {
    seed,
    platform,
    wishes: before ?? wishes,
    dialect,
    dialectSetting: dialect,
    plan: { at: () => undefined },
    ledgers: mutant?.ledgers() ?? memoryHost(),
    spawn: (world, number) => new Controller(world, number),
    limits: { ...shareLimits(1), maxPrunes: 1000, allowedScopes: ['*/*/*'] },
    firstInstall: true,
    mutant: mutant ?? unchanged,
    tracing: false,
    checksSecrets: true,
    answersAsValues: false,
    comparesLedger: false,
    restsLong: false,
    mayReadOnly: false,
  };
  return runWorld(settings, script, script.at(-1)?.[0] ?? 0, { wishes, script, watch });
}
