import { exploreLeases, type LeaseReport } from './explore.ts';
import { coarse, production, type LeaseMutant } from './rules.ts';
import type { Setting } from './steps.ts';

/** What the model leaves out because it changes nothing, or takes for granted. */
export const reductions: readonly (readonly [name: string, what: string])[] = [
  [
    'seen states',
    'what follows a state that was seen is not run again; so no history is too long, and none has too many faults',
  ],
  ['time in ticks', 'everything happens at a tick; all times count from now, and what is over is 0'],
  ['epochs by their order', 'they are only compared, so equal orders are equal states'],
  ['processes of one kind', 'their numbers are exchanged'],
  ['pauses', 'a paused process is one that takes no step while others do and time passes, for any length'],
  ['death', 'a process that died is a standby that knows nothing; its statements may still be carried out'],
  ['refused statements', 'a late statement that the database would refuse is forgotten: an epoch never returns'],
  ['late answers', 'an answer that can make no lease valid for longer has no age'],
  [
    'asking',
    'a transaction whose answer was lost is asked for and so heard, because the row of the lease is locked until it ends',
  ],
  [
    'one application',
    'a platform with one write at a time; the settle window is longer than the platform works at a request',
  ],
  [
    'one turn',
    'the first byte leaves within a tick of the check of its deadline, however long a process is paused elsewhere',
  ],
];

interface Part {
  readonly name: string;
  readonly setting: Setting;
}

const base: Setting = { timing: coarse, rules: production, rates: ['even', 'even'], wallOffsets: [0, 0], ghostsMax: 0 };

/** From the quickest to the longest. */
export const parts: readonly Part[] = [
  { name: 'two processes', setting: base },
  { name: 'two processes, of each one statement that comes late', setting: { ...base, ghostsMax: 1 } },
  { name: 'clocks that lose and gain a tick in eight', setting: { ...base, rates: ['slow', 'fast'] } },
];

/** `npm run simulate -- --leases`. @returns the exit code. */
export function leases(write: (text: string) => void): number {
  write('the lease protocol: processes, one platform, a database\nreductions:\n');
  for (const [name, what] of reductions) write(`  ${name}: ${what}\n`);
  let [states, steps, violations] = [0, 0, 0];
  for (const { name, setting } of parts) {
    const report = exploreLeases(setting);
    states += report.states;
    steps += report.steps;
    violations += Number(report.violation !== undefined);
    write(`${name}: ${leaseText(report)}\n`);
  }
  write(`${states} states of the lease protocol, ${steps} steps between them, ${violations} violations\n`);
  return violations === 0 ? 0 : 1;
}

function leaseText({ states, steps, depth, violation, path, seconds }: LeaseReport): string {
  const found = violation === undefined ? '0 violations' : `${violation}\n  ${path.join('\n  ')}\n`;
  return `${states} states, ${steps} steps, the farthest after ${depth}, ${found}, ${seconds.toFixed(1)} s`;
}

/** Explores a mutant until it dies. The wall clock of one process is behind, and its monotonic one, where that is what matters. */
export function leaseDeathOf({ rules, rates = base.rates, ghostsMax = 0 }: LeaseMutant): LeaseReport {
  return exploreLeases({ ...base, rates, ghostsMax, wallOffsets: [-4, 0], rules: { ...production, ...rules } });
}
