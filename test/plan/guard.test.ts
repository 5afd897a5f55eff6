import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type GuardLimits,
  guardEmpty,
  guardRegion,
  guardScope,
  guardShrunk,
  guardSuccession,
  guardToll,
  isApprovable,
  mayPrune,
  NOTHING_SPENT,
  regionState,
  tollOf,
} from '../../src/plan/guard.ts';
import { scopeKey } from '../../src/model/ids.ts';
import type { ScopePlan } from '../../src/model/plan.ts';
import { actionOf, objectOf, planOf, scope } from './plans.ts';

const limits: GuardLimits = { maxShare: 0.3, shareFrom: 10, maxPrunes: 10, allowedScopes: ['*/*/*'] };
const owned = (count: number) => Array.from({ length: count }, (_, at) => objectOf({ naturalKey: `port/s/${at}` }));
/** That many actions, each on an object of its own. */
const changing = (count: number, changes: object = {}) =>
  planOf({ actions: Array.from({ length: count }, (_, at) => actionOf({ object: `port/s/${at}`, ...changes })) });
const guardShare = (plans: readonly ScopePlan[], { length }: { readonly length: number }, limited: GuardLimits) => {
  const [only, second] = plans;
  const of = only === undefined || second !== undefined ? 'this run' : `scope ${scopeKey(only.scope)}`;
  return guardToll(tollOf(plans), { of, owned: length, spent: NOTHING_SPENT }, limited);
};
const codesOf = (refusals: readonly { code: string }[]) => refusals.map(({ code }) => code);

test.for([
  [3, 10, []],
  [4, 10, ['guard/share']],
  [9, 9, []],
  [0, 0, []],
  [5, 0, []],
  [10, 10, ['guard/share']],
] as const)('changing %i objects with %i on record is refused as %j', ([touched, onRecord, codes]) => {
  expect(codesOf(guardShare([changing(touched)], owned(onRecord), limits))).toEqual(codes);
});

test('what would be changed is said in numbers, with the flag that allows exactly that', () => {
  expect(guardShare([changing(4)], owned(12), limits)).toEqual([
    {
      code: 'guard/share',
      message:
        'scope default/team-a/region-1/42 would change or remove 4 objects, with 12 on record (33.3 %), more than the limit of 30 %; nothing was sent',
      override: '--max-share 0.34',
    },
  ]);
});

test.for([
  [10, []],
  [11, ['guard/prunes']],
] as const)('%i removals are refused as %j', ([count, codes]) => {
  expect(codesOf(guardShare([changing(count, { prune: true })], owned(100), limits))).toEqual(codes);
});

test('removals of several scopes count together, and the refusal says how many', () => {
  const other = { ...changing(6, { prune: true }), scope: { ...scope, appId: 43 } };
  expect(guardShare([changing(6, { prune: true }), other], owned(100), limits)).toEqual([
    {
      code: 'guard/prunes',
      message:
        'this run would remove or close 12 objects removed from git, more than the limit of 10; nothing was sent',
      override: '--max-prunes 12',
    },
  ]);
  expect(guardShare([changing(4, { prune: true }), other], owned(100), limits)).toEqual([]);
});

test('creations never count; several steps on one object count once', () => {
  expect(guardShare([changing(50, { verb: 'create' })], owned(10), limits)).toEqual([]);
  const steps = Array.from({ length: 20 }, () => actionOf({ prune: true }));
  expect(guardShare([planOf({ actions: steps })], owned(10), limits)).toEqual([]);
});

test('what an action takes along counts like its own object, once', () => {
  const rules = (count: number) => Array.from({ length: count }, (_, at) => `rule/s/8080/${at}.example.com/`);
  const removing = (count: number) => [
    planOf({
      actions: [
        actionOf({ prune: true, takesAlong: rules(count) }),
        actionOf({ prune: true, takesAlong: rules(count), verb: 'delete' }),
        actionOf({ prune: true, object: rules(count)[0] as string }),
      ],
    }),
  ];
  expect(guardShare(removing(9), owned(100), limits)).toEqual([]);
  expect(codesOf(guardShare(removing(10), owned(100), limits))).toEqual(['guard/prunes']);
  expect(codesOf(guardShare(removing(10), owned(20), limits))).toEqual(['guard/share', 'guard/prunes']);
});

