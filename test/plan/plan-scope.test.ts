import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import type { StepProposal } from '../../src/kinds/reconciled.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import { planScope } from '../../src/plan/plan-scope.ts';
import { memoryOf, scope } from './plans.ts';
import {
  creation,
  holdOf,
  otherwise,
  outer,
  proposal,
  remedy,
  row,
  seen,
  wanting,
  withdrawn,
} from './scripted-kinds.ts';

beforeEach(() => {
  seen.length = 0;
  withdrawn.length = 0;
});

test('what is as wanted is in sync, and nothing else is said of it', () => {
  const recording = { ...row('First/a', 'a'), replaces: 'b' };
  const input = wanting({
    'Also/b': { found: { unchangedFields: 2 } },
    'Also/a': { found: {} },
    'First/z': { found: { unchangedFields: 3, inSync: [recording] } },
    'Application/shop': { found: {} },
  });
  expect(planScope(input)).toStrictEqual({
    plan: {
      application: 'Application/shop',
      scope,
      actions: [],
      deferred: [],
      holds: [],
      notes: [],
      inSync: ['First/z', 'Also/a', 'Also/b'],
      unchangedFields: 5,
    },
    ledgerUpdates: { inSync: [{ resource: 'First/z', kind: 'First', recording }], forget: [] },
    waits: [],
  });
  expect(seen.map((context) => context.resource.id)).toEqual(['First/z', 'Also/a', 'Also/b']);
});

test('a kind is told all it may know', () => {
  const found = { unchangedFields: 1 };
  const input = wanting({ 'First/a': { found }, 'Also/b': {} }, { ledgerView: memoryOf(row('Also/gone', 'gone')) });
  planScope(input);
  expect(seen).toStrictEqual([
    {
      resource: input.resources.get('First/a'),
      live: found,
      siblings: input.resources,
      ledgerView: input.ledgerView,
      permissions: input.permissions,
      source: 'default',
      scope: 'default/team-a/region-1/42',
      nowMs: 1_000_000,
    },
  ]);
  expect(withdrawn).toStrictEqual([
    {
      ...(input.withdrawal.get('First') as object),
      permissions: input.permissions,
      ledgerView: input.ledgerView,
      resources: input.resources,
      source: input.source,
      scope: 'default/team-a/region-1/42',
      nowMs: input.nowMs,
    },
  ]);
});

test('a step becomes an action that says all of it', () => {
  const steps = [
    proposal('first', {
      changes: [outer],
      effects: ['enables 1 rule'],
      takesAlong: ['rule/x'],
      obligation: { outer: true },
    }),
    proposal('second', { verb: 'delete', step: { type: 'delete_port', port: 1 }, after: ['first'] }),
  ];
  const { plan } = planScope(wanting({ 'First/a': { found: { steps } } }));
  expect(plan.inSync).toEqual([]);
  expect(plan.actions).toStrictEqual([
    {
      id: 'First/a#first',
      resource: 'First/a',
      verb: 'update',
      step: steps[0]?.step,
      object: 'a',
      summary: 'first',
      changes: [{ path: 'outer', before: false, after: true, cause: 'first-apply' }],
      effects: ['enables 1 rule'],
      cause: 'first-apply',
      after: [],
      prune: false,
      takesAlong: ['rule/x'],
      obligation: { outer: true },
    },
    {
      id: 'First/a#second',
      resource: 'First/a',
      verb: 'delete',
      step: { type: 'delete_port', port: 1 },
      object: 'a',
      summary: 'second',
      changes: [],
      effects: [],
      cause: 'first-apply',
      after: ['First/a#first'],
      prune: false,
    },
  ]);
});

const drifted = row('First/a', 'a', { lastApplied: { outer: true } });
const asserted = row('First/a', 'a', { lastApplied: { outer: false } });

