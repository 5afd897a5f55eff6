import { expect, test } from 'vitest';
import { answerJson, isNews, recordedObject, toObject } from '../../src/reconcile/apply/journal.ts';
import type { Recording } from '../../src/kinds/reconciled.ts';
import { portObject, scope, ScriptedWorld } from './scripted-world.ts';

const place = { scope, kind: 'Component', resource: 'Component/web' } as const;
const { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation } = portObject();
const facts = { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation };
const recording: Recording = { ...facts, replaces: 'port/x/1' };

test('a row names its source, scope and resource, and the snapshot in which it was first wanted', () => {
  const world = new ScriptedWorld().apply;
  expect(toObject(world, place, recording, undefined, 0)).toEqual(portObject({ lastSnapshot: 'snapshot-1' }));
  expect(toObject(world, place, recording, portObject(), 3)).toEqual(portObject({ failures: 3 }));
});

test.for([
  [
    'recorded, with its failures',
    recording,
    portObject({ failures: 2 }),
    [{ op: 'put-object', object: portObject({ failures: 2 }) }],
  ],
  ['gone', 'gone', portObject(), [{ op: 'put-object', object: portObject({ state: 'deleting' }) }]],
  ['released', 'released', portObject(), [{ op: 'drop-object', uid: portObject().uid }]],
  ['gone, and never on record', 'gone', undefined, []],
  ['released, and never on record', 'released', undefined, []],
] as const)('of an object that is %s the ledger is told so', ([, what, prior, operations]) => {
  expect(recordedObject(new ScriptedWorld().apply, place, what, prior)).toEqual(operations);
});

test('a row is news where it differs in anything but the snapshot', () => {
  expect(isNews(portObject(), undefined)).toBe(true);
  expect(isNews(portObject(), portObject({ lastSnapshot: 'another' }))).toBe(false);
  expect(isNews(portObject({ lastApplied: { inner: true } }), portObject({ lastApplied: { inner: true } }))).toBe(
    false,
  );
  expect(isNews(portObject({ failures: 1 }), portObject())).toBe(true);
});

test.for([
  [{ message: 'x' }, { message: 'x' }],
  [
    { status: 400, code: 20400, message: 'x' },
    { status: 400, code: 20400, message: 'x' },
  ],
] as const)('the answer %j is kept as %j', ([answer, json]) => {
  expect(answerJson(answer)).toStrictEqual(json);
});
