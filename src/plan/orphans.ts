import type { ScopeKey } from '../model/ids.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Note } from '../model/plan.ts';
import { someOf } from './words.ts';

/** An application of the source that could not be resolved; `appId` is not known where it goes by name. */
export interface UnresolvedApplication {
  readonly platform: string;
  readonly region: string;
  readonly appId: number | undefined;
}

/**
 * Objects of the source in applications that it names no more. Nothing is done to them, whatever is pruned elsewhere: a
 * missing Application is more often a mistake than a wish, and it must not pass in silence either.
 * @param planned scopes that the source's Applications mean.
 * @param unresolved what might be any of these is not called orphaned.
 */
export function orphanNotes(
  owned: readonly OwnedObject[],
  planned: ReadonlySet<ScopeKey>,
  unresolved: readonly UnresolvedApplication[],
): readonly Note[] {
  const orphaned = owned.filter(
    (object) => object.state !== 'gone' && !planned.has(object.scope) && !unresolved.some((one) => mayBe(object, one)),
  );
  return [...Map.groupBy(orphaned, (object) => object.scope)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([scope, objects]) => noteOf(scope, objects));
}

const NAMED_MAX = 5;

function noteOf(scope: ScopeKey, objects: readonly OwnedObject[]): Note {
  const resources = [...new Set(objects.map((object) => object.resource))].sort();
  const owed = [...new Set(objects.filter(({ obligation }) => obligation !== null).map(({ resource }) => resource))];
  const debt =
    owed.length === 0
      ? ''
      : `. An earlier run changed or deleted ${owed.sort().join(', ')} for a moment and was interrupted: only with the Application back, apply restores that`;
  return {
    code: 'scope/orphaned',
    message: `no Application of this source means ${scope} any more; its resources stay there unmanaged: ${someOf(resources, NAMED_MAX)}${debt}. Put the Application back, or let go of each: portolan ledger forget Kind/name --reason "…"`,
  };
}

function mayBe(object: OwnedObject, { platform, region, appId }: UnresolvedApplication): boolean {
  // The team is not compared: it may be written as an alias.
  const [itsPlatform, , itsRegion, itsAppId] = object.scope.split('/');
  return itsPlatform === platform && itsRegion === region && (appId === undefined || itsAppId === String(appId));
}
