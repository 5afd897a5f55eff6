import type { DriverMutant } from '../drivers/mutants.ts';

/** Seeds: 0 means that none was searched for long enough. Production with one thing wrong in it that matters only to several controllers, or to the database that they share. */
export const replicaMutants: readonly DriverMutant[] = [
  {
    name: 'the epoch is not checked',
    file: '../test/support/lease-rows.ts',
    find: 'row.holder === holder && row.epoch === epoch && row.expiresMs > 0',
    replace: 'row.expiresMs > 0',
    rightly: ['I-FENCE'],
    seed: 1,
  },
  {
    name: 'the local clock is trusted',
    file: 'ledger/lease-validity.ts',
    find: 'return from.monotonicMs + this.#leaseMs - Math.max(0, suspendedMs);',
    replace: 'return from.monotonicMs + this.#leaseMs + 3_600_000;',
    rightly: ['I-LEAD'],
    seed: 1,
  },
  {
    name: 'the time of a suspended machine is not counted',
    file: 'ledger/lease-validity.ts',
    find: 'Math.max(0, suspendedMs)',
    replace: 'Math.min(0, suspendedMs)',
    rightly: ['I-LEAD'],
    seed: 2,
  },
  {
    name: 'an open intent is forgotten at a takeover',
    file: 'reconcile/resolution/resolve.ts',
    find: '  for (const found of intents) {',
    replace: '  for (const found of intents.filter(({ epoch }) => epoch === world.ledger.epoch)) {',
    rightly: ['I-SOLO', 'I-SETTLE', 'I-ONCE', 'L-CONV', 'BUG'],
    seed: 29,
  },
  {
    name: 'a takeover fills the allowance again',
    file: 'controller/account.ts',
    find: 'const { changed, removed } = this.#stored;',
    replace: 'const { changed, removed } = this.#saved;',
    rightly: ['I-PERMIT'],
    seed: 0,
  },
  {
    name: 'a notification is trusted to arrive',
    file: 'controller/replicas/shared-state.ts',
    find: 'const READ_EVERY_MS = 3_000;',
    replace: 'const READ_EVERY_MS = 3_000_000_000;',
    rightly: ['L-CONV', 'I-AHEAD', 'I-PERMIT'],
    seed: 4,
  },
  {
    name: 'a follower goes ahead of the accepted revision',
    file: 'controller/intake.ts',
    find: '    if (!this.#leads()) return undefined;\n    if (state',
    replace: `    if (!this.#leads()) {
      if (state.type !== 'read' || this.#accepted === undefined) return undefined;
      const { snapshot, desired } = await state.reading.contents.load(this.#core.configuration);
      this.#accepted = { ...this.#accepted, snapshot, desired, revision: state.reading.revision };
      return { accepted: this.#accepted, reading: state.reading };
    }
    if (state`,
    rightly: ['I-AHEAD', 'I-PERMIT'],
    seed: 0,
  },
  {
    name: 'a new leader of the source accepts what it read before',
    file: 'controller/intake.ts',
    find: 'this.#leads() && last.askedMs >= this.#confirmedFromMs',
    replace: 'this.#leads()',
    rightly: ['I-BACK'],
    seed: 0,
  },
  {
    name: 'a command is carried out by a process that does not lead',
    file: 'controller/replicas/unit-ledgers.ts',
    find: `  const lead = core.leadership.of(unit);
  if (lead === undefined) throw notLeader(unit);
  return core`,
    replace: `  const lead = core.leadership.of(unit) ?? core.leadership.of('platform:west') ?? core.leadership.of('platform:default');
  if (lead === undefined) throw notLeader(unit);
  return core`,
    rightly: ['BUG'],
    seed: 0,
  },
  {
    name: 'a lease is given up with a write in flight',
    file: 'controller/replicas/unit-changes.ts',
    find: '        return finishWork(core, lead);',
    replace: '        return;',
    rightly: ['I-HAND'],
    seed: 7,
  },
];
