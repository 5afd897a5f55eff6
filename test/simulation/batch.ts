import { hostOf, type LedgerKind } from './ledgers.ts';
import {
  allDrivers,
  driversOf,
  type DriversReport,
  explainDrivers,
  noDrivers,
  type Shares,
  withDrivers,
} from './drivers/mix.ts';
import { minimise } from './minimise.ts';
import { inWords, type Script } from './perturbations.ts';
import { runSchedule, type ScheduleResult, type Tally } from './schedule.ts';
import { summed } from './sums.ts';

export interface BatchTask extends Shares {
  readonly firstSeed: number;
  readonly schedules: number;
  readonly ledger: LedgerKind;
  /** Stops after so many failures. */
  readonly failuresMax: number;
}

export interface Failure {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
}

/** What a batch of schedules came to; plain data, so that it crosses threads. */
export interface BatchReport {
  readonly schedules: number;
  readonly steps: number;
  readonly tally: Tally;
  readonly virtualMs: number;
  /** Time on a processor: what it took, however busy the machine is with other things. */
  readonly cpuMs: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly holds: Readonly<Record<string, number>>;
  readonly repeated: number;
  readonly drivers: DriversReport;
  readonly failures: readonly Failure[];
}

/** One in so many seeds runs twice, and must leave the same trace. */
const REPEAT_EACH = 100;

export async function runBatch(task: BatchTask): Promise<BatchReport> {
  const counts: Record<string, number> = {};
  const holds: Record<string, number> = {};
  const failures: Failure[] = [];
  const startedCpu = process.cpuUsage();
  // Errors are everyday values here, and nobody reads where they were made; `explain` does, and runs with traces.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  let tally = nothing;
  let drivers = noDrivers;
  let [schedules, steps, virtualMs, repeated] = [0, 0, 0, 0];
  const add = (to: Record<string, number>, key: string, count: number): void => {
    to[key] = (to[key] ?? 0) + count;
  };
  for (let seed = task.firstSeed; seed < task.firstSeed + task.schedules; seed += 1) {
    const beganCpu = process.cpuUsage();
    const run = driversOf(seed, task) ?? runSchedule;
    const result = await run(seed, { ledgers: hostOf(task.ledger) });
    schedules += 1;
    steps += result.steps;
    if ('tally' in result) tally = summed(tally, result.tally);
    else drivers = withDrivers(drivers, result, cpuMsSince(beganCpu));
    virtualMs += result.virtualMs;
    for (const [kind, count] of result.counts) add(counts, kind, count);
    for (const code of 'holds' in result ? result.holds : []) add(holds, code, 1);
    if (result.violation !== undefined) failures.push({ seed, ...result.violation });
    if (seed % REPEAT_EACH === 0) {
      repeated += 1;
      const again = await run(seed, { ledgers: hostOf(task.ledger) });
      if (again.traceHash !== result.traceHash) {
        failures.push({ seed, invariant: 'DETERMINISM', message: 'the same seed left two traces' });
      }
    }
    if (failures.length >= task.failuresMax) break;
  }
  Error.stackTraceLimit = stackTraceLimit;
  const cpuMs = cpuMsSince(startedCpu);
  return { schedules, steps, tally, virtualMs, cpuMs, counts, holds, repeated, drivers, failures };
}

function cpuMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

const nothing: Tally = { writes: 0, commits: 0, passes: 0, idlePasses: 0, effects: 0 };

export function merged(reports: readonly BatchReport[]): BatchReport {
  const sum = (of: (report: BatchReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const counted = (of: (report: BatchReport) => Readonly<Record<string, number>>): Record<string, number> => {
    const total: Record<string, number> = {};
    for (const report of reports) {
      for (const [key, count] of Object.entries(of(report))) total[key] = (total[key] ?? 0) + count;
    }
    return total;
  };
  return {
    schedules: sum((report) => report.schedules),
    steps: sum((report) => report.steps),
    tally: reports.reduce((total, report) => summed(total, report.tally), nothing),
    virtualMs: sum((report) => report.virtualMs),
    cpuMs: sum((report) => report.cpuMs),
    counts: counted((report) => report.counts),
    holds: counted((report) => report.holds),
    repeated: sum((report) => report.repeated),
    drivers: allDrivers(reports.map((report) => report.drivers)),
    failures: reports.flatMap((report) => report.failures),
  };
}

/** Everything a person needs of a failure: the least that goes wrong, what happens then, and how to see it again. */
export async function explain(seed: number, ledger: LedgerKind, shares: Shares): Promise<string> {
  const run = driversOf(seed, shares);
  if (run !== undefined) return explainDrivers(seed, run, ledger);
  const first = await runSchedule(seed, { ledgers: hostOf(ledger) });
  if (first.violation === undefined) return `seed ${seed}: nothing is wrong\n`;
  const { invariant } = first.violation;
  const replay = (script: Script, tracing: boolean): Promise<ScheduleResult> =>
    runSchedule(seed, { ledgers: hostOf(ledger), script, tracing });
  const least = await minimise(
    first.script,
    async (part) => (await replay(part, false)).violation?.invariant === invariant,
  );
  const { trace, violation } = await replay(least, true);
  return [
    `seed ${seed}: ${invariant}: ${violation?.message ?? first.violation.message}`,
    '',
    `the least that makes it fail (${least.length} of ${first.script.length}):`,
    ...least.map(([step, perturbation]) => `  step ${step}: ${inWords(perturbation)}`),
    '',
    ...trace,
    '',
    `again: npm run simulate -- --replay ${seed}${ledger === 'memory' ? '' : ` --ledger ${ledger}`}`,
    '',
  ].join('\n');
}
