/**
 * `npm run simulate`: schedules of the production core in a simulated world, on every core there is.
 *
 *   --schedules N   how many (default 10000)
 *   --seed S        of the first one; the others follow (default: by the clock)
 *   --ledger KIND   memory (default) or sqlite
 *   --drivers SHARE how many of them run the daemon and the commands, 0 to 1 (default 0.02)
 *   --replicas SHARE  how many of them run several controllers, 0 to 1 (default 0.005)
 *   --workers N     processes (default 2)
 *   --replay SEED   one schedule only: the least that makes it fail, with its trace
 *   --exhaustive    journal and guards: two controllers and two objects, every order of steps, crashes and lost answers
 *   --leases        the lease protocol of several controllers: every state
 *   --faults N      with --exhaustive: fewer crashes and lost answers in one history
 *   --mutants       protocols with one thing wrong in them, each with the seed or case that kills it
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BatchReport, type BatchTask, explain, merged, runBatch } from './batch.ts';
import { type Death, deathOf } from './killers.ts';
import { driverDeathOf } from './drivers/deaths.ts';
import { driversText } from './drivers/mix.ts';
import { driverMutants } from './drivers/mutants.ts';
import { leaseDeathOf, leases } from './leases/report.ts';
import { leaseMutants } from './leases/rules.ts';
import type { LedgerKind } from './ledgers.ts';
import { modelDeathOf } from './model/deaths.ts';
import { modelMutants } from './model/mutants.ts';
import { exhaustive } from './model/report.ts';
import { mutants } from './mutants.ts';
import { replicaDeathOf } from './replicas/deaths.ts';
import { replicaMutants } from './replicas/mutants.ts';
import type { Tally } from './schedule.ts';

const FAILURES_MAX = 10;
const FAILURES_EXPLAINED = 3;
const SEEDS_PER_MUTANT_MAX = 5_000;
/** Small enough to show progress and to end together, large enough to cost nothing. */
const SCHEDULES_PER_TASK_MAX = 1_000;
const TASKS_PER_WORKER_MIN = 4;
/** How a worker process is told that it is one. */
const WORKER = '--worker';
/**
 * Threads of one process wait for each other in the memory allocator, so each worker is a process. It has nothing to
 * gain from a collector with threads of its own while every core is at work. No object outlives its schedule: one that
 * V8 took for long-lived would keep its whole world, and that the next, until the old space is full.
 */
const WORKER_OPTIONS = ['--single-threaded-gc', '--no-allocation-site-pretenuring'];

if (process.argv.includes(WORKER)) serve();
else process.exitCode = await main();

function serve(): void {
  process.on('message', (task: BatchTask) => {
    void runBatch(task).then((report) => process.send?.(report));
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      schedules: { type: 'string', default: '10000' },
      seed: { type: 'string' },
      ledger: { type: 'string', default: 'memory' },
      drivers: { type: 'string', default: '0.02' },
      replicas: { type: 'string', default: '0.005' },
      workers: { type: 'string', default: '2' },
      replay: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      exhaustive: { type: 'boolean', default: false },
      leases: { type: 'boolean', default: false },
      faults: { type: 'string', default: '3' },
    },
  });
  const ledger = values.ledger as LedgerKind;
  if (ledger !== 'memory' && ledger !== 'sqlite') throw new Error(`--ledger is memory or sqlite, not ${values.ledger}`);
  const shares = {
    driversShare: shareOf('drivers', values.drivers),
    replicasShare: shareOf('replicas', values.replicas),
  };
  if (values.mutants) return await listMutants();
  const write = (text: string): void => void process.stdout.write(text);
  if (values.leases) return leases(write);
  if (values.exhaustive) {
    const options = { faultsMax: Number(values.faults), workers: Number(values.workers), write };
    return exhaustive(options);
  }
  if (values.replay !== undefined) {
    process.stdout.write(await explain(Number(values.replay), ledger, shares));
    return 0;
  }
  const firstSeed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
  const workers = Number(values.workers);
  const startedMs = performance.now();
  const report = await inProcesses(
    tasksOf({ firstSeed, ledger, ...shares, failuresMax: FAILURES_MAX }, Number(values.schedules), workers),
    workers,
  );
  const seconds = (performance.now() - startedMs) / 1000;
  print(report, { firstSeed, seconds, workers, ledger });
  for (const { seed } of report.failures.slice(0, FAILURES_EXPLAINED)) {
    process.stdout.write(`\n${await explain(seed, ledger, shares)}`);
  }
  return report.failures.length === 0 ? 0 : 1;
}

function shareOf(option: string, text: string): number {
  const share = Number(text);
  if (!(share >= 0 && share <= 1)) throw new Error(`--${option} is a share of 0 to 1, not ${text}`);
  return share;
}