test('the override that a refusal names is one that the flag takes, and it lets the same plan through', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 60 }),
      fc.nat({ max: 60 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (count, onRecord, maxShare) => {
        const plans = [changing(count, { prune: true })];
        let opened = { ...limits, maxShare };
        for (const { override } of guardShare(plans, owned(onRecord), opened)) {
          const [, flag, value] = /^--max-(share|prunes) (\S+)$/.exec(override) ?? expect.fail(override);
          if (flag === 'share') expect(value).toMatch(/^(?:0\.\d{1,2}|1)$/);
          opened = { ...opened, [flag === 'share' ? 'maxShare' : 'maxPrunes']: Number(value) };
        }
        expect(guardShare(plans, owned(onRecord), opened)).toEqual([]);
      },
    ),
  );
});

test.for([
  ['*/*/*', true],
  ['team-a/region-1/42', true],
  ['team-a/*/*', true],
  ['team-*/*/*', true],
  ['*-a/*/*', true],
  ['t*m-a/reg*-1/4*', true],
  ['t*e*m*-a/*/*', true],
  ['*team-a*/*/*', true],
  ['team-b/*/*', false],
  ['team/*/*', false],
  ['team-aa/*/*', false],
  ['eam-a/*/*', false],
  ['*am/*/*', false],
  ['team-a*a/*/*', false],
  ['team*m-a/*/*', false],
  ['t*x*a/*/*', false],
  ['t*a*a*a/*/*', false],
  ['x*a/*/*', false],
  ['team-a/*', false],
  ['team-a/region-1/42/*', false],
  ['team-a/region-1/4', false],
  ['team-a/region-1/', false],
  ['team-a/region.1/42', false],
  ['*/42', false],
  ['', false],
] as const)('the pattern %s allows team-a/region-1/42: %j', ([pattern, isAllowed]) => {
  expect(guardScope(planOf(), { ...limits, allowedScopes: [pattern] }) === undefined).toBe(isAllowed);
});

test('a person may approve what goes far, and nothing that is forbidden or empty', () => {
  const approvable = ['guard/share', 'guard/prunes', 'guard/shrunk-source', 'guard/not-descendant'];
  const never = ['guard/empty-source', 'guard/scope', 'guard/region', ''];
  const refusals = [...approvable, ...never].map((code) => ({ code, message: '', override: '' }));
  expect(refusals.filter(isApprovable).map(({ code }) => code)).toEqual(approvable);
});

test('a star does not reach over a slash, even one in a name', () => {
  const plan = planOf({ scope: { ...scope, team: 'team-a/x' } });
  for (const pattern of ['*/*/*', 'team-a/*/*', 'team-a/x/*'])
    expect(guardScope(plan, { ...limits, allowedScopes: [pattern] }), pattern).toBeDefined();
});

test('wildcards allow what a regular expression of the same meaning allows', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 6 });
  const team = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(text, team, (pattern, name) => {
      const plan = planOf({ scope: { ...scope, team: name } });
      const isAllowed = guardScope(plan, { ...limits, allowedScopes: [`${pattern}/*/*`] }) === undefined;
      expect(isAllowed).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name));
    }),
    { numRuns: 1000 },
  );
});

test('one pattern of several is enough; a refusal names what the application resolved to and where to allow it', () => {
  expect(guardScope(planOf(), { ...limits, allowedScopes: ['team-b/*/*', 'team-a/*/*'] })).toBeUndefined();
  expect(guardScope(planOf(), { ...limits, allowedScopes: ['team-b/*/*', 'team-c/*/*'] })).toEqual({
    code: 'guard/scope',
    message:
      "Application/shop refers to team-a/region-1/42, which the operator's Settings do not allow (team-b/*/*, team-c/*/*); nothing was sent",
    override: 'add "team-a/region-1/42" to spec.scopes.allow of Settings in the file given by --config',
  });
});

