import { expect, test } from 'vitest';
import { shareLimits } from '../../src/plan/guard.ts';
import { guardRun } from '../../src/reconcile/guards.ts';
import type { Prepared } from '../../src/reconcile/reconcile.ts';
import { actionOf, objectOf, planOf } from '../plan/plans.ts';

const onRecord = (count: number) => Array.from({ length: count }, (_, at) => objectOf({ naturalKey: `rule/s/${at}` }));
/** A run of one application, whose plan removes so many objects. */
const removing = (count: number): readonly Prepared[] => [
  {
    plan: planOf({
      actions: Array.from({ length: count }, (_, at) => actionOf({ object: `rule/s/${at}`, prune: true })),
    }),
    refusals: [],
  } as unknown as Prepared,
];

test.for([
  ['the default', undefined, 6, 18, ['guard/share']],
  ['the default', undefined, 5, 18, []],
  ['the default, too few on record', undefined, 6, 9, []],
  ['0.1', 0.1, 2, 18, ['guard/share']],
  ['0.1', 0.1, 1, 18, []],
  ['0.1', 0.1, 1, 9, ['guard/share']],
  ['0', 0, 1, 1000, ['guard/share']],
  ['1', 1, 9, 9, []],
] as const)(
  'with a share of %s, a run of one application that removes %3$i of %4$i objects is refused as %5$j',
  ([, share, removed, owned, codes]) => {
    const limits = { ...shareLimits(share), maxPrunes: 100, allowedScopes: ['*/*/*'] };
    expect(guardRun(removing(removed), onRecord(owned), limits).map(({ code }) => code)).toEqual(codes);
  },
);
