import { type Case, live } from './exhaustive.ts';
import { runSchedule, type ScheduleResult } from './schedule.ts';
import type { Mutant } from './mutant.ts';

/** What may be broken by what is wrong in a mutant, and a seed or case that breaks it. */
export type Killer = readonly [rightly: readonly string[], how: number | Case];

/** What is in doubt is taken for not done: it is sent again, beside itself, or is later found and called somebody else's. */
const AS_NO = ['I-SETTLE', 'I-ONCE', 'L-CONV'] as const;
/** What is in doubt is taken for done: what builds on it is refused, or it is never done. */
const AS_YES = ['I-SETTLE', 'I-ONCE', 'I-ORDER', 'L-CONV'] as const;

/**
 * The seed or the case that kills each mutant, and the invariants that may: a mutant that breaks another one has something
 * else wrong with it. When the protocol asks for less or more, or the generators of schedules change, seeds mean other
 * schedules: then the first seed that kills is looked for.
 */
export const killers: Readonly<Record<string, Killer>> = {
  'no settle window at all': [['I-SETTLE', 'I-ONCE'], 72],
  'no settle window after installs': [['I-SETTLE', 'I-ONCE'], 131],
  'half the settle window after installs': [['I-ONCE'], 131],
  'no settle window after creations': [['I-SETTLE', 'I-ONCE'], 102],
  'half the settle window after creations': [['I-ONCE'], 1789],
  'no settle window after target-state writes': [['I-SETTLE'], 72],
  'half the settle window after target-state writes': [['I-SETTLE'], 1072],
  'writes leave however late': [['I-WAL', 'L-CONV'], 27],
  'a 5xx is taken for a rejection': [AS_NO, 12],
  'a failure of the cluster is taken for a rejection': [AS_NO, 379],
  'any 400 is taken for a rejection': [AS_NO, 379],
  'any 401 is taken for a rejection': [AS_NO, 140],
  'any 404 is taken for a rejection': [AS_NO, 114],
  'a lost connection is taken for a rejection': [AS_NO, 131],
  'a lost connection is taken for success': [AS_YES, 8],
  'a 2xx without proof is taken for success': [AS_YES, 140],
  'what exists already is taken for ours': [
    ['I-OWN'],
    {
      // Another one is held: a row without an id stands only for a rule that is as it was sent.
      workload: 'a rule of somebody else, just as it is wished',
      dialect: 'extended',
      script: [
        [3, { type: 'read', fault: 'read-empty', a: 3 }],
        [4, { type: 'git', edit: 'removeRule', a: 1 }],
      ],
    },
  ],
  'a write in doubt is sent again at once': [['I-WAL', 'I-SETTLE', 'I-ONCE', 'L-CONV'], 3],
  'the intent names another request than the one that is sent': [['I-WAL'], 2],
  'an answer that repeats the store’s key is recorded as it is': [['I-SECRET'], 8],
  'the request is sent before its intent is durable': [['I-WAL'], 2],
  'no intent is written': [['I-WAL'], 2],
  'an intent is never closed': [['L-CONV', 'L-QUIET', 'I-PRUNE'], 2],
  'the outcome is recorded without its object': [['I-ATOM'], 2],
  'a port whose addition had no answer counts as somebody else’s': [
    ['L-CONV'],
    {
      workload: 'a new port, opened to the outside',
      dialect: 'extended',
      script: [
        [10, { type: 'write', fault: 'reset-after', a: 1 }],
        [11, { type: 'git', edit: 'togglePrune', a: 1 }],
        [12, { type: 'git', edit: 'removePort', a: 1 }],
      ],
    },
  ],
  'a rule whose creation had no answer is on record without what git says of its removal': [
    ['I-PRUNE'],
    {
      workload: 'a rule that is to be kept when git names it no more',
      dialect: 'extended',
      script: [
        [10, { type: 'write', fault: 'reset-after', a: 1 }],
        [11, { type: 'git', edit: 'removeRule', a: 1 }],
      ],
    },
  ],
  'what a manifest says of its removal is recorded once its rule is as it says, and no earlier': [
    ['I-PRUNE'],
    {
      workload: 'a rule that changes, and is to be kept when git names it no more',
      dialect: 'extended',
      script: [
        [8, { type: 'write', fault: 'reset-before', a: 1 }],
        [9, { type: 'git', edit: 'removeRule', a: 1 }],
      ],
    },
  ],
  'former values are recorded when a change is observed, and no earlier': [
    ['L-CONV'],
    {
      workload: 'a port that is opened, and given back when git names it no more',
      dialect: 'extended',
      script: [
        [9, { type: 'write', fault: 'reset-after', a: 1 }],
        [10, { type: 'git', edit: 'removePort', a: 1 }],
      ],
    },
  ],
  'what is owed is not written down': [['L-CONV', 'I-OWN'], 126],
  'failures are not counted': [['L-CONV'], 1956],
  'a write in doubt is recorded as rejected': [AS_NO, 12],
  'intents that a dead process left open are not looked at': [['L-CONV', 'I-PRUNE'], 27],
  'intents in doubt are not looked at': [['L-CONV', 'I-PRUNE'], 3],
  'the fence is ignored': [['I-MONO'], 8],
  'opening the ledger raises no epoch': [['I-MONO'], 5],
  'an install not seen once is taken for not done, and sent without a look': [
    ['I-ONCE', 'L-CONV'],
    {
      workload: 'an install',
      dialect: 'extended',
      seed: 2,
      script: [
        [9, { type: 'write', fault: 'reset-late', a: 10 }],
        [25, { type: 'read', fault: 'read-stale', a: 1 }],
        [26, { type: 'read', fault: 'read-stale', a: 1 }],
      ],
    },
  ],
  'an install that cannot be decided is taken for not done': [['I-ONCE'], 12],
  'an install that cannot be decided is sent once more': [['I-ONCE'], 12],
  'a rule not seen once is taken for not done': [
    ['L-CONV'],
    {
      workload: 'two rules on one port',
      dialect: 'extended',
      script: [
        [10, { type: 'write', fault: 'reset-after', a: 1 }],
        [20, { type: 'read', fault: 'read-empty', a: 7 }],
        [21, { type: 'read', fault: 'read-empty', a: 7 }],
        [60, { type: 'clock', jumpMs: 0 }],
      ],
    },
  ],
  'a rule not seen is taken for done': [['L-CONV'], 35],
  'rules are taken over without a word': [['I-OWN'], 235],
  'installs are taken over without a word': [['I-OWN'], 237],
  'pruning needs no permission': [
    ['I-PRUNE'],
    { workload: 'a rule that git names no more, and nobody may delete', dialect: 'extended', script: [] },
  ],
  'rules that were adopted are pruned': [
    ['I-OWN'],
    { workload: 'an adopted rule that git names no more', dialect: 'extended', script: [] },
  ],
  'ports are pruned without a record of their component': [
    ['I-OWN'],
    { workload: 'unlisted ports of a component never seen before', dialect: 'documented', script: [] },
  ],
  'a rule is let go as soon as its deletion is accepted': [
    ['I-INV'],
    {
      workload: 'a rule that git names no more',
      dialect: 'extended',
      script: [[8, { type: 'write', fault: 'accepted-not-done', a: 3 }]],
    },
  ],
  'the steps of ports come in the wrong order': [['I-ORDER', 'L-CONV'], 3],
  'inner access is not opened before outer': [['I-ORDER', 'L-CONV'], 3],
  'a change for a moment owes nothing': [['I-OWN'], 8],
  'a rule is deleted to be created again without an obligation': [
    ['I-OWN'],
    { workload: 'a rule that must be created again', dialect: 'extended', script: [] },
  ],
  'the obligation to create a rule again is written after its deletion': [
    ['I-OWN'],
    { workload: 'a rule that must be created again', dialect: 'extended', script: [] },
  ],
  'a rule that git names no more is not created again': [
    ['L-CONV'],
    {
      workload: 'a rule that must be created again',
      dialect: 'extended',
      script: [
        [9, { type: 'crash', when: 'after', downMs: 0, a: 5, reboots: false }],
        [10, { type: 'git', edit: 'removeRule', a: 1 }],
      ],
    },
  ],
  'unlisted ports are closed as if a manifest said so': [['I-OWN'], 35],
  'inactive rules of an open port are left as they are': [
    ['L-CONV'],
    { workload: 'a rule that leads to another port, while its own becomes tcp', dialect: 'extended', script: [] },
  ],
  'the ledger learns nothing of what is as wished': [
    ['L-CONV'],
    { workload: 'a rule of somebody else, adopted', dialect: 'documented', script: [] },
  ],
  'settle windows go by the wall clock': [['I-SETTLE', 'I-ONCE', 'L-CONV'], 580],
  'a restart of the machine goes unnoticed': [['I-SETTLE', 'I-ONCE', 'L-CONV', 'L-HOLD'], 12],
  'the time of a suspended machine is not counted': [['I-WAL'], 140],
};