test.for<readonly [string, Partial<StepProposal>, OwnedObject, string, readonly string[]]>([
  ['by its changes', { changes: [outer] }, drifted, 'drift', ['drift']],
  ['by what the ledger knows of another object', { changes: [{ ...outer, object: 'b' }] }, drifted, 'git', ['git']],
  ['as adopted', { changes: [outer], cause: 'adopt' }, drifted, 'adopt', ['adopt']],
  ['as owed', { cause: 'obligation' }, drifted, 'obligation', []],
  ['as a removal, whatever moved', { changes: [outer], prune: true }, drifted, 'prune', ['prune']],
  ['as a removal that changes no field', { prune: true }, drifted, 'prune', []],
  ['as git’s, where nothing says otherwise', {}, asserted, 'git', []],
])('an action is attributed %s', ([, changes, object, cause, causes]) => {
  const ledgerView = memoryOf(object, row('First/b', 'b', { lastApplied: { outer: false } }));
  const { plan } = planScope(
    wanting({ 'First/a': { found: { steps: [proposal('x', changes)], claims: ['a', 'b'] } } }, { ledgerView }),
  );
  expect(plan.actions.map((action) => [action.cause, action.changes.map((change) => change.cause)])).toEqual([
    [cause, causes],
  ]);
});

test.for<readonly [boolean, string]>([
  [true, 'git'],
  [false, 'unknown'],
])('a step without changes has the cause of what is done to the same object; ledger known: %j', ([known, fallback]) => {
  const steps = [
    proposal('for a moment'),
    proposal('for good', { changes: [{ ...outer, object: 'a' }] }),
    proposal('elsewhere', { object: 'b' }),
    // ManualOutcome by its own object, though this step is about `b` as a whole.
    proposal('mixed', { object: 'c', changes: [{ ...outer, object: 'a' }] }),
    proposal('besides', { object: 'c' }),
  ];
  const ledgerView = { ...memoryOf(drifted), known };
  const { plan } = planScope(
    wanting(
      { 'First/a': { found: { steps } }, 'First/b': { found: { steps: [proposal('other resource')] } } },
      { ledgerView },
    ),
  );
  const drift = known ? 'drift' : 'unknown';
  expect(Object.fromEntries(plan.actions.map(({ summary, cause }) => [summary, cause]))).toEqual({
    'for a moment': drift,
    'for good': drift,
    elsewhere: fallback,
    mixed: drift,
    besides: drift,
    'other resource': fallback,
  });
});

test('holds, notes, waits and what is deferred carry their resource, and keep it out of sync but for notes', () => {
  const changes = [outer, { ...outer, path: 'other', object: 'b' }];
  const { plan, waits } = planScope(
    wanting(
      {
        'First/a': { found: { holds: [{ ...holdOf('test/held'), changes, object: 'a' }], claims: ['a', 'b'] } },
        'First/b': { found: { notes: [{ code: 'test/noted', message: 'noted' }] } },
        'First/c': { found: { waits: [{ message: 'waits', untilMs: 7 }] } },
        'First/d': { found: { deferred: [{ waitsFor: 'First/c', desired: { port: 1 }, summary: 'later' }] } },
        'First/e': { found: { holds: [{ ...holdOf('test/nothing'), changes: [outer], untilMs: 9 }] } },
      },
      { ledgerView: memoryOf(drifted, row('First/a', 'b', { lastApplied: { outer: false } })) },
    ),
  );
  const { before, after } = outer;
  expect(plan.holds).toStrictEqual([
    {
      code: 'test/held',
      message: 'held: test/held',
      remedy,
      resource: 'First/a',
      changes: [
        { path: 'outer', before, after, lastApplied: true, cause: 'drift' },
        { path: 'other', before, after, lastApplied: false, cause: 'git' },
      ],
    },
    {
      code: 'test/nothing',
      message: 'held: test/nothing',
      remedy,
      untilMs: 9,
      resource: 'First/e',
      changes: [{ path: 'outer', before, after, cause: 'first-apply' }],
    },
  ]);
  expect(plan.notes).toStrictEqual([{ resource: 'First/b', code: 'test/noted', message: 'noted' }]);
  expect(waits).toStrictEqual([{ resource: 'First/c', message: 'waits', untilMs: 7 }]);
  expect(plan.deferred).toStrictEqual([
    { resource: 'First/d', waitsFor: 'First/c', desired: { port: 1 }, summary: 'later' },
  ]);
  expect(plan.inSync).toEqual(['First/b']);
});

