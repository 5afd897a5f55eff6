import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StepProposal } from '../../src/kinds/reconciled.ts';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { resourceId, scopeKey } from '../../src/model/ids.ts';
import { objectUid, type OwnedObject } from '../../src/model/owned.ts';
import { FAILURES_MAX, holdDoubts, whatIsInDoubt, withFailure, withoutDoubtful } from '../../src/plan/doubts.ts';
import type { DoubtfulIntent, Draft, PlanInput } from '../../src/plan/draft.ts';
import type { Resource } from '../../src/model/resource.ts';
import { doubtOf, draftOf, inputOf, memoryOf, objectOf, resourceOf, scope, stepOf } from './plans.ts';

const web = resourceId('Component', 'web');
const SENT = 'updatePort for Component/web (intent intent-1) was sent and its outcome is not known';
const SETTLE_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const SCOPE_MS = Date.UTC(2026, 0, 2, 3, 3, 0);
const uidOf = (kind: string, naturalKey: string) => objectUid('default', scopeKey(scope), kind, naturalKey);

/** What is left of these steps, and what is held in their place. */
function held(input: Partial<PlanInput>, ...steps: Draft['steps']) {
  const draft = draftOf({ steps });
  const left = withoutDoubtful(inputOf(input), draft);
  return { left: left.map(({ id }) => id), holds: draft.holds };
}

const open = (proposal: Partial<StepProposal> = {}) => stepOf(web, 'ports/8080/open_outer', proposal);
const outer = { field: 'outer', path: 'ports[8080].outer', before: false, after: true };

test.for<readonly [string, Partial<DoubtfulIntent>, object]>([
  [
    'waits for its window',
    { state: 'in-window', intent: doubtOf({ settleMs: SETTLE_MS }).intent },
    {
      code: 'intent/settling',
      message: `${SENT}; it may still arrive, so nothing is concluded or sent before 2026-01-02T03:04:05.000Z`,
      remedy: 'Run the same command again after 2026-01-02T03:04:05.000Z, or with --wait.',
      untilMs: SETTLE_MS,
    },
  ],
  [
    'can be looked at by whoever may write',
    { state: 'due' },
    {
      code: 'intent/due',
      message: `${SENT}; enough time has passed to look, which the next apply does`,
      remedy: 'Run apply: it observes the platform first, and requires manual action only if that cannot decide it.',
    },
  ],
  [
    'is left to a person',
    { state: 'held', evidence: 'two of them were seen' },
    {
      code: 'intent/in-doubt',
      message: `${SENT}, and observation cannot decide it: two of them were seen`,
      remedy:
        'Look at the platform, then say what happened: portolan ledger resolve intent-1 --applied|--not-applied --reason "…"',
    },
  ],
])('an object whose intent %s is left alone, and it is said what to do', ([, state, hold]) => {
  const doubt = doubtOf({}, state);
  const expected = { ...hold, resource: web };
  expect(held({ inDoubt: [doubt] }, open({ changes: [outer] }))).toStrictEqual({
    left: [],
    holds: [{ ...expected, changes: [{ path: outer.path, before: false, after: true, cause: 'first-apply' }] }],
  });
  const draft = draftOf();
  holdDoubts(inputOf({ inDoubt: [doubt] }), draft);
  expect(draft.holds).toStrictEqual([{ ...expected, changes: [] }]);
});

test('an intent in doubt is named once, with its changes where there are any', () => {
  const second = doubtOf({ id: 'intent-2' });
  const input = inputOf({ inDoubt: [doubtOf(), second] });
  const draft = draftOf({ steps: [open({ changes: [outer] })] });
  withoutDoubtful(input, draft);
  holdDoubts(input, draft);
  holdDoubts(input, draft);
  expect(draft.holds.map(({ message, changes }) => [message.slice(0, 52), changes.length])).toEqual([
    ['updatePort for Component/web (intent intent-1) was s', 1],
    ['updatePort for Component/web (intent intent-2) was s', 0],
  ]);
  // The same words about another resource are another hold.
  draft.holds.splice(0, 2, { ...draft.holds[0], resource: resourceId('Component', 'api') } as Draft['holds'][number]);
  holdDoubts(input, draft);
  expect(draft.holds.map(({ resource }) => resource)).toEqual(['Component/api', web, web]);
});

