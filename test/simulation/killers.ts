import { type Case, live } from './exhaustive.ts';
import { runSchedule, type ScheduleResult } from './schedule.ts';
import type { Mutant } from './mutant.ts';

/** The invariant that is broken, and the seed or the case that breaks it. */
export type Killer = readonly [by: string, how: number | Case];

/**
 * The seed or the case that kills each mutant, and by which invariant. When the protocol asks for less or more, or the
 * generators of schedules change, seeds mean other schedules: then the first seed that kills is looked for.
 */
export const killers: Readonly<Record<string, Killer>> = {
  'no settle window at all': ['I-SETTLE', 80],
  'no settle window after installs': ['I-SETTLE', 234],
  'half the settle window after installs': ['I-ONCE', 1206],
  'no settle window after creations': ['I-ONCE', 256],
  'half the settle window after creations': ['I-ONCE', 256],
  'no settle window after target-state writes': ['I-SETTLE', 81],
  'half the settle window after target-state writes': ['I-SETTLE', 81],
  'writes leave however late': ['I-WAL', 29],
  'a 5xx is taken for a rejection': ['I-SETTLE', 6],
  'a failure of the cluster is taken for a rejection': ['I-SETTLE', 139],
  'any 400 is taken for a rejection': ['L-CONV', 71],
  'any 401 is taken for a rejection': ['I-ONCE', 1325],
  'any 404 is taken for a rejection': ['I-ONCE', 2],
  'a lost connection is taken for a rejection': ['I-ONCE', 9],
  'a lost connection is taken for success': ['I-SETTLE', 81],
  'a 2xx without proof is taken for success': ['L-CONV', 80],
  'what exists already is taken for ours': [
    'I-OWN',
    {
      workload: 'a rule of somebody else, left alone',
      dialect: 'extended',
      script: [[3, { type: 'read', fault: 'read-empty', a: 3 }]],
    },
  ],
  'a write in doubt is sent again at once': ['I-WAL', 2],
  'the intent names another request than the one that is sent': ['I-WAL', 2],
  'an answer that repeats the store’s key is recorded as it is': ['I-SECRET', 8],
  'the request is sent before its intent is durable': ['I-WAL', 2],
  'no intent is written': ['I-WAL', 2],
  'an intent is never closed': ['L-CONV', 2],
  'the outcome is recorded without its object': ['I-ATOM', 2],
  'what is owed is not written down': ['L-CONV', 41],
  'failures are not counted': ['L-CONV', 2916],
  'a write in doubt is recorded as rejected': ['I-ONCE', 2],
  'intents that a dead process left open are not looked at': ['L-CONV', 30],
  'intents in doubt are not looked at': ['L-CONV', 2],
  'the fence is ignored': ['I-MONO', 26],
  'opening the ledger raises no epoch': ['I-MONO', 1],
  'an install not seen once is taken for not done': [
    'L-CONV',
    {
      workload: 'an install',
      dialect: 'extended',
      seed: 2,
      script: [
        [7, { type: 'write', fault: 'reset-late', a: 10 }],
        [18, { type: 'read', fault: 'read-stale', a: 1 }],
        [19, { type: 'read', fault: 'read-stale', a: 1 }],
      ],
    },
  ],
  'an install that cannot be decided is taken for not done': ['I-ONCE', 9],
  'an install that cannot be decided is sent once more': ['I-ONCE', 9],
  'a rule not seen once is taken for not done': [
    'L-CONV',
    {
      workload: 'two rules on one port',
      dialect: 'extended',
      script: [
        [7, { type: 'write', fault: 'reset-after', a: 1 }],
        [10, { type: 'read', fault: 'read-empty', a: 7 }],
        [60, { type: 'clock', jumpMs: 0 }],
      ],
    },
  ],
  'a rule not seen is taken for done': ['L-CONV', 399],
  'rules are taken over without a word': ['I-OWN', 1175],
  'installs are taken over without a word': ['I-OWN', 1575],
  'pruning needs no permission': [
    'I-PRUNE',
    { workload: 'a rule that git names no more, and nobody may delete', dialect: 'extended', script: [] },
  ],
  'rules that were adopted are pruned': [
    'I-OWN',
    { workload: 'an adopted rule that git names no more', dialect: 'extended', script: [] },
  ],
  'ports are pruned without a record of their component': [
    'I-OWN',
    { workload: 'unlisted ports of a component never seen before', dialect: 'documented', script: [] },
  ],
  'a rule is let go as soon as its deletion is accepted': [
    'I-INV',
    {
      workload: 'a rule that git names no more',
      dialect: 'extended',
      script: [[6, { type: 'write', fault: 'accepted-not-done', a: 3 }]],
    },
  ],
  'the steps of ports come in the wrong order': ['I-ORDER', 5],
  'inner access is not opened before outer': ['L-CONV', 2],
  'a change for a moment owes nothing': ['I-OWN', 41],
  'unlisted ports are closed as if a manifest said so': ['I-OWN', 5],
  'the ledger learns nothing of what is as wished': [
    'L-CONV',
    { workload: 'a rule of somebody else, adopted', dialect: 'documented', script: [] },
  ],
  'settle windows go by the wall clock': ['L-CONV', 204],
  'a restart of the machine goes unnoticed': ['L-HOLD', 9],
};

/** Lives through what kills a mutant: with the mutant, or with the genuine protocol. */
function runKiller([, how]: Killer, mutant?: Mutant): Promise<ScheduleResult> {
  if (typeof how === 'number') return runSchedule(how, mutant === undefined ? {} : { mutant });
  return live(how, { mutant });
}

export interface Death {
  readonly mutant: string;
  readonly killer: Killer | undefined;
}

/**
 * What kills a mutant now: the killer on record, or the first seed up to `seedMax` that the genuine protocol lives
 * through and the mutant does not. undefined: it lives.
 */
export async function killerOf(mutant: Mutant, seedMax: number): Promise<Killer | undefined> {
  const recorded = killers[mutant.name];
  const killer = recorded === undefined ? undefined : await kills(recorded, mutant);
  return killer ?? (await firstSeedThatKills(mutant, seedMax));
}

async function kills(killer: Killer, mutant: Mutant): Promise<Killer | undefined> {
  const { violation } = await runKiller(killer, mutant);
  if (violation === undefined || (await runKiller(killer)).violation !== undefined) return undefined;
  return [violation.invariant, killer[1]];
}

async function firstSeedThatKills(mutant: Mutant, seedMax: number): Promise<Killer | undefined> {
  for (let seed = 1; seed <= seedMax; seed += 1) {
    const killer = await kills(['', seed], mutant);
    if (killer !== undefined) return killer;
  }
  return undefined;
}
