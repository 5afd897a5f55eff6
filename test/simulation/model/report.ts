import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Exploration, ExplorationReport } from './explore.ts';
import { pair, scenarios } from './scenario.ts';

const PROCESS = fileURLToPath(new URL('exploring-process.ts', import.meta.url));
/** While every core is at work, a collector with threads of its own gains nothing. */
const PROCESS_OPTIONS = ['--single-threaded-gc'];

/** What the model leaves out because it changes nothing, or takes for granted; each is explained where it is done. */
export const reductions: readonly (readonly [name: string, what: string])[] = [
  ['seen moments', 'what follows a moment that was seen with as many faults left is not run again'],
  [
    'processes by what they heard',
    'a process is its ledger when it began and every answer since, in order; ids and numbers of processes are renamed',
  ],
  ['passes', 'between two passes a daemon is what it has written down, whether it has looked before, and its status'],
  ['dates', 'dates that are only shown are equal; settle windows count from now'],
  [
    'ended times',
    'settle windows that are over are equal, however long ago they ended, and so is all that has been gone from git for as long as a removal waits',
  ],
  [
    'decided requests',
    'of requests whose outcome is decided only one thing is left: which creations were sent and never known',
  ],
  ['crashes', 'a process dies only after ledger, platform or a waiting time has moved: between those it loses nothing'],
  [
    'beginnings',
    'once everybody is dead, only ledger, platform and late writes are left: each such state is begun from once',
  ],
  [
    'overtaking',
    'a controller is overtaken only with a write under way; without one that is a crash. The write acts at any time, as that of a dead one does',
  ],
  [
    'fenced',
    'what an overtaken controller itself does happens at once: each further send needs a commit first, which the ledger refuses',
  ],
  [
    'independence',
    'writes of others come only before requests that they make a difference to: which is tried on the platform as it is, in every order of the writes',
  ],
  ['git', 'a command reads git when it begins: that git moves while it works is tried once, before its first step'],
  ['time', 'time passes only when nobody can do anything; a late write acts before its settle window ends'],
  ['order of asking', 'what one process has under way at once happens in the order in which it was asked for'],
];

/** @param faultsMax fewer than a scenario has. @throws Error when there is no such scenario. */
export function explorationOf(name: string, faultsMax = Number.POSITIVE_INFINITY): Exploration {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario "${name}"`);
  return { scenario, pair, faults: Math.min(scenario.faults, faultsMax) };
}

/** What a process of its own makes of one scenario. */
export interface ScenarioReport {
  readonly report: ExplorationReport;
  /** Of a violation: all that happened, line by line. */
  readonly trace: readonly string[];
  readonly processorSeconds: number;
}

export interface ExhaustiveOptions {
  readonly faultsMax: number;
  /** Processes, each of which explores one scenario after another. */
  readonly workers: number;
  readonly write: (text: string) => void;
}

/** `npm run simulate -- --exhaustive`. @returns the exit code. */
export async function exhaustive({ faultsMax, workers, write }: ExhaustiveOptions): Promise<number> {
  const startedMs = performance.now();
  const reports: ScenarioReport[] = [];
  write(`two controllers (${pair.join(', ')}), one application, two objects\nreductions:\n`);
  for (const [name, what] of reductions) write(`  ${name}: ${what}\n`);
  // The longest first, so that the processes end together.
  const left = scenarios.toSorted((one, other) => other.share - one.share).map(({ name }) => name);
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const found = await inProcess(name, faultsMax);
      reports.push(found);
      const { faults } = explorationOf(name, faultsMax);
      write(`${name}, at most ${faults} crashes or lost answers: ${text(found.report)}\n`);
      if (found.report.violation !== undefined)
        write(`  ${found.report.path.join('\n  ')}\n\n${found.trace.join('\n')}\n`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  const sum = (of: (one: ScenarioReport) => number): number => reports.reduce((all, one) => all + of(one), 0);
  const violations = sum(({ report }) => Number(report.violation !== undefined));
  const processorSeconds = sum((one) => one.processorSeconds);
  const seconds = (performance.now() - startedMs) / 1000;
  write(
    `${sum(({ report }) => report.executions)} executions, ${sum(({ report }) => report.states)} states of ledger and platform, ${sum(({ report }) => report.moments)} moments, ${violations} violations, ${seconds.toFixed(0)} s with ${workers} processes, ${processorSeconds.toFixed(0)} s of processor time\n`,
  );
  return violations === 0 ? 0 : 1;
}

async function inProcess(name: string, faultsMax: number): Promise<ScenarioReport> {
  const args = [...PROCESS_OPTIONS, PROCESS, name, String(faultsMax)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as ScenarioReport;
}

function text({
  executions,
  whole,
  steps,
  moments,
  states,
  beginnings,
  violation,
  seconds,
}: ExplorationReport): string {
  const found = violation === undefined ? '0 violations' : `${violation.invariant}: ${violation.message}`;
  return `${executions} executions (${whole} until all was at rest), ${states} states of ledger and platform, ${moments} moments, ${beginnings} beginnings, ${steps} steps, ${found}, ${seconds.toFixed(1)} s`;
}