test.for<readonly [string, Draft['steps'][number], boolean]>([
  ['its object', open(), false],
  ['another object of the resource', open({ object: 'port/s/9090' }), true],
  ['an object of that name of another kind', stepOf(resourceId('HttpGatewayRule', 'web'), 'create'), true],
])('a write in doubt keeps back steps on %s: that one stays %j', ([, step, stays]) => {
  const { left, holds } = held({ inDoubt: [doubtOf()] }, step);
  expect(left).toEqual(stays ? [step.id] : []);
  expect(holds.map(({ code }) => code)).toEqual(stays ? [] : ['intent/in-doubt']);
});

test('objects of another source or application are other objects', () => {
  const elsewhere = [
    doubtOf({ uid: objectUid('other', scopeKey(scope), 'Component', 'port/s/8080') }),
    doubtOf({ uid: objectUid('default', 'default/team-a/region-1/43', 'Component', 'port/s/8080') }),
  ];
  expect(held({ inDoubt: elsewhere }, open()).left).toEqual([open().id]);
});

test.for<readonly [string, string, string, readonly string[]]>([
  ['duplicate-accepting', 'install', 'StoreInstall', ['intent/in-doubt']],
  ['duplicate-accepting', 'upgrade', 'StoreInstall', ['intent/in-doubt']],
  ['duplicate-accepting', 'add_port', 'Component', []],
  ['duplicate-rejecting', 'install', 'StoreInstall', []],
  ['target-state', 'upgrade', 'StoreInstall', []],
])('behind a %s write in doubt, the %s of another %s is held as %j', ([idempotence, type, kind, codes]) => {
  const doubt = doubtOf({
    uid: uidOf('StoreInstall', 'install/db'),
    resource: resourceId('StoreInstall', 'db'),
    idempotence: idempotence as 'target-state',
  });
  const step = stepOf(resourceId(kind, 'cache'), type, { step: { type }, object: 'install/cache' });
  expect(held({ inDoubt: [doubt] }, step).holds.map(({ code }) => code)).toEqual(codes);
});

test('while the platform may still be at work for an application, everything in it waits', () => {
  const doubt = doubtOf({ settleMs: SETTLE_MS }, { state: 'in-window', scopeUntilMs: SCOPE_MS });
  const other = stepOf(resourceId('Component', 'api'), 'ports/80/open_inner', {
    object: 'port/t/80',
    changes: [outer],
  });
  const { left, holds } = held({ inDoubt: [doubtOf({ id: 'a', uid: 'another' }), doubt] }, open(), other);
  expect(left).toEqual([]);
  expect(holds).toStrictEqual([
    expect.objectContaining({ code: 'intent/settling', resource: web, untilMs: SETTLE_MS }),
    {
      code: 'intent/scope-waits',
      resource: 'Component/api',
      message: `${SENT} and may still be at work, so nothing else is sent for this application before 2026-01-02T03:03:00.000Z`,
      remedy: 'Run the same command again after 2026-01-02T03:03:00.000Z, or with --wait.',
      changes: [{ path: outer.path, before: false, after: true, cause: 'first-apply' }],
      untilMs: SCOPE_MS,
    },
  ]);
});

test('nothing is removed while anything of the application is in doubt; other steps go on', () => {
  const removal = open({ object: 'port/s/9090', prune: true });
  const other = stepOf(web, 'ports/7070/open_inner', { object: 'port/s/7070' });
  const { left, holds } = held({ inDoubt: [doubtOf(), doubtOf({ id: 'intent-2' })] }, removal, other);
  expect(left).toEqual([other.id]);
  expect(holds).toStrictEqual([
    {
      code: 'prune/in-doubt',
      resource: web,
      message: `${SENT}, so nothing is removed from this application before its outcome is known`,
      remedy: 'Wait for the outcome of intent intent-1. `portolan ledger show intent-1` shows its state.',
      changes: [],
    },
  ]);
  expect(held({}, removal)).toEqual({ left: [removal.id], holds: [] });
});