/** @returns the exit code: 1 when a mutant lives, or dies of what has nothing to do with it. */
async function listMutants(): Promise<number> {
  const deaths: (Death | undefined)[] = [];
  for (const mutant of mutants) {
    const death = await deathOf(mutant, SEEDS_PER_MUTANT_MAX);
    deaths.push(death);
    const by = death === undefined ? 'SURVIVES' : death.isRight ? death.by : `WRONGLY by ${death.by}`;
    process.stdout.write(`${by.padEnd(8)}  ${mutant.name}  ${howText(death)}\n`);
  }
  for (const mutant of driverMutants) {
    const found = await driverDeathOf(mutant);
    deaths.push(found && { ...found, how: mutant.seed });
    process.stdout.write(`${(found?.by ?? 'SURVIVES').padEnd(8)}  drivers: ${mutant.name}  seed ${mutant.seed}\n`);
  }
  for (const mutant of replicaMutants) {
    const found = await replicaDeathOf(mutant);
    deaths.push(found && { ...found, how: mutant.seed });
    process.stdout.write(`${(found?.by ?? 'SURVIVES').padEnd(8)}  replicas: ${mutant.name}  seed ${mutant.seed}\n`);
  }
  for (const mutant of modelMutants) {
    const { by, executions } = await modelDeathOf(mutant);
    deaths.push(by === undefined ? undefined : { by, isRight: mutant.rightly.includes(by), how: executions });
    process.stdout.write(`${(by ?? 'SURVIVES').padEnd(8)}  model: ${mutant.name}  ${executions} executions\n`);
  }
  for (const mutant of leaseMutants) {
    const { violation, states } = leaseDeathOf(mutant);
    const by = violation?.slice(0, violation.indexOf(':'));
    deaths.push(by === undefined ? undefined : { by, isRight: mutant.rightly.includes(by), how: states });
    process.stdout.write(`${(by ?? 'SURVIVES').padEnd(8)}  leases: ${mutant.name}  ${states} states\n`);
  }
  const killed = deaths.filter((death) => death?.isRight === true).length;
  const wrongly = deaths.filter((death) => death?.isRight === false).length;
  process.stdout.write(`${killed} mutants killed, ${wrongly} wrongly, ${deaths.length - killed - wrongly} alive\n`);
  return killed === deaths.length ? 0 : 1;
}

function howText(death: Death | undefined): string {
  if (death === undefined) return '';
  return typeof death.how === 'number' ? `seed ${death.how}` : JSON.stringify(death.how);
}

function tasksOf(whole: Omit<BatchTask, 'schedules'>, schedules: number, workers: number): BatchTask[] {
  const tasks: BatchTask[] = [];
  const most = Math.min(SCHEDULES_PER_TASK_MAX, Math.ceil(schedules / workers / TASKS_PER_WORKER_MIN));
  for (let done = 0; done < schedules; done += most) {
    const count = Math.min(most, schedules - done);
    tasks.push({ ...whole, firstSeed: whole.firstSeed + done, schedules: count });
  }
  return tasks;
}

async function inProcesses(tasks: BatchTask[], workers: number): Promise<BatchReport> {
  const reports: BatchReport[] = [];
  const work = async (): Promise<void> => {
    const worker = fork(fileURLToPath(import.meta.url), [WORKER], { execArgv: WORKER_OPTIONS });
    try {
      for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
        const report = await ask(worker, task);
        reports.push(report);
        for (const failure of report.failures) process.stderr.write(`${failureText(failure)}\n`);
        const failures = reports.reduce((sum, report) => sum + report.failures.length, 0);
        const done = reports.reduce((sum, report) => sum + report.schedules, 0);
        process.stderr.write(`${done} schedules, ${failures} failures\n`);
        if (failures >= FAILURES_MAX) tasks.length = 0;
      }
    } finally {
      worker.disconnect();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return merged(reports);
}

function ask(worker: ChildProcess, task: BatchTask): Promise<BatchReport> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null): void => reject(new Error(`a worker ended with exit code ${code}`));
    worker.once('message', (report) => {
      worker.off('exit', died);
      resolve(report as BatchReport);
    });
    worker.once('exit', died);
    worker.send(task);
  });
}

/** What a schedule of one application is worth: the fewer of its passes find nothing to do, the more. */
function worthOf({ writes, commits, passes, idlePasses, effects }: Tally, schedules: number): string {
  if (schedules === 0) return 'no schedule was of one application';
  const mean = (count: number): string => (count / schedules).toFixed(2);
  return `each schedule of one application: ${mean(writes)} writes, ${mean(commits)} commits, ${mean(effects)} effects, ${mean(passes)} passes of which ${mean(idlePasses)} amid chaos had nothing to do`;
}

function print(
  report: BatchReport,
  run: { readonly firstSeed: number; readonly seconds: number; readonly workers: number; readonly ledger: LedgerKind },
): void {
  const { schedules, steps, virtualMs, repeated, failures } = report;
  const perSecond = schedules / run.seconds / run.workers;
  const table = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .sort(([, left], [, right]) => right - left)
      .map(([name, count]) => `  ${String(count).padStart(9)}  ${name}`)
      .join('\n');
  const injected = Object.values(report.counts).reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    [
      `${schedules} schedules from seed ${run.firstSeed}, ${run.ledger} ledger, ${run.workers} workers, ${run.seconds.toFixed(1)} s`,
      `${perSecond.toFixed(0)} schedules/s/core, ${(schedules / (report.cpuMs / 1000)).toFixed(0)} in a second of processor time; ${(steps / schedules).toFixed(0)} steps and ${(virtualMs / schedules / 60_000).toFixed(0)} virtual minutes each; ${Math.round(virtualMs / 1000 / run.seconds)} times real time`,
      worthOf(report.tally, schedules - report.drivers.schedules),
      driversText(report.drivers, schedules),
      `${repeated} seeds run twice`,
      `${injected} faults injected, ${(injected / schedules).toFixed(2)} in each:`,
      table(report.counts),
      'held at the end, each for a known cause:',
      table(report.holds),
      `${failures.length} failures${failures.length === 0 ? '' : ':'}`,
      ...failures.map(failureText),
      '',
    ].join('\n'),
  );
}

function failureText({ seed, invariant, message }: BatchReport['failures'][number]): string {
  return `  seed ${seed}: ${invariant}: ${message.slice(0, 300)}`;
}
