import { Chance } from '../chance.ts';
import { hostOf, type LedgerKind } from '../ledgers.ts';
import { minimise } from '../minimise.ts';
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
  readonly ran: Readonly<Record<keyof Ran, number>>;
}

export const noDrivers: DriversReport = {
  schedules: 0,
  cpuMs: 0,
  ran: { daemon: 0, command: 0, approvals: 0, shared: 0, installs: 0, source: 0, replicas: 0, takeovers: 0 },
};

export function withDrivers(report: DriversReport, { ran }: DriversResult, cpuMs: number): DriversReport {
  return {
    schedules: report.schedules + 1,
    cpuMs: report.cpuMs + cpuMs,
    ran: together(report.ran, (name) => Number(ran[name])),
  };
}

export function allDrivers(reports: readonly DriversReport[]): DriversReport {
  return reports.reduce(
    (total, one) => ({
      schedules: total.schedules + one.schedules,
      cpuMs: total.cpuMs + one.cpuMs,
      ran: together(total.ran, (name) => one.ran[name]),
    }),
    noDrivers,
  );
}

function together(left: DriversReport['ran'], right: (name: keyof Ran) => number): DriversReport['ran'] {
  return {
    daemon: left.daemon + right('daemon'),
    command: left.command + right('command'),
    approvals: left.approvals + right('approvals'),
    shared: left.shared + right('shared'),
    installs: left.installs + right('installs'),
    source: left.source + right('source'),
    replicas: left.replicas + right('replicas'),
    takeovers: left.takeovers + right('takeovers'),
  };
}

/** @param all schedules of the run. */
export function driversText({ schedules, ran, cpuMs }: DriversReport, all: number): string {
  const share = (count: number): string => `${((count / Math.max(1, all)) * 100).toFixed(2)} %`;
  const perHour = schedules === 0 ? 0 : Math.round((schedules / cpuMs) * 3_600_000);
  return `of all: ${share(ran.daemon)} ran the daemon, ${share(ran.command)} the command, ${share(ran.approvals)} approvals, ${share(ran.shared)} shared readings, ${share(ran.installs)} installs, ${share(ran.source)} a changing source, ${share(ran.replicas)} several controllers, ${share(ran.takeovers)} takeovers; ${schedules} schedules of drivers, ${perHour} in an hour of processor time`;
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
