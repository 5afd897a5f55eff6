import { expect, test } from 'vitest';
import type { Reading } from '../../src/model/reading.ts';
import { createScopeReader } from '../../src/reconcile/scope-reader.ts';
import { createSharedReadings } from '../../src/reconcile/shared-readings.ts';
import { clientOf } from '../platform/client-support.ts';
import { jsonResponse } from '../platform/recorded.ts';

const scope = { platform: 'default', team: 'team-a', region: 'region-1', appId: 1 };

/** A reading whose value is the address that it was read from. */
function echoed(of: Partial<Reading<string>>): Reading<string> {
  return {
    operation: 'getEcho',
    segments: [],
    decode: (json) => (json as { readonly echo: string }).echo,
    expected: { noun: 'an echo', fields: ['echo'] },
    ...of,
  };
}

function echo() {
  return clientOf(({ path, query }) =>
    jsonResponse(200, { echo: `${path.replace('/openapi/v1/', '')} ${JSON.stringify(query)}` }),
  );
}

const at = 'teams/team-a/regions/region-1/apps/1';
const a = { segments: ['things', 'a'] };

test.for([
  ['segments', a, { segments: ['things', 'b'] }, `${at}/things/b {}`],
  ['segments that look alike together', { segments: ['a', 'b c'] }, { segments: ['a b', 'c'] }, `${at}/a%20b/c {}`],
  ['a query', a, { ...a, query: { of: 'tcp' } }, `${at}/things/a {"of":"tcp"}`],
  ['a place', a, { ...a, below: 'team' }, 'teams/team-a/things/a {}'],
] as const)('readings of one operation that differ in %s are different readings', async ([, one, other, expected]) => {
  const { client, sent } = echo();
  const reader = createScopeReader(client, scope, {});
  await reader.read(echoed(one));
  expect(await reader.read(echoed(other))).toEqual({ readable: true, value: expected });
  await reader.read(echoed(other));
  expect(sent).toHaveLength(2);
});

test.for([
  ['segments', { segments: ['b'] }, 'teams/team-a/b {}'],
  ['a query', { segments: ['a'], query: { of: 'tcp' } }, 'teams/team-a/a {"of":"tcp"}'],
] as const)('readings of a team that differ in %s are not shared as one', async ([, other, expected]) => {
  const { client, clock, sent } = echo();
  const shared = createSharedReadings([], clock, { ageMs: 30_000 });
  const read = shared.of(client, scope);
  await read(echoed({ below: 'team', segments: ['a'] }));
  const found = await read(echoed({ below: 'team', ...other }));
  expect(found).toEqual({ readable: true, value: expected });
  // Another application of the team reads the same.
  const sibling = shared.of(client, { ...scope, appId: 2 });
  expect(await sibling(echoed({ below: 'team', ...other }))).toEqual(found);
  expect(sent).toHaveLength(2);
});

test('listings of the platform that differ in their segments are not shared as one', async () => {
  const { client, clock } = echo();
  const application = { platform: 'default', team: 'team-a', region: 'region-1' };
  const shared = createSharedReadings([application, application] as never, clock, { ageMs: 30_000 });
  const read = shared.of(client, scope);
  const ofAll = (segment: string) =>
    echoed({
      shared: {
        by: echoed({ below: 'platform', segments: [segment] }),
        split: (all: string, key) => new Map([[key(scope), all]]),
        none: '',
      },
    });
  await read(ofAll('a'));
  expect(await read(ofAll('b'))).toEqual({ readable: true, value: 'b {}' });
});