test.for([
  ['0', 'being edited'],
  ['1', 'enabled'],
  ['2', 'disabled'],
  ['3', 'under maintenance'],
  ['7', 'in state "7"'],
] as const)('a region of status %s is %s', ([status, words]) => {
  expect(regionState(status)).toBe(words);
});

test.for([
  ['1', undefined],
  ['3', 'region region-1 is under maintenance; only an enabled region (status 1) is written to, so nothing was sent'],
  [
    undefined,
    'region region-1 is not in the list of regions; only an enabled region (status 1) is written to, so nothing was sent',
  ],
] as const)('writes into a region of status %s: %s', ([status, message]) => {
  const refusal = guardRegion(planOf(), status);
  if (message === undefined) expect(refusal).toBeUndefined();
  else
    expect(refusal).toEqual({
      code: 'guard/region',
      message,
      override: 'none: run this again when the region is enabled',
    });
});

test('a source that names nothing is refused only where something of it is on record', () => {
  expect(guardEmpty('default', 1, 5)).toBeUndefined();
  expect(guardEmpty('default', 0, 0)).toBeUndefined();
  expect(guardEmpty('shops', 0, 5)).toEqual({
    code: 'guard/empty-source',
    message: 'the source "shops" names nothing, and the ledger holds 5 objects of it; nothing was sent',
    override: '--allow-empty',
  });
});

test.for([
  ['half of it is left', 5, 10, 1],
  ['too little was there to say', 0, 9, 1],
  ['nothing would be removed', 1, 10, 0],
] as const)('a source that lost much may go on where %s', ([, now, before, prunes]) => {
  expect(guardShrunk('default', now, before, prunes)).toBeUndefined();
});

test('a source that lost more than half of what it named removes nothing', () => {
  expect(guardShrunk('default', 4, 10, 2)).toEqual({
    code: 'guard/shrunk-source',
    message:
      'the source "default" named 10 resources since it last removed anything and names 4 now; 2 removals would follow from that, and nothing was sent',
    override: '--allow-shrunk',
  });
});

const succession = { commit: 'c'.repeat(40), before: 'b'.repeat(40), isConfirmed: true } as const;

test.for([
  ['descends', true, true],
  ['descends', false, false],
  ['does-not-descend', true, false],
  ['unknown', true, false],
] as const)('a commit that %s, confirmed: %j, may prune: %j', ([descent, isConfirmed, may]) => {
  const next = { ...succession, descent, isConfirmed };
  expect(mayPrune(next)).toBe(may);
  expect(guardSuccession('default', next, 1) === undefined).toBe(may);
  expect(guardSuccession('default', next, 0)).toBeUndefined();
});

test.for([
  [
    'does-not-descend',
    'commit cccccccccccc of the source "shops" does not descend from bbbbbbbbbbbb, which was applied before it: the branch was rewound or rewritten',
  ],
  [
    'unknown',
    'it is not known whether commit cccccccccccc of the source "shops" descends from bbbbbbbbbbbb, which was applied before it: the clone is shallow (git fetch --unshallow decides it)',
  ],
  [
    'descends',
    'the branch of the source "shops" was rewound or rewritten before commit bbbbbbbbbbbb, which was applied, and this was not confirmed as intended',
  ],
] as const)('a commit that may not prune is refused with why: %s', ([descent, why]) => {
  expect(guardSuccession('shops', { ...succession, descent, isConfirmed: false }, 3)).toEqual({
    code: 'guard/not-descendant',
    message: `${why}; 3 removals would follow, and nothing was sent`,
    override: '--allow-rewind',
  });
});
