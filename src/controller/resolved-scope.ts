import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import type { EpochMs } from '../model/time.ts';
import type { Work } from '../reconcile/reconcile.ts';
import { notObserved, withSince } from './conditions.ts';
import type { AppRecord } from './ledger-records.ts';

/** The scope of an application is valid only for the manifest that it was resolved from. Permissions depend on it. */

/** Returns a text that is equal for manifests that refer to an application in the same words. */
export function referenceOf({ platform, team, region, appId, app }: ApplicationSpec): string {
  return JSON.stringify([platform, team, region, appId ?? null, app ?? null]);
}

/** Drops the scope of an application whose manifest refers to another one now, until that is resolved. */
export function dropStaleScope(record: AppRecord): void {
  const { resolved } = record.kept;
  const isStale = resolved?.from !== referenceOf(record.work.application.spec);
  record.status = { ...record.status, scope: isStale ? null : resolved.scope };
}

/**
 * Notes the scope that the platform resolved for a pass. If it differs from the former one, everything that is known of the
 * former application is dropped: other callers may see this one.
 * @param work that the pass began with; the manifest may have changed since.
 * @returns whether it differs.
 */
export function noteScope(record: AppRecord, work: Work, resolved: Scope, nowMs: EpochMs): boolean {
  const scope = scopeKey(resolved);
  const former = record.kept.resolved;
  const isAnother = former?.scope !== scope;
  if (isAnother) {
    const conditions = withSince(notObserved, [], null, nowMs);
    record.status = { ...record.status, conditions, pending: null, approval: null, lastError: null, resources: [] };
    record.observed = null;
    // The last commit is the one that refers to this application.
    if (former !== null) record.kept = { ...record.kept, commits: record.kept.commits.slice(-1), lastChange: null };
  }
  record.kept = { ...record.kept, resolved: { from: referenceOf(work.application.spec), scope } };
  dropStaleScope(record);
  return isAnother;
}
