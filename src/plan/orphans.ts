import { type ResourceId, type ScopeKey, scopeKey } from '../model/ids.ts';
import type { Origin, OwnedObject } from '../model/owned.ts';
import type { Note, ScopePlan } from '../model/plan.ts';
import type { OrphanFacts } from '../model/status.ts';
import { someOf } from './words.ts';

/** An application of the source that could not be resolved; `appId` is not known where it goes by name. */
export interface UnresolvedApplication {
  readonly platform: string;
  readonly region: string;
  readonly appId: number | undefined;
}

/** A resource that the ledger has of a source, in an application that no manifest of the source refers to any more. */
export interface Orphan {
  readonly scope: ScopeKey;
  readonly resource: ResourceId;
  /** At least one. */
  readonly objects: readonly OwnedObject[];
}

/**
 * Returns the orphans of a source, ordered by scope and resource.
 * @param owned objects of the source.
 * @param planned scopes that the source's Applications refer to.
 * @param unresolved what might be any of these is not called orphaned.
 */
export function orphansOf(
  owned: readonly OwnedObject[],
  planned: ReadonlySet<ScopeKey>,
  unresolved: readonly UnresolvedApplication[],
): readonly Orphan[] {
  const isOutside = outsideOf(planned, unresolved);
  const orphaned = owned.filter(({ state, scope }) => state !== 'gone' && isOutside(scope));
  return [...Map.groupBy(orphaned, ({ scope, resource }) => `${scope} ${resource}`)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([, objects]) => objects.slice(0, 1).map(({ scope, resource }) => ({ scope, resource, objects })));
}

/** Ordered by what Portolan may do with an object. */
const ORIGINS: readonly Origin[] = ['created', 'adopted', 'observed'];

/**
 * Returns a function that finds scopes of no application. A fleet has thousands of both, so no scope is
 * compared with each application.
 */
export function outsideOf(
  planned: ReadonlySet<ScopeKey>,
  unresolved: readonly UnresolvedApplication[],
): (scope: ScopeKey) => boolean {
  const named = new Set(unresolved.map(({ platform, region, appId = '' }) => `${platform}/${region}/${appId}`));
  return (scope) => {
    if (planned.has(scope)) return false;
    // The team is not compared: it may be written as an alias.
    const [platform, , region, appId] = scope.split('/');
    return !named.has(`${platform}/${region}/${appId}`) && !named.has(`${platform}/${region}/`);
  };
}

/** Returns an orphan as the API and JSON outputs show it. */
export function orphanFacts({ scope, resource, objects }: Orphan): OrphanFacts {
  const origin = ORIGINS.find((one) => objects.some((object) => object.origin === one)) ?? 'observed';
  return { scope, id: resource, origin, objects: objects.map(({ naturalKey }) => naturalKey) };
}

/**
 * Returns a note for each application with orphans. Nothing is done to them, whatever is pruned elsewhere: a missing
 * Application is more often a mistake than a wish, and it must not pass in silence either.
 */
export function orphanNotes(orphans: readonly Orphan[]): readonly Note[] {
  return [...Map.groupBy(orphans, ({ scope }) => scope)].map(([scope, its]) => noteOf(scope, its));
}

/** Returns whether a plan is of an orphaned application: it has the scope for a name, because no manifest names it. */
export function isOrphanedPlan({ application, scope }: Pick<ScopePlan, 'application' | 'scope'>): boolean {
  return application.endsWith(`/${scopeKey(scope)}`);
}

const NAMED_MAX = 5;

function noteOf(scope: ScopeKey, orphans: readonly Orphan[]): Note {
  const names = (some: readonly Orphan[]): readonly string[] => some.map(({ resource }) => resource);
  const owed = orphans.filter(({ objects }) => objects.some(({ obligation }) => obligation !== null));
  const debt =
    owed.length === 0
      ? ''
      : `. An earlier run changed or deleted ${names(owed).join(', ')} for a moment and was interrupted: only with the Application back, apply restores that`;
  return {
    code: 'scope/orphaned',
    message: `no Application of this source refers to ${scope} any more; its resources stay there unmanaged: ${someOf(names(orphans), NAMED_MAX)}${debt}. ${orphanRemedy(scope)}`,
  };
}

/** Returns how the resources of an application stop being orphaned. @param url of the controller that uses the ledger. */
export function orphanRemedy(scope: ScopeKey, url?: string): string {
  const [server, reason] = url === undefined ? ['', ''] : [` --server ${url}`, ' --reason "…"'];
  const remove = `remove them with portolan orphans prune ${scope}${server}${reason} (installs stay)`;
  const forget = `let go of each: portolan ledger forget Kind/name${server} --reason "…"`;
  const back = `Put the Application back${url === undefined ? '' : ' (what git then lacks is pruned)'}`;
  return `${back}, ${remove}, or ${forget}`;
}