test('a suspended resource is neither compared nor withdrawn, and says so', () => {
  const input = wanting(
    { 'First/a': { found: { steps: [proposal('x')] }, annotations: { 'portolan/reconcile': 'suspend' } } },
    { ledgerView: memoryOf(row('First/a', 'a')) },
  );
  const { plan, ledgerUpdates } = planScope(input);
  expect(seen.length + withdrawn.length).toBe(0);
  expect(plan).toMatchObject({ actions: [], inSync: [], holds: [] });
  expect(plan.notes).toStrictEqual([
    {
      code: 'reconcile/suspended',
      resource: 'First/a',
      message: 'First/a is suspended by its annotation portolan/reconcile: nothing is compared or changed',
    },
  ]);
  expect(ledgerUpdates.forget).toEqual([]);
});

test('a resource that is only reported is compared, and nothing is done for it', () => {
  const annotations = { 'portolan/reconcile': 'report' };
  const steps = [proposal('x', { changes: [outer, { ...outer, path: 'alias' }] }), proposal('y', { object: 'b' })];
  const expects = [{ condition: 'never', otherwise }];
  const notes = [{ code: 'test/noted', message: 'noted' }];
  const input = wanting(
    {
      'First/a': { found: { steps, expects, notes, holds: [holdOf('test/held')] }, annotations },
      'First/b': { found: { expects }, annotations },
    },
    { ledgerView: memoryOf(drifted, row('First/c', 'c')) },
  );
  const { plan } = planScope(input);
  const { before, after } = outer;
  const change = { before, after, lastApplied: true, cause: 'drift' };
  expect(plan.actions).toEqual([]);
  expect(plan.notes).toStrictEqual([
    {
      code: 'reconcile/report-only',
      resource: 'First/a',
      message: 'First/a differs in outer, alias; it is only reported, by its annotation portolan/reconcile: report',
      changes: [
        { path: 'outer', ...change },
        { path: 'alias', ...change },
      ],
    },
    { resource: 'First/a', ...notes[0] },
  ]);
  expect(plan.holds.map(({ code }) => code)).toEqual(['test/held']);
  expect(plan.inSync).toEqual(['First/b']);
  expect(withdrawn).toHaveLength(1);
});

test('what differs and is only reported is not in sync', () => {
  const annotations = { 'portolan/reconcile': 'report' };
  const { plan } = planScope(wanting({ 'First/a': { found: { steps: [proposal('x')] }, annotations } }));
  expect(plan.inSync).toEqual([]);
  expect(plan.notes).toHaveLength(1);
});

test('with targets only those are compared', () => {
  const found = { steps: [proposal('x')] };
  const resources = { 'First/a': { found }, 'First/b': { found: {} }, 'First/c': { found: {} } };
  const { plan } = planScope(wanting(resources, { targets: new Set<ResourceId>(['First/a', 'First/b']) }));
  expect(seen.map(({ resource }) => resource.id)).toEqual(['First/a', 'First/b']);
  expect(plan.actions.map(({ id }) => id)).toEqual(['First/a#x']);
  expect(plan.inSync).toEqual(['First/b']);
});

test('a step whose need nobody meets is held in the words of the need', () => {
  const needs = [{ condition: 'port', met: false, otherwise }];
  const { plan } = planScope(wanting({ 'First/a': { found: { steps: [proposal('x', { needs })] } } }));
  expect(plan.actions).toEqual([]);
  expect(plan.inSync).toEqual([]);
  expect(plan.holds).toStrictEqual([{ ...otherwise, resource: 'First/a', changes: [] }]);
});

