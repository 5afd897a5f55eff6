import { Chance } from '../chance.ts';
import { hostOf, type LedgerKind } from '../ledgers.ts';
import { minimise } from '../minimise.ts';
import { summed } from '../sums.ts';
import { driverInWords } from './perturbations.ts';
import { type DriversOptions, type DriversResult, type Ran, runDrivers } from './schedule.ts';
import { runReplicas } from '../replicas/schedule.ts';

function isOfDrivers(seed: number, share: number): boolean {
  return share > 0 && new Chance(seed, 20).happens(share);
}

/** Which seeds mean schedules of whole drivers; the others mean one application. Each is a share of all, 0 to 1. */
export interface Shares {
  readonly driversShare: number;
  /** Of several controllers. */
  readonly replicasShare: number;
}

/** The run of a seed that means a schedule of drivers; undefined: it means one application. */
export function driversOf(
  seed: number,
  { driversShare, replicasShare }: Shares,
): ((seed: number, options?: DriversOptions) => Promise<DriversResult>) | undefined {
  if (replicasShare > 0 && new Chance(seed, 21).happens(replicasShare)) return runReplicas;
  return isOfDrivers(seed, driversShare) ? runDrivers : undefined;
}

/** What schedules of drivers came to; plain data, so that it crosses processes. */
export interface DriversReport {
  readonly schedules: number;
  readonly cpuMs: number;
  /** Of all schedules together. */
  readonly writes: number;
  readonly commits: number;
  readonly passes: number;
  readonly ran: Readonly<Record<keyof Ran, number>>;
}

export const noDrivers: DriversReport = {
  schedules: 0,
  cpuMs: 0,
  writes: 0,
  commits: 0,
  passes: 0,
  ran: { daemon: 0, command: 0, approvals: 0, shared: 0, installs: 0, source: 0, replicas: 0, takeovers: 0 },
};

export function withDrivers(report: DriversReport, result: DriversResult, cpuMs: number): DriversReport {
  const { writes, commits, passes } = result;
  const names = Object.keys(noDrivers.ran) as (keyof Ran)[];
  const ran = Object.fromEntries(names.map((name) => [name, Number(result.ran[name])])) as DriversReport['ran'];
  return together(report, { schedules: 1, cpuMs, writes, commits, passes, ran });
}

export function allDrivers(reports: readonly DriversReport[]): DriversReport {
  return reports.reduce(together, noDrivers);
}

function together({ ran, ...left }: DriversReport, { ran: alsoRan, ...right }: DriversReport): DriversReport {
  return { ...summed(left, right), ran: summed(ran, alsoRan) };
}

/** @param all schedules of the run. */
export function driversText({ schedules, ran, cpuMs, ...counts }: DriversReport, all: number): string {
  const share = (count: number): string => `${((count / Math.max(1, all)) * 100).toFixed(2)} %`;
  const mean = (count: number): string => (count / Math.max(1, schedules)).toFixed(2);
  const each = `${mean(counts.writes)} writes, ${mean(counts.commits)} commits, ${mean(counts.passes)} passes in each`;
  const perHour = schedules === 0 ? 0 : Math.round((schedules / cpuMs) * 3_600_000);
  return `of all: ${share(ran.daemon)} ran the daemon, ${share(ran.command)} the command, ${share(ran.approvals)} approvals, ${share(ran.shared)} shared readings, ${share(ran.installs)} installs, ${share(ran.source)} a changing source, ${share(ran.replicas)} several controllers, ${share(ran.takeovers)} takeovers; ${schedules} schedules of drivers, ${each}, ${perHour} in an hour of processor time`;
}

/** As `explain` of one application. */
export async function explainDrivers(
  seed: number,
  run: NonNullable<ReturnType<typeof driversOf>>,
  ledger: LedgerKind,
): Promise<string> {
  const first = await run(seed, { ledgers: hostOf(ledger) });
  if (first.violation === undefined) return `seed ${seed} of drivers: nothing is wrong\n`;
  const { invariant } = first.violation;
  const least = await minimise(first.script, async (script) => {
    const { violation } = await run(seed, { ledgers: hostOf(ledger), script });
    return violation?.invariant === invariant;
  });
  const { trace, violation } = await run(seed, { ledgers: hostOf(ledger), script: least, tracing: true });
  return [
    `seed ${seed} of drivers: ${invariant}: ${violation?.message ?? first.violation.message}`,
    '',
    `the least that makes it fail (${least.length} of ${first.script.length}):`,
    ...least.map(([step, perturbation]) => `  step ${step}: ${driverInWords(perturbation)}`),
    '',
    ...trace,
    '',
    `again: npm run simulate -- ${run === runReplicas ? '--replicas 1' : '--drivers 1 --replicas 0'} --replay ${seed}${ledger === 'memory' ? '' : ` --ledger ${ledger}`}`,
    '',
  ].join('\n');
}
