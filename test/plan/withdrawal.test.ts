import { beforeEach, expect, test } from 'vitest';
import { recordedAs } from '../../src/kinds/reconciled.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import type { PlanInput } from '../../src/plan/draft.ts';
import { planScope } from '../../src/plan/plan-scope.ts';
import { doubtOf, memoryOf } from './plans.ts';
import { creation, type Found, holdOf, proposal, row, type Wanted, wanting, withdrawn } from './scripted-kinds.ts';

beforeEach(() => {
  withdrawn.length = 0;
});

// What of the ledger's objects is withdrawn, and what of a kind's word is left out while one of them is in doubt.

const removing = {
  steps: [proposal('remove', { prune: true, verb: 'delete' })],
} as unknown as OwnedObject['remoteAux'];
const unwanted = row('First/a', 'a', { remoteAux: removing });

test.for<readonly [string, boolean, Readonly<Record<string, Wanted>>, OwnedObject, Partial<PlanInput>]>([
  ['nobody speaks for', true, {}, unwanted, {}],
  ['nobody of its kind speaks for', true, { 'Also/a': { found: {} } }, unwanted, {}],
  ['another resource speaks for', false, { 'First/b': { found: { claims: ['b', 'a'] } } }, unwanted, {}],
  ['its own resource speaks for', false, { 'First/a': { found: {} } }, unwanted, {}],
  ['its resource names no more', true, { 'First/a': { found: { claims: ['b'] } } }, unwanted, {}],
  ['its resource could not say', false, { 'First/a': { found: { claims: [] } } }, unwanted, {}],
  ['its resource could not be observed for', false, { 'First/a': {} }, unwanted, {}],
  ['another source has', false, {}, row('First/a', 'a', { remoteAux: removing, source: 'other' }), {}],
  ['a later version made', false, {}, row('Later/a', 'a', { remoteAux: removing }), {}],
  ['is there in a run for some resources only', false, {}, unwanted, { targets: new Set<ResourceId>() }],
])('an object that %s is withdrawn: %j', ([, isWithdrawn, resources, object, parts]) => {
  const { plan, ledgerUpdates } = planScope(wanting(resources, { ledgerView: memoryOf(object), ...parts }));
  expect(withdrawn).toHaveLength(isWithdrawn ? 1 : 0);
  expect(plan.actions.map(({ id, prune, cause }) => ({ id, prune, cause }))).toEqual(
    isWithdrawn ? [{ id: 'First/a#remove', prune: true, cause: 'prune' }] : [],
  );
  expect(ledgerUpdates.forget).toEqual([]);
});

test('an object that is gone is forgotten once nobody wants it, and what a kind lets go of where it is on record', () => {
  const gone = row('First/a', 'a', { state: 'gone', remoteAux: removing });
  expect(planScope(wanting({}, { ledgerView: memoryOf(gone) })).ledgerUpdates.forget).toEqual([gone]);
  expect(planScope(wanting({ 'First/a': { found: {} } }, { ledgerView: memoryOf(gone) })).ledgerUpdates.forget).toEqual(
    [],
  );
  const released = row('First/b', 'b', { remoteAux: { forget: ['b', 'not on record'] } });
  expect(planScope(wanting({}, { ledgerView: memoryOf(released) })).ledgerUpdates.forget).toEqual([released]);
});

const other = ['test/not-ours', 'intent/in-doubt'];
test.for<readonly [string, Partial<Intent>, Found, readonly OwnedObject[], readonly string[], number, number]>([
  ['whose creation is in doubt', {}, {}, [], ['intent/in-doubt'], 0, 0],
  ['whose target state is in doubt', { idempotence: 'target-state' }, {}, [], other, 1, 0],
  ['that speaks for more than that', {}, { claims: ['a', 'b'] }, [], other, 1, 0],
  ['that speaks for nothing', {}, { claims: [] }, [], other, 1, 0],
  ['whose object was gone', {}, { claims: [] }, [row('First/a', 'a', { state: 'gone' })], other, 1, 0],
  ['whose object is on record', {}, { claims: [] }, [row('First/a', 'a')], other, 1, 1],
  ['whose object is owed something', {}, { claims: [] }, [row('First/a', 'a', { obligation: {} })], other, 1, 0],
  ['of another object than the one in doubt', { uid: 'another', resource: 'First/b' }, {}, [], other, 1, 1],
])(
  'of a resource %s, what was found is said or left out, and recorded or not',
  ([, intent, found, rows, codes, said, recorded]) => {
    const { idempotence } = creation.intent;
    const inDoubt = [doubtOf({ ...creation.intent, idempotence, ...intent })];
    const live = {
      holds: [holdOf('test/not-ours')],
      notes: [{ code: 'test/adopted', message: 'adopted' }],
      inSync: [row('First/a', 'a')],
      ...found,
    };
    const ledgerView = memoryOf(...rows);
    const { plan, ledgerUpdates } = planScope(wanting({ 'First/a': { found: live } }, { inDoubt, ledgerView }));
    expect(plan.holds.map(({ code }) => code)).toEqual(codes);
    expect(plan.notes).toHaveLength(said);
    expect(ledgerUpdates.inSync).toHaveLength(recorded);
  },
);

