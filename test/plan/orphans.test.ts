import { expect, test } from 'vitest';
import { resourceId } from '../../src/model/ids.ts';
import { orphanNotes, orphansOf, type UnresolvedApplication } from '../../src/plan/orphans.ts';
import { objectOf } from './plans.ts';

const SHOP = 'default/team-a/region-1/42';
const STORE = 'default/team-b/region-1/7';
const ours = (scope: string, name = 'web') => objectOf({ scope, resource: resourceId('Component', name) });
const notes = (...given: Parameters<typeof orphansOf>) => orphanNotes(orphansOf(...given));
const noteOf = (scope: string, named: string) => ({
  code: 'scope/orphaned',
  message: `no Application of this source refers to ${scope} any more; its resources stay there unmanaged: ${named}. Put the Application back, remove them with portolan orphans prune ${scope} (installs stay), or let go of each: portolan ledger forget Kind/name --reason "…"`,
});

test('objects of applications that the source names no more are noted, application by application', () => {
  const owned = [
    ours(STORE, 'b'),
    ours(SHOP, 'x'),
    ours(STORE, 'a'),
    ours(STORE, 'b'),
    ours('default/team-a/region-1/5'),
  ];
  expect(notes(owned, new Set(['default/team-a/region-1/5']), [])).toStrictEqual([
    noteOf(SHOP, 'Component/x'),
    noteOf(STORE, 'Component/a, Component/b'),
  ]);
});

test.for([
  [5, 'Component/1, Component/2, Component/3, Component/4, Component/5'],
  [6, 'Component/1, Component/2, Component/3, Component/4, Component/5 and 1 more'],
  [9, 'Component/1, Component/2, Component/3, Component/4, Component/5 and 4 more'],
] as const)('of %i resources five are named', ([count, named]) => {
  const owned = Array.from({ length: count }, (_, at) => ours(SHOP, String(at + 1)));
  expect(notes(owned, new Set(), [])).toStrictEqual([noteOf(SHOP, named)]);
});

test('what is owed there is named, because nothing restores it', () => {
  const owed = objectOf({ scope: SHOP, resource: 'HttpGatewayRule/www', obligation: { recreate: {} } });
  expect(notes([ours(SHOP), owed], new Set(), [])[0]?.message).toContain(
    'An earlier run changed or deleted HttpGatewayRule/www for a moment and was interrupted: only with the Application back, apply restores that.',
  );
});

test('what is gone is not missed', () => {
  expect(notes([objectOf({ scope: SHOP, state: 'gone' })], new Set(), [])).toEqual([]);
});

test.for<readonly [string, UnresolvedApplication, boolean]>([
  ['the same by its id', { platform: 'default', region: 'region-1', appId: 42 }, false],
  ['one whose id is not known', { platform: 'default', region: 'region-1', appId: undefined }, false],
  ['one of another id', { platform: 'default', region: 'region-1', appId: 4 }, true],
  ['one of another region', { platform: 'default', region: 'region-2', appId: 42 }, true],
  ['one of another platform', { platform: 'other', region: 'region-1', appId: undefined }, true],
])('where %s could not be resolved, an application is orphaned or may be that one', ([, unresolved, isOrphaned]) => {
  const elsewhere = { platform: 'far', region: 'away', appId: 1 };
  expect(notes([ours(SHOP)], new Set(), [elsewhere, unresolved])).toHaveLength(isOrphaned ? 1 : 0);
});
