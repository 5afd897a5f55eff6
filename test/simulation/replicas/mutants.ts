import type { DriverMutant } from '../drivers/mutants.ts';
import type { DriverScript } from '../drivers/perturbations.ts';

/** A process loses its platforms while it hangs, and something is suspended elsewhere before it notices. */
const HANGS: DriverScript = Array.from({ length: 16 }, (_, at) => [
  20 + 8 * at,
  at % 2 === 0 ? { type: 'freeze', ms: 8_000 } : { type: 'human', act: 'suspend', a: at },
]);

/** One commit removes rules of several applications, so that the removals of both platforms become due at the same time. */
const REMOVALS = [3, 4, 5, 6, 7, 8].map(
  (step, at) => [step, { type: 'git', edit: 'removeRule', a: 45 * 31 + at * 7919 }] as const,
);

/** The same, and processes die again and again while they remove. */
const REMOVALS_AND_DEATHS: DriverScript = [
  ...REMOVALS,
  ...Array.from(
    { length: 12 },
    (_, at) => [60 + 15 * at, { type: 'crash', when: 'after', downMs: 1_000, a: at, reboots: false }] as const,
  ),
];

/** The same, and processes hang for longer than a lease while removals wait. */
const REMOVALS_AND_HANGS: DriverScript = [
  ...REMOVALS,
  ...Array.from({ length: 12 }, (_, at) => [14 + 8 * at, { type: 'freeze', ms: 9_000 }] as const),
];

/** Processes cannot read the branch while it grows, their leader is asked to end, and the next one is configured anew. */
const COMMITS_UNREAD: DriverScript = Array.from({ length: 48 }, (_, at) => [
  20 + 4 * at,
  [
    { type: 'cut', link: 'git', ms: 30_000 },
    { type: 'git', edit: 'addRule', a: at * 7919 },
    { type: 'stop', downMs: 1_000 },
    { type: 'human', act: 'reload', a: at },
  ][at % 4] as DriverScript[number][1],
]);

/** Applications move while processes do not hear the database. */
const MOVES_UNHEARD: DriverScript = Array.from({ length: 36 }, (_, at) => [
  20 + 4 * at,
  [
    { type: 'cut', link: 'answers', ms: 40_000 },
    { type: 'git', edit: 'move', a: at * 7919 },
    { type: 'git', edit: 'addRule', a: at * 7919 },
  ][at % 3] as DriverScript[number][1],
]);

