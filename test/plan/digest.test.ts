import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resourceId } from '../../src/model/ids.ts';
import type { Action, FieldChange, ScopePlan } from '../../src/model/plan.ts';
import { planDigest } from '../../src/plan/digest.ts';
import { actionOf, planOf, scope } from './plans.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const outer: FieldChange = { path: 'ports[8080].outer', before: false, after: true, cause: 'git' };
const deferred = {
  resource: resourceId('HttpGatewayRule', 'www'),
  waitsFor: resourceId('StoreInstall', 'db'),
  desired: { port: 3306, domain: 'db.example.com' },
  summary: 'after StoreInstall/db, create the rule db.example.com/',
};
const plan = planOf({ actions: [actionOf({ changes: [outer] })], deferred: [deferred] });
const withAction = (changes: Partial<Action>) =>
  planOf({ ...plan, actions: [actionOf({ changes: [outer], ...changes })] });

// People approve digests in pull requests: what is hashed stays, over versions too.
test('a digest is the hash of what the plan does, as canonical text', () => {
  const text =
    '{"actions":[{"changes":[{"after":true,"before":false,"path":"ports[8080].outer"}],"object":"port/s/8080","resource":"Component/web","step":"open_outer"}],' +
    '"deferred":[{"desired":{"domain":"db.example.com","port":3306},"resource":"HttpGatewayRule/www","waitsFor":"StoreInstall/db"}],' +
    '"scope":"default/team-a/region-1/42"}';
  const empty = '{"actions":[],"deferred":[],"scope":"default/team-a/region-1/7"}';
  expect(planDigest([plan])).toBe(sha256(text));
  expect(planDigest([plan, planOf({ scope: { ...scope, appId: 7 } })])).toBe(sha256(`${empty}\n${text}`));
  expect(planDigest([])).toBe(sha256(''));
});

test.for<readonly [string, ScopePlan]>([
  ['another application', planOf({ ...plan, scope: { ...scope, appId: 43 } })],
  ['another platform', planOf({ ...plan, scope: { ...scope, platform: 'other' } })],
  ['another resource', withAction({ resource: resourceId('Component', 'api') })],
  ['another step', withAction({ step: { type: 'close_outer', serviceId: 's', port: 8080 } })],
  [
    'another component under the same name',
    withAction({ object: 'port/t/8080', step: { type: 'open_outer', serviceId: 't', port: 8080 } }),
  ],
  ['something that is closed along with it', withAction({ takesAlong: ['rule/s/8080/a.example.com/'] })],
  ['another field', withAction({ changes: [{ ...outer, path: 'ports[8080].inner' }] })],
  ['another value before', withAction({ changes: [{ ...outer, before: null }] })],
  ['another value after', withAction({ changes: [{ ...outer, after: false }] })],
  ['no value before', withAction({ changes: [{ path: outer.path, after: true, cause: 'git' }] })],
  ['no value after', withAction({ changes: [{ path: outer.path, before: false, cause: 'git' }] })],
  ['one more field', withAction({ changes: [outer, { path: 'ports[8080].alias', after: 'WEB', cause: 'git' }] })],
  ['no change at all', withAction({ changes: [] })],
  ['the same once more', planOf({ ...plan, actions: [...plan.actions, ...plan.actions] })],
  ['no action', planOf({ ...plan, actions: [] })],
  ['nothing deferred', planOf({ ...plan, deferred: [] })],
  ['another wish deferred', planOf({ ...plan, deferred: [{ ...deferred, desired: { port: 3307 } }] })],
  [
    'a deferred wish of another resource',
    planOf({ ...plan, deferred: [{ ...deferred, resource: resourceId('HttpGatewayRule', 'api') }] }),
  ],
  [
    'a deferred wish behind another install',
    planOf({ ...plan, deferred: [{ ...deferred, waitsFor: resourceId('StoreInstall', 'cache') }] }),
  ],
])('a plan with %s has another digest', ([, other]) => {
  expect(planDigest([other])).not.toBe(planDigest([plan]));
});

test('actions in another order are another plan', () => {
  const other = actionOf({ step: { type: 'open_inner', serviceId: 's', port: 8080 } });
  expect(planDigest([planOf({ actions: [other, ...plan.actions] })])).not.toBe(
    planDigest([planOf({ actions: [...plan.actions, other] })]),
  );
});

test('a value before and after do not stand for each other, nor does text for what it looks like', () => {
  const values = fc.constantFrom(null, true, 'true', 1, '1', '', [], [1], {}, { a: 1 }, undefined);
  const change = ([before, after]: readonly unknown[]) =>
    planDigest([withAction({ changes: [{ path: 'p', before, after, cause: 'git' } as FieldChange] })]);
  const text = (value: readonly unknown[]) => JSON.stringify(value.map((one) => (one === undefined ? 'none' : [one])));
  fc.assert(
    fc.property(fc.tuple(values, values), fc.tuple(values, values), (left, right) => {
      expect(change(left) === change(right)).toBe(text(left) === text(right));
    }),
    { numRuns: 500 },
  );
});

test.for<readonly [string, ScopePlan]>([
  ['why a field changes', withAction({ changes: [{ ...outer, cause: 'drift', lastApplied: true }] })],
  ['why as a whole', withAction({ cause: 'adopt' })],
  [
    'its id and those it waits for',
    withAction({ id: 'Component/web#other', after: ['Component/web#ports/1/add_port'] }),
  ],
  ['an id that a platform gives anew', withAction({ step: { type: 'open_outer', ruleId: '7' } })],
  ['words for people', withAction({ summary: 'other words', effects: ['enables 1 rule: a.example.com/'] })],
  ['how it is written down', withAction({ verb: 'create', prune: true, obligation: { outer: true } })],
  ['words about what is deferred', planOf({ ...plan, deferred: [{ ...deferred, summary: 'later' }] })],
  ['the name of the application', planOf({ ...plan, application: resourceId('Application', 'store') })],
  [
    'what is not done',
    planOf({
      ...plan,
      holds: [{ code: 'a/b', resource: resourceId('Component', 'api'), message: 'm', remedy: 'r', changes: [] }],
      notes: [{ code: 'a/b', message: 'm' }],
      inSync: [resourceId('Component', 'api')],
      unchangedFields: 9,
    }),
  ],
])('%s is no part of the digest', ([, other]) => {
  expect(planDigest([other])).toBe(planDigest([plan]));
});

test('a digest outlives JSON, the order of keys and the order of applications', () => {
  const scopes = fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 6 });
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(scopes, value, value, (ids, before, desired) => {
      const change = { path: 'p', before, after: undefined, cause: 'git' } as unknown as FieldChange;
      const plans = ids.map((appId) =>
        planOf({
          scope: { ...scope, appId },
          actions: [actionOf({ changes: [change] })],
          deferred: [{ ...deferred, desired: desired as typeof deferred.desired }],
        }),
      );
      const digest = planDigest(plans);
      expect(planDigest(reversedKeys(plans) as ScopePlan[])).toBe(digest);
      expect(planDigest(JSON.parse(JSON.stringify(plans)) as ScopePlan[])).toBe(digest);
      expect(planDigest(plans.toReversed())).toBe(digest);
    }),
  );
});

/** The same value with the keys of every object in the opposite order. */
function reversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversedKeys(member)]),
  );
}