test('what was found may be what a request in doubt has made', () => {
  expect(reconciledKinds.get('StoreInstall')?.copyHold?.(whatIsInDoubt(doubtOf()), 'intent-1')).toStrictEqual({
    code: 'install/other-in-doubt',
    message: `${SENT}, and what is installed may be what it made; nothing is adopted or installed here until that is resolved`,
    remedy: 'Resolve intent intent-1 first. `portolan ledger show intent-1` shows its state.',
  });
});

test('several steps that are held for one reason are held once for each resource', () => {
  const steps = [
    open(),
    stepOf(web, 'ports/8080/open_inner'),
    open({ object: 'port/s/9090', prune: true }),
    stepOf(resourceId('Component', 'same'), 'ports/8080/open_inner'),
  ];
  const { left, holds } = held({ inDoubt: [doubtOf()] }, ...steps);
  expect(left).toEqual([]);
  expect(holds.map(({ resource, code }) => [resource, code])).toEqual([
    [web, 'intent/in-doubt'],
    [web, 'prune/in-doubt'],
    ['Component/same', 'intent/in-doubt'],
  ]);
});

test('the changes of a hold are attributed by the object that the step touches', () => {
  const input = {
    inDoubt: [doubtOf()],
    ledgerView: memoryOf(objectOf({ lastApplied: { outer: true } }), objectOf({ naturalKey: 'x', lastApplied: {} })),
  };
  const changes = [outer, { ...outer, object: 'x', path: 'elsewhere' }];
  expect(held(input, open({ changes })).holds[0]?.changes).toEqual([
    { path: outer.path, before: false, after: true, lastApplied: true, cause: 'drift' },
    { path: 'elsewhere', before: false, after: true, cause: 'first-apply' },
  ]);
});

const manifest = resourceOf(web, { ports: [{ port: 8080, outer: true }] });
const otherWish = resourceOf(web, { ports: [{ port: 8080, outer: false }] });
function failedOften(times: number, wish: Resource | undefined): OwnedObject {
  const failed = Array.from({ length: times }).reduce(
    (object: OwnedObject) => withFailure(object, wish, undefined),
    objectOf(),
  );
  return { ...failed, lastApplied: { outer: false } };
}

test.for([0, 1, 2, 3, 4, 10])('a write that failed %i times is held from the third time on', (times) => {
  const input = { ledgerView: memoryOf(failedOften(times, manifest)), resources: new Map([[web, manifest]]) };
  const { left, holds } = held(input, open({ changes: [outer] }));
  if (times < 3) {
    expect({ left, holds }).toEqual({ left: [open().id], holds: [] });
    return;
  }
  expect(left).toEqual([]);
  expect(holds).toStrictEqual([
    {
      code: 'effect/not-taken',
      resource: web,
      message: `what the manifest says of it was tried ${times} times in a row, and each time it was refused or changed nothing, so "ports/8080/open_outer of Component/web" is not sent: ports[8080].outer is false, wanted true`,
      remedy: `See in the console why. Change the manifest, or run \`portolan ledger retry ${uidOf('Component', 'port/s/8080')}\` to try again.`,
      changes: [{ path: outer.path, before: false, after: true, lastApplied: false, cause: 'git' }],
    },
  ]);
});

test('a removal from git that failed too often names no wanted values and no manifest', () => {
  const input = { ledgerView: memoryOf(failedOften(FAILURES_MAX, undefined)) };
  const [hold] = held(input, open({ verb: 'delete', changes: [outer] })).holds;
  expect(hold).toMatchObject({
    message: `its removal was tried 3 times in a row, and each time it was refused or changed nothing, so "ports/8080/open_outer of Component/web" is not sent`,
    remedy: `See in the console why. Remove it there, or run \`portolan ledger retry ${uidOf('Component', 'port/s/8080')}\` to try again.`,
  });
});

