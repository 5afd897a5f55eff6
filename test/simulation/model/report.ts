import { type Exploration, type ExplorationReport, explore, retrace } from './explore.ts';
import { pair, scenarios } from './scenario.ts';

/** What the model leaves out because it changes nothing, or takes for granted; each is explained where it is done. */
export const reductions: readonly (readonly [name: string, what: string])[] = [
  ['seen moments', 'what follows a moment that was seen with as many faults left is not run again'],
  [
    'processes by what they heard',
    'a process is its ledger when it began and every answer since, in order; ids and numbers of processes are renamed',
  ],
  ['passes', 'between two passes a daemon is what it has written down, whether it has looked before, and its status'],
  ['dates', 'dates that are only shown are equal; settle windows count from now'],
  ['crashes', 'a process dies only after ledger, platform or a waiting time has moved: between those it loses nothing'],
  [
    'beginnings',
    'once everybody is dead, only ledger, platform and late writes are left: each such state is begun from once',
  ],
  ['overtaking', 'a controller is overtaken only with a write under way; without one that is a crash'],
  ['fenced', 'what an overtaken controller reads, or fails to commit, happens at once'],
  [
    'independence',
    'writes of others come only before requests that they make a difference to: which is tried on the platform as it is, in every order of the writes',
  ],
  ['time', 'time passes only when nobody can do anything; a late write acts before its settle window ends'],
  ['order of asking', 'what one process has under way at once happens in the order in which it was asked for'],
];

/** @param faultsMax fewer than a scenario has. @throws Error when there is no such scenario. */
export function explorationOf(name: string, faultsMax = Number.POSITIVE_INFINITY): Exploration {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario "${name}"`);
  return { scenario, pair, faults: Math.min(scenario.faults, faultsMax) };
}

/** `npm run simulate -- --exhaustive`. @returns the exit code. */
export async function exhaustive(faultsMax: number, write: (text: string) => void): Promise<number> {
  const reports: ExplorationReport[] = [];
  write(`two controllers (${pair.join(', ')}), one application, two objects\nreductions:\n`);
  for (const [name, what] of reductions) write(`  ${name}: ${what}\n`);
  for (const { name } of scenarios) {
    const exploration = explorationOf(name, faultsMax);
    const report = await explore(exploration);
    reports.push(report);
    write(`${name}, at most ${exploration.faults} crashes or lost answers: ${text(report)}\n`);
    if (report.violation === undefined) continue;
    write(`  ${report.path.join('\n  ')}\n\n${(await retrace(exploration, report.path)).join('\n')}\n`);
  }
  const sum = (of: (report: ExplorationReport) => number): number => reports.reduce((all, one) => all + of(one), 0);
  const violations = sum(({ violation }) => Number(violation !== undefined));
  const processorSeconds = process.cpuUsage().user / 1e6;
  write(
    `${sum(({ executions }) => executions)} executions, ${sum(({ states }) => states)} states of ledger and platform, ${sum(({ moments }) => moments)} moments, ${violations} violations, ${sum(({ seconds }) => seconds).toFixed(0)} s, of which ${processorSeconds.toFixed(0)} s of processor time\n`,
  );
  return violations === 0 ? 0 : 1;
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
