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
    seed: 3,
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
    seed: 10_234,
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
    name: 'a command counts after its application was moved away and back',
    file: 'controller/replicas/forwarded-methods.ts',
    find: ' || !hasStayed(records, subject, ordered.takeovers))',
    replace: ')',
    rightly: ['I-SUSPENDED'],
    seed: 4_000_318_307,
  },
];

/** So many of the first ones are killed in each run of the tests. */
export const QUICK_MUTANTS = 5;