test.for<readonly [string, StepProposal['changes'], string]>([
  [
    'of several fields',
    [outer, { field: 'alias', path: 'alias' }],
    'ports[8080].outer is false, wanted true; alias is null, wanted null',
  ],
  ['of no field', [], 'the platform stayed as it was'],
])('a write %s that failed too often says what was wanted', ([, changes, words]) => {
  const input = { ledgerView: memoryOf(failedOften(FAILURES_MAX, manifest)), resources: new Map([[web, manifest]]) };
  expect(held(input, open({ changes })).holds[0]?.message.split('is not sent: ')[1]).toBe(words);
});

test('what failed before does not count against another wish, nor against another object', () => {
  const ledgerView = memoryOf(failedOften(FAILURES_MAX, manifest));
  expect(held({ ledgerView, resources: new Map([[web, otherWish]]) }, open()).holds).toEqual([]);
  expect(held({ ledgerView, resources: new Map([[web, manifest]]) }, open({ object: 'port/s/1' })).holds).toEqual([]);
  // A count from before wishes were told apart stands.
  expect(held({ ledgerView: memoryOf(objectOf({ failures: FAILURES_MAX })) }, open()).left).toEqual([]);
  // What git no longer names is one wish too: that it goes.
  expect(held({ ledgerView }, open()).holds).toEqual([]);
  const removal = memoryOf(failedOften(FAILURES_MAX, undefined));
  expect(held({ ledgerView: removal }, open()).holds).toMatchObject([{ code: 'effect/not-taken' }]);
});

test('an intent in doubt is named before former failures are', () => {
  const input = {
    inDoubt: [doubtOf()],
    ledgerView: memoryOf(failedOften(FAILURES_MAX, manifest)),
    resources: new Map([[web, manifest]]),
  };
  expect(held(input, open()).holds.map(({ code }) => code)).toEqual(['intent/in-doubt']);
});

test('with any intents in doubt each step is either left or held, and nothing on an object in doubt is left', () => {
  const keys = fc.constantFrom('port/s/1', 'port/s/2', 'port/s/3');
  const steps = fc.array(fc.record({ object: keys, prune: fc.boolean(), name: fc.constantFrom('web', 'api') }), {
    maxLength: 6,
  });
  const doubts = fc.array(
    fc.record({ object: keys, state: fc.constantFrom('in-window', 'due', 'held'), scopeWaits: fc.boolean() }),
    { maxLength: 2 },
  );
  fc.assert(
    fc.property(steps, doubts, (drawnSteps, drawnDoubts) => {
      const inDoubt = drawnDoubts.map(({ object, state, scopeWaits }, at) =>
        doubtOf(
          { id: `intent-${at}`, uid: uidOf('Component', object) },
          { state: state as 'due', ...(scopeWaits ? { scopeUntilMs: SCOPE_MS } : {}) },
        ),
      );
      const all = drawnSteps.map(({ name, ...proposal }, at) =>
        stepOf(resourceId('Component', name), `${at}`, proposal),
      );
      const { left, holds } = held({ inDoubt }, ...all);
      const isFree = ({ proposal }: (typeof all)[number]) =>
        !drawnDoubts.some(({ object, scopeWaits }) => scopeWaits || object === proposal.object) &&
        !(proposal.prune && drawnDoubts.length > 0);
      expect(left).toEqual(all.filter(isFree).map(({ id }) => id));
      expect(new Set(holds.map(({ resource }) => resource))).toEqual(
        new Set(all.filter((step) => !isFree(step)).map(({ resource }) => resource)),
      );
      expect(new Set(holds.map(({ resource, code }) => `${resource} ${code}`)).size).toBe(holds.length);
    }),
    { numRuns: 500 },
  );
});