/** By the killer: several mutants have the same one, and each killer is used by two tests. */
const genuine = new Map<number | Case, Promise<boolean>>();

/** Returns whether the genuine protocol survives a killer. */
function isSurvivable(how: number | Case): Promise<boolean> {
  const known = genuine.get(how) ?? runKiller(how).then(({ violation }) => violation === undefined);
  genuine.set(how, known);
  return known;
}

/** Lives through what kills a mutant: with the mutant, or with the genuine protocol. */
function runKiller(how: number | Case, mutant?: Mutant): Promise<ScheduleResult> {
  if (typeof how === 'number') return runSchedule(how, mutant === undefined ? {} : { mutant });
  return live(how, { mutant });
}

export interface Death {
  /** The invariant that it broke. */
  readonly by: string;
  readonly how: number | Case;
  /** It is one that may kill this mutant. */
  readonly isRight: boolean;
}

/**
 * What kills a mutant now: the killer on record, or the first seed up to `seedMax` that the genuine protocol lives
 * through and the mutant does not. undefined: it lives.
 */
export async function deathOf(mutant: Mutant, seedMax: number): Promise<Death | undefined> {
  const [rightly = [], how] = killers[mutant.name] ?? [];
  let death = how === undefined ? undefined : await kills(how, mutant, rightly);
  for (let seed = 1; seed <= seedMax && death === undefined; seed += 1) death = await kills(seed, mutant, rightly);
  return death;
}

async function kills(how: number | Case, mutant: Mutant, rightly: readonly string[]): Promise<Death | undefined> {
  const { violation } = await runKiller(how, mutant);
  if (violation === undefined || !(await isSurvivable(how))) return undefined;
  return { by: violation.invariant, how, isRight: rightly.includes(violation.invariant) };
}