test('nothing of a resource is forgotten while a write of it is in doubt', () => {
  const released = row('First/b', 'b', { remoteAux: { forget: ['b'] } });
  const forgotten = (resource: ResourceId) =>
    planScope(wanting({}, { ledgerView: memoryOf(released), inDoubt: [doubtOf({ ...creation.intent, resource })] }))
      .ledgerUpdates.forget;
  expect(forgotten('First/b')).toEqual([]);
  expect(forgotten('First/c')).toEqual([released]);
});

test.for<readonly [string, boolean, Partial<Intent>, Found, readonly OwnedObject[]]>([
  ['may be that one', true, {}, {}, []],
  ['was once there and is gone', true, {}, {}, [row('First/b', 'b', { state: 'gone' })]],
  ['is on record', false, {}, {}, [row('First/b', 'b')]],
  ['is still to be made', false, {}, { steps: [proposal('x', { object: 'b' })] }, []],
  ['is not known by any name', false, {}, { claims: [] }, []],
  ['is of another kind', false, { resource: 'Also/a' }, {}, []],
  ['is of a kind whose name only begins so', false, { resource: 'FirstOfAll/a' }, {}, []],
  ['cannot be a second one', false, { idempotence: 'duplicate-rejecting' }, {}, []],
])(
  'behind an install in doubt, what is found for another resource that %s is held: %j',
  ([, isHeld, intent, found, objects]) => {
    const inDoubt = [doubtOf({ uid: 'x', resource: 'First/a', idempotence: 'duplicate-accepting', ...intent })];
    const live = { notes: [{ code: 'test/adopted', message: 'adopted' }], inSync: [row('First/b', 'b')], ...found };
    const input = wanting({ 'First/b': { found: live } }, { inDoubt, ledgerView: memoryOf(...objects) });
    const { plan, ledgerUpdates } = planScope(input);
    expect(plan.holds.some(({ code, resource }) => code === 'test/may-be-a-copy' && resource === 'First/b')).toBe(
      isHeld,
    );
    expect(plan.notes).toHaveLength(isHeld ? 0 : 1);
    expect(ledgerUpdates.inSync).toHaveLength(isHeld ? 0 : 1);
  },
);

const kept = { annotations: { 'portolan/prune': 'keep', 'portolan/reconcile': 'suspend' } };
test.for<readonly [string, boolean, OwnedObject, Partial<PlanInput>]>([
  ['is on record', true, row('First/a', 'a'), {}],
  ['is gone', false, row('First/a', 'a', { state: 'gone' }), {}],
  ['another source has', false, row('First/a', 'a', { source: 'other' }), {}],
  ['is no target of the run', false, row('First/a', 'a'), { targets: new Set<ResourceId>() }],
])(
  'what a suspended manifest says of the removal of an object that %s is recorded: %j',
  ([, isRecorded, object, parts]) => {
    const { ledgerUpdates } = planScope(wanting({ 'First/a': kept }, { ledgerView: memoryOf(object), ...parts }));
    expect(ledgerUpdates.inSync.map(({ recording }) => recording.remoteAux)).toEqual(
      isRecorded ? [{ kept: true }] : [],
    );
  },
);

test('what is recorded of an object that is compared comes after its removal marks, and so replaces them', () => {
  const found = { inSync: [recordedAs(row('First/a', 'a'), { remoteAux: { compared: true } })] };
  const { ledgerUpdates } = planScope(
    wanting(
      { 'First/a': { found, annotations: { 'portolan/prune': 'keep' } } },
      { ledgerView: memoryOf(row('First/a', 'a')) },
    ),
  );
  expect(ledgerUpdates.inSync.map(({ recording }) => recording.remoteAux)).toEqual([
    { kept: true },
    { compared: true },
  ]);
});
