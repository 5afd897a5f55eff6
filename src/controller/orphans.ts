import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource } from '../ledger/source-ledger.ts';
import type { ScopeKey } from '../model/ids.ts';
import { canonicalJson, sameJson } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { OrphanStatus } from '../model/status.ts';
import { orphanFacts, orphanRemedy, orphansOf, outsideOf, type UnresolvedApplication } from '../plan/orphans.ts';
import { someOf } from '../plan/words.ts';
import { unresolvedOf } from '../reconcile/survey.ts';
import type { Core } from './core.ts';
import { draftEvent, draftProblem, type EventDraft } from './events.ts';
import { historyRow, restoreFact } from './ledger-records.ts';
import { sourceUnit } from './replicas/leadership.ts';
import { ledgerFor, ledgerOfPlatform } from './replicas/unit-ledgers.ts';
import { referenceOf } from './resolved-scope.ts';

/** Resources that a message names. */
const NAMED_MAX = 20;

/** Returns the places that the applications refer to, if they are others than when orphans were last looked for. */
export function changedPlaces({ found, records }: Core): ReadonlySet<string> | undefined {
  const places = placesOf(records);
  const isSame = found !== undefined && places.symmetricDifference(found.places).size === 0;
  return isSame ? undefined : places;
}

/**
 * Looks for resources that are orphaned. When one begins or ends to be, that is recorded and reported once, also over a
 * restart. Finds nothing new while no source is accepted. Only the leader of the source looks.
 * @throws PortolanError when the ledger fails.
 */
export async function findOrphans(core: Core, places = placesOf(core.records)): Promise<void> {
  const { intake, sourceLedger, options, records, events, leadership } = core;
  if (intake.accepted === undefined || leadership.of(sourceUnit(options.source)) === undefined) return;
  const former = core.found?.orphans ?? (await restoreFact<OrphanStatus[]>(sourceLedger, 'orphans')) ?? [];
  const scopes = scopesOf(records);
  const others = (await sourceLedger.ledger.ownedScopes(options.source)).filter((scope) => !scopes.has(scope));
  // Most sources have no orphans. Then neither objects nor the applications without a scope are needed.
  const named = others.length === 0 ? [] : unresolvedIn(records);
  const owned = await objectsOf(core, others.filter(outsideOf(scopes, named)));
  const since = new Map(former.map((orphan) => [keyOf(orphan), orphan.sinceMs]));
  const orphans = orphansOf(owned, scopes, named).map((orphan) => {
    const facts = orphanFacts(orphan);
    return { ...facts, sinceMs: since.get(keyOf(facts)) ?? options.clock.now() };
  });
  const known = new Set(orphans.map(keyOf));
  const changes = [
    ...changesOf(
      'detected',
      orphans.filter((orphan) => !since.has(keyOf(orphan))),
      scopes,
    ),
    ...changesOf(
      'gone',
      former.filter((orphan) => !known.has(keyOf(orphan))),
      scopes,
    ),
  ];
  if (!sameJson(orphans, former))
    await recordOfSource(ledgerFor(core, sourceUnit(options.source)), [
      { op: 'set-fact', key: orphansFact(options.source), value: canonicalJson(orphans) },
      ...changes.map(({ line }) => line),
    ]);
  core.found = { orphans, places };
  for (const { event } of changes) events.publish({ ...event, revision: intake.accepted.revision });
}

export function orphansFact(source: string): string {
  return `orphans ${source}`;
}

/** Returns the key of the request of a platform's leader to look for orphans again, after it removed objects of an orphan. */
export function orphanCheckFact(source: string, platform: string): string {
  return `orphan-check ${source} ${platform}`;
}

/** Looks for orphans after those of a platform may have changed, or asks the leader of the source to do so. */
export async function refreshOrphans(core: Core, platform: string): Promise<void> {
  const { leadership, options } = core;
  if (leadership.of(sourceUnit(options.source)) !== undefined) return findOrphans(core);
  const sourceLedger = ledgerOfPlatform(core, platform);
  const value = String(options.clock.now());
  await recordOfSource(sourceLedger, [{ op: 'set-fact', key: orphanCheckFact(options.source, platform), value }]);
}

/** Returns the applications without a scope, as their manifests name them. */
function unresolvedIn(records: Core['records']): readonly UnresolvedApplication[] {
  return [...records.values()].filter(({ status }) => status.scope === null).map(({ work }) => unresolvedOf(work));
}

async function objectsOf(
  { sourceLedger: { ledger, source } }: Core,
  scopes: readonly ScopeKey[],
): Promise<readonly OwnedObject[]> {
  const objects: OwnedObject[] = [];
  for (const scope of scopes) objects.push(...(await ledger.objects({ source, scope })));
  return objects;
}

/** Returns a report of each application whose resources are orphaned now, or are not any more. */
function changesOf(
  change: 'detected' | 'gone',
  orphans: readonly OrphanStatus[],
  scopes: ReadonlySet<ScopeKey>,
): readonly { readonly event: EventDraft; readonly line: LedgerOperation }[] {
  return [...Map.groupBy(orphans, ({ scope }) => scope)].map(([scope, its]) => {
    const names = its.map(({ id }) => id);
    const named = someOf(names, NAMED_MAX);
    const detail = { scope, resources: names.slice(0, 100) };
    const why = scopes.has(scope) ? 'an Application refers to it again' : 'they are not on record any more';
    const event =
      change === 'detected'
        ? draftProblem(
            'orphan.detected',
            'warning',
            `orphaned in ${scope}, because no Application refers to it any more: ${named}`,
            { code: 'scope/orphaned', remedy: `${orphanRemedy(scope, 'URL')}.` },
            { scope, detail },
          )
        : draftEvent('orphan.gone', `no longer orphaned in ${scope}, because ${why}: ${named}`, { scope, detail });
    return { event, line: historyRow(change === 'detected' ? 'orphaned' : 'not-orphaned', detail) };
  });
}

/** Returns the scopes of the applications. One that refers to another scope now has its former one until that is resolved. */
export function scopesOf(records: Core['records']): ReadonlySet<ScopeKey> {
  return new Set([...records.values()].flatMap(({ status, kept }) => status.scope ?? kept.resolved?.scope ?? []));
}

/** Returns the scopes of the applications, and the references of those that are not resolved. */
function placesOf(records: Core['records']): ReadonlySet<string> {
  return new Set([...records.values()].map(({ status, work }) => status.scope ?? referenceOf(work.application.spec)));
}

function keyOf({ scope, id }: Pick<OrphanStatus, 'scope' | 'id'>): string {
  return `${scope} ${id}`;
}
