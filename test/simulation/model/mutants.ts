import { type DriverMutant, driverMutants } from '../drivers/mutants.ts';

/** Production with one thing wrong in it, and the history in which the model finds it. */
export interface ModelMutant extends Pick<DriverMutant, 'name' | 'file' | 'find' | 'replace' | 'rightly'> {
  readonly scenario: string;
  readonly faults: number;
}

function driver(name: string, scenario: string, faults: number, ...rightly: readonly string[]): ModelMutant {
  const found = driverMutants.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`the drivers have no mutant "${name}"`);
  return { ...found, rightly: [...found.rightly, ...rightly], scenario, faults };
}

/** Those of the drivers and of the protocol that two objects are enough for. */
export const modelMutants: readonly ModelMutant[] = [
  driver('age is measured from the wrong moment', 'update one and close the other', 0),
  driver('an approval is used twice', 'remove both with an approval, beyond the budget', 1, 'I-BUDGET'),
  {
    name: 'no settle window at all',
    file: 'reconcile/resolution/settle-window.ts',
    find: '  switch (idempotence) {',
    replace: '  if (timing) return 0;\n  switch (idempotence) {',
    rightly: ['I-SETTLE', 'I-ONCE', 'L-CONV'],
    scenario: 'create both',
    faults: 1,
  },
  {
    name: 'a lost connection is taken for a rejection',
    file: 'platform/classifier.ts',
    find: "error.failure === 'unsent'",
    replace: 'error.failure',
    rightly: ['I-SETTLE', 'I-ONCE', 'L-CONV'],
    scenario: 'create both',
    faults: 1,
  },
  {
    name: 'intents in doubt are not looked at',
    file: 'reconcile/resolution/resolve.ts',
    find: '  for (const found of intents) {',
    replace: '  for (const found of intents.slice(0, 0)) {',
    rightly: ['I-SOLO', 'I-SETTLE', 'L-CONV', 'BUG'],
    scenario: 'create both',
    faults: 1,
  },
  {
    name: 'the fence is ignored',
    file: '../test/support/memory-ledger.ts',
    find: 'if (store.epoch !== this.epoch) throw fenced',
    replace: 'if (store.epoch < 0) throw fenced',
    rightly: ['I-MONO', 'I-ATOM', 'I-WAL'],
    scenario: 'create both',
    faults: 0,
  },
  {
    name: 'the outcome is recorded without its object',
    file: 'reconcile/apply/execute.ts',
    find: '[...object, ...rememberSince(intent.scope, known)]',
    replace: '[...rememberSince(intent.scope, known)]',
    rightly: ['I-ATOM'],
    scenario: 'create both',
    faults: 0,
  },
  {
    name: 'the budget is not written down before the send',
    file: 'reconcile/removal-budget.ts',
    find: 'spent: [...state.spent, ...more] }, lines);',
    replace: 'spent: state.spent }, lines);',
    rightly: ['I-BUDGET'],
    scenario: 'remove one, and meanwhile close the other beyond the budget',
    faults: 0,
  },
  {
    name: 'a restart forgets what the day has spent',
    file: 'reconcile/removal-budget.ts',
    find: 'const state = text === undefined ? NOTHING_SPENT_YET',
    replace: 'const state = text === undefined || clock.monotonic() < 600_000 ? NOTHING_SPENT_YET',
    rightly: ['I-BUDGET'],
    scenario: 'remove one, and meanwhile close the other beyond the budget',
    faults: 1,
  },
  {
    name: 'what was under way when it was overtaken is settled at once',
    file: 'reconcile/resolution/settle-window.ts',
    find: "  return settleWindowMs(idempotence, timing) + (state === 'open' ? timing.sendWithinMs : 0);",
    replace: "  return state === 'open' ? 0 : settleWindowMs(idempotence, timing);",
    rightly: ['I-SETTLE', 'I-ONCE', 'L-CONV'],
    scenario: 'create both',
    faults: 0,
  },
];