/** Production with one thing wrong in it that matters only to several controllers, or to the database that they share. */
export const replicaMutants: readonly DriverMutant[] = [
  {
    name: 'the epoch is not checked',
    file: '../test/support/lease-rows.ts',
    find: 'row.holder === holder && row.epoch === epoch && row.expiresMs > 0',
    replace: 'row.expiresMs > 0',
    rightly: ['I-FENCE'],
    seed: 2,
  },
  {
    name: 'the local clock is trusted',
    file: 'runtime/time-limit.ts',
    find: 'return from.monotonicMs + this.#durationMs - Math.max(0, suspendedMs);',
    replace: 'return from.monotonicMs + this.#durationMs + 3_600_000;',
    rightly: ['I-LEAD'],
    seed: 1,
  },
  {
    name: 'an open intent is forgotten at a takeover',
    file: 'reconcile/resolution/resolve.ts',
    find: '  for (const found of intents) {',
    replace: '  for (const found of intents.filter(({ epoch }) => epoch === world.ledger.epoch)) {',
    rightly: ['I-SOLO', 'I-SETTLE', 'I-ONCE', 'L-CONV', 'BUG'],
    seed: 47,
  },
  {
    name: 'a takeover fills the allowance again',
    file: 'controller/account.ts',
    find: 'const { changed, removed } = this.#stored;',
    replace: 'const { changed, removed } = this.#saved;',
    rightly: ['I-PERMIT'],
    seed: 78,
    script: REMOVALS,
  },
  {
    name: 'a notification is trusted to arrive',
    file: 'controller/replicas/shared-state.ts',
    find: 'const READ_EVERY_MS = 3_000;',
    replace: 'const READ_EVERY_MS = 3_000_000_000;',
    rightly: ['L-CONV', 'I-AHEAD', 'I-PERMIT'],
    seed: 15,
  },
  {
    name: 'the time of a suspended machine is not counted',
    file: 'runtime/time-limit.ts',
    find: 'Math.max(0, suspendedMs)',
    replace: 'Math.min(0, suspendedMs)',
    rightly: ['I-LEAD'],
    seed: 8,
  },
  {
    name: 'a lease is given up with a write in flight',
    file: 'controller/replicas/unit-changes.ts',
    find: '        return finishWork(core, lead);',
    replace: '        return;',
    rightly: ['I-HAND'],
    seed: 7,
  },
  {
    name: 'what was ignored before a lead was lost is not read again',
    file: 'controller/replicas/shared-state.ts',
    find: "    if (type === 'ended') this.#readAgain(unit);\n",
    replace: '',
    rightly: ['I-APPROVAL', 'I-SUSPENDED', 'L-CONV', 'L-QUIET', 'I-PERMIT', 'I-AHEAD'],
    seed: 22,
    script: HANGS,
  },
  {
    name: 'what others have spent is not compared again',
    file: 'controller/account.ts',
    find: 'if (late.length > 0) return late;',
    replace: '',
    rightly: ['I-PERMIT'],
    seed: 78,
    script: REMOVALS,
  },
  {
    name: 'an approval that is being stored stays after the pass that uses its plan',
    file: 'controller/daemon-policy.ts',
    find: 'await record.turns.run(record.id, async () => {\n      if (record.kept.approved?.digest === this.#digest) record.kept',
    replace:
      'record.kept = { ...record.kept, approved: null };\n    await record.turns.run(record.id, async () => {\n      if (false) record.kept',
    rightly: ['I-PERMIT'],
    seed: 381,
  },
  {
    name: 'an application that comes from another platform keeps what this process knew',
    file: 'controller/replicas/moved-record.ts',
    find: '    if (text !== undefined) takeText(core, record, text);\n',
    replace: '',
    rightly: ['I-SUSPENDED', 'I-APPROVAL', 'I-PERMIT'],
    seed: 92,
  },
  {
    name: 'a takeover fills the budget of the day again',
    file: 'reconcile/removal-budget.ts',
    find: 'const key = `budget ${source} ${platform}`;',
    replace: 'const key = `budget ${source} ${platform} ${ledger.epoch}`;',
    rightly: ['I-PERMIT'],
    seed: 448,
    script: REMOVALS_AND_DEATHS,
  },
  {
    name: 'a removal becomes older while another process leads, or none',
    file: 'controller/replicas/moved-record.ts',
    find: '  record.watchedMs = undefined;\n',
    replace: '',
    rightly: ['I-PERMIT'],
    seed: 132,
    script: REMOVALS_AND_HANGS,
  },
  {
    name: 'a unit that was lost is not taken again',
    file: 'controller/replicas/replica-leadership.ts',
    find: 'this.#states.delete(lead.unit);',
    replace: '',
    rightly: ['L-LEAD'],
    seed: 8,
  },
  {
    name: 'commands that a former leader left are not carried out',
    file: 'controller/replicas/commands.ts',
    find: 'for (const command of open) this.#take(lead',
    replace: 'for (const command of open.filter(({ id }) => !inherited.has(id))) this.#take(lead',
    rightly: ['L-COMMAND'],
    seed: 1,
  },
  {
    name: 'what was read before the source was led is accepted',
    file: 'controller/source-contact.ts',
    find: 'return askedMs >= this.#confirmedFromMs;',
    replace: 'return true;',
    rightly: ['I-BACK'],
    seed: 84,
    script: COMMITS_UNREAD,
  },
  {
    name: 'a process writes although it has not read for long what others store',
    file: 'controller/replicas/shared-state.ts',
    find: 'return this.#trusted === undefined || this.#core.options.clock.monotonic() > this.#trusted.untilMs();',
    replace: 'return false;',
    rightly: ['I-MOVED'],
    seed: 93,
    script: MOVES_UNHEARD,
  },
];
