import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RawChange } from '../../src/kinds/reconciled.ts';
import { type Json, sameJson } from '../../src/model/json.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { Cause, FieldChange } from '../../src/model/plan.ts';
import { attribute, overallCause } from '../../src/plan/draft.ts';
import { objectOf } from './plans.ts';

const path = 'ports[8080].protocol';
const raw = (values: Partial<RawChange>): RawChange => ({ field: 'protocol', path, ...values });
const lastApplied = (value: Json, changes: Partial<OwnedObject> = {}) =>
  objectOf({ lastApplied: { protocol: value }, ...changes });

test.for<readonly [string, Partial<RawChange>, OwnedObject | undefined, Cause]>([
  ['the manifest moved', { before: 'http', after: 'grpc' }, lastApplied('http'), 'git'],
  ['the platform moved', { before: 'tcp', after: 'http' }, lastApplied('http'), 'drift'],
  ['both moved', { before: 'tcp', after: 'grpc' }, lastApplied('http'), 'git+drift'],
  ['the platform lost it', { after: 'http' }, lastApplied('http'), 'drift'],
  ['the platform lost it, and git moved', { after: 'grpc' }, lastApplied('http'), 'git+drift'],
  ['the manifest lets go of it', { before: 'http' }, lastApplied('http'), 'git'],
  ['null was applied and a value stands there', { before: 'tcp', after: null }, lastApplied(null), 'drift'],
  ['a list is another one in another order', { before: [1, 2], after: [2, 1] }, lastApplied([1, 2]), 'git'],
  [
    'an object is the same in another order',
    { before: 1, after: { a: 1, b: 2 } },
    lastApplied({ b: 2, a: 1 }),
    'drift',
  ],
  ['it is not on record', { before: 'tcp', after: 'http' }, undefined, 'first-apply'],
  ['it is on record as gone', { before: 'tcp', after: 'http' }, lastApplied('http', { state: 'gone' }), 'first-apply'],
  ['nothing of it was ever asserted', { before: 'tcp', after: 'http' }, objectOf(), 'first-apply'],
  [
    'only other fields of it were asserted',
    { before: 'tcp', after: 'http' },
    objectOf({ lastApplied: { inner: true } }),
    'git',
  ],
  ['part of what it is is missing', { after: 8080, identifies: true }, objectOf(), 'drift'],
  ['part of what it is is missing, and it is gone', { after: 8080, identifies: true }, undefined, 'first-apply'],
])('where %s, it is said so', ([, values, object, cause]) => {
  expect(attribute(raw(values), object, true).cause).toBe(cause);
});

test('a change carries what is known of it, and nothing else', () => {
  const full = raw({ before: 'tcp', after: 'http', object: 'port/s/9090', identifies: true });
  expect(attribute(full, lastApplied('http'), true)).toStrictEqual({
    path,
    before: 'tcp',
    after: 'http',
    lastApplied: 'http',
    cause: 'drift',
  });
  expect(attribute(raw({ after: null }), undefined, true)).toStrictEqual({ path, after: null, cause: 'first-apply' });
  expect(attribute(raw({ before: false }), lastApplied(false), true)).toStrictEqual({
    path,
    before: false,
    lastApplied: false,
    cause: 'git',
  });
});

test('the ledger is asked for the field, not for its path', () => {
  const object = objectOf({ lastApplied: { [path]: 'tcp', protocol: 'http' } });
  expect(attribute(raw({ before: 'tcp', after: 'http' }), object, true).lastApplied).toBe('http');
});

test('without a ledger nothing is claimed to be known, whatever is at hand', () => {
  expect(attribute(raw({ before: 'tcp', after: 'http' }), lastApplied('http'), false)).toStrictEqual({
    path,
    before: 'tcp',
    after: 'http',
    cause: 'unknown',
  });
});

const json = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, '', 'a'),
  fc.constantFrom<Json>([1], [1, 2], {}, { a: 1 }),
);

test('git is named exactly where the wish moved, drift exactly where the platform did', () => {
  fc.assert(
    fc.property(json, json, json, (before, after, applied) => {
      fc.pre(!sameJson(before, after));
      const { cause } = attribute(raw({ before, after }), lastApplied(applied), true);
      expect(cause.includes('git')).toBe(!sameJson(after, applied));
      expect(cause.includes('drift')).toBe(!sameJson(before, applied));
    }),
  );
});

const changed = (...causes: readonly Cause[]): FieldChange[] => causes.map((cause) => ({ path, cause }));

test.for<readonly [readonly Cause[], Cause | undefined]>([
  [[], undefined],
  [['git'], 'git'],
  [['unknown', 'unknown'], 'unknown'],
  [['adopt', 'adopt'], 'adopt'],
  [['git', 'drift'], 'git+drift'],
  [['drift', 'git'], 'git+drift'],
  [['git', 'git+drift'], 'git+drift'],
  [['first-apply', 'git+drift'], 'git+drift'],
  [['first-apply', 'git'], 'git'],
  [['first-apply', 'drift'], 'drift'],
  [['unknown', 'drift'], 'drift'],
  [['adopt', 'first-apply'], 'first-apply'],
  [['adopt', 'unknown'], undefined],
  [['obligation', 'adopt'], undefined],
])('of %j the cause as a whole is %s', ([causes, whole]) => {
  expect(overallCause(changed(...causes))).toBe(whole);
});

test('neither order nor repetition of changes alters the cause as a whole', () => {
  const causes = fc.array(
    fc.constantFrom<Cause>('git', 'drift', 'git+drift', 'adopt', 'first-apply', 'prune', 'obligation', 'unknown'),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(causes, (some) => {
      const whole = overallCause(changed(...some));
      expect(overallCause(changed(...some.toReversed(), ...some))).toBe(whole);
      expect([...some, 'git+drift', undefined]).toContain(whole);
    }),
  );
});