test('a step behind one that is held waits for it; a resource that is held already says no more', () => {
  const needs = [{ condition: 'port', met: false, otherwise }];
  const steps = [proposal('gives', { provides: ['port'] }), proposal('follows', { after: ['gives'], object: 'other' })];
  const waiting = {
    found: { steps: [proposal('uses', { needs, object: 'b' }), proposal('also uses', { needs, object: 'b' })] },
  };
  const { plan } = planScope(
    wanting({ 'First/a': { found: { steps } }, 'Also/b': waiting, 'Also/c': { found: {} } }, { inDoubt: [creation] }),
  );
  expect(plan.actions).toEqual([]);
  expect(plan.holds.map(({ resource, code }) => [resource, code])).toEqual([
    ['First/a', 'intent/in-doubt'],
    ['Also/b', 'plan/blocked'],
  ]);
  expect(plan.holds[1]).toStrictEqual({
    code: 'plan/blocked',
    resource: 'Also/b',
    message: '"uses" cannot be done before First/a#gives, which is held',
    remedy: 'Release what it waits for first.',
    changes: [],
  });
  expect(plan.inSync).toEqual(['Also/c']);
});

const names: readonly ResourceId[] = ['First/a', 'First/b', 'Also/a', 'Also/b', 'Also/c'];
const drawnFound = fc.record({
  steps: fc
    .array(
      fc.record({
        gives: fc.nat({ max: 3 }),
        wants: fc.option(fc.nat({ max: 3 })),
        prune: fc.boolean(),
        met: fc.boolean(),
      }),
      { maxLength: 3 },
    )
    .map((steps) =>
      steps.map(({ gives, wants, prune, met }, at) =>
        proposal(`${at}`, {
          // What is wanted is of a lower number than what is given: few of these wait for each other in a circle.
          provides: [`c${gives}`],
          needs: wants === null || wants >= gives ? [] : [{ condition: `c${wants}`, met, otherwise }],
          prune,
        }),
      ),
    ),
  held: fc.boolean(),
  annotation: fc.constantFrom(undefined, 'suspend', 'report'),
  isSeen: fc.boolean(),
});

test('each resource is acted upon, held, spoken of, unseen or in sync, whatever order they come in', () => {
  fc.assert(
    fc.property(
      fc.tuple(...names.map(() => drawnFound)),
      fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
      (drawn, order) => {
        const resources = names.map((id, at) => {
          const { steps, held, annotation, isSeen } = drawn[at] as (typeof drawn)[number];
          const found = { steps, holds: held ? [holdOf('test/held')] : [] };
          const annotations = annotation === undefined ? {} : { 'portolan/reconcile': annotation };
          return [id, { annotations, ...(isSeen ? { found } : {}) }] as const;
        });
        let planned: ReturnType<typeof planScope>;
        try {
          planned = planScope(wanting(Object.fromEntries(resources)));
        } catch (error) {
          // Kinds that make circles are wrong; the order says so, and its own test holds that.
          fc.pre(!String(error).includes('in a circle'));
          throw error;
        }
        const shuffled = order.map((at) => resources[at] as (typeof resources)[number]);
        expect(planScope(wanting(Object.fromEntries(shuffled)))).toEqual(planned);
        expect(JSON.parse(JSON.stringify(planned.plan))).toEqual(planned.plan);
        const { actions, holds, notes, inSync } = planned.plan;
        const busy = new Set([...actions, ...holds, ...notes].map(({ resource }) => resource));
        for (const [id, { found }] of resources) {
          const isInSync = inSync.includes(id);
          expect(isInSync && busy.has(id), id).toBe(false);
          expect(isInSync || busy.has(id), id).toBe(found !== undefined || busy.has(id));
        }
        const ids = actions.map((action) => action.id);
        for (const [at, action] of actions.entries())
          for (const id of action.after) expect(ids.indexOf(id), `${id} comes before ${action.id}`).toBeLessThan(at);
      },
    ),
    { numRuns: 500 },
  );
});
