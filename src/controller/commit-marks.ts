import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import type { EpochMs } from '../model/time.ts';
import type { Work } from '../reconcile/reconcile.ts';
import { type AppRecord, type Kept, nothingKept, type Stored } from './ledger-records.ts';

/** The commits of an application that are remembered. */
const MARKS_MAX = 8;

/** The digest in a record that an earlier version stored: it is not known which commit changed the application last. */
const UNKNOWN_DIGEST = 'unknown';

/** Returns a digest of the manifests of an application; positions in files do not count. */
export function desiredDigest({ application, resources }: Work): string {
  const digests = [application, ...resources.values()].map(digestOf);
  return hash('sha256', digests.join('\n')).slice(0, 16);
}

function digestOf({ id, labels, annotations, spec }: Resource): string {
  return hash('sha1', canonicalJson([id, labels, annotations, spec as Json]));
}

/** Returns `kept` with a mark of the commit, unless the manifests are those that are known. */
export function markedKept(kept: Kept, digest: string, revision: string): Kept {
  if (kept.digest === digest) return kept;
  if (kept.digest === UNKNOWN_DIGEST) return { ...kept, digest };
  const others = kept.commits.filter((mark) => mark.revision !== revision);
  return { ...kept, digest, commits: [...others, { revision, appliedMs: null }].slice(-MARKS_MAX) };
}

/** Returns what is kept of an application. A ledger of an earlier version lacks some members. */
export function keptOf(stored: Stored | undefined): Kept {
  if (stored === undefined) return nothingKept;
  // It does not say from which manifest the scope was resolved, and which commit changed the application last.
  const { scope } = stored.status;
  const resolved = scope === null ? null : { from: '', scope };
  const kept: Partial<Kept> = stored.kept;
  return { ...nothingKept, resolved, digest: UNKNOWN_DIGEST, ...kept };
}

/** Returns whether the newest commit that changed the application is the one of this revision. */
export function isMarked(record: AppRecord | undefined, revision: string): boolean {
  return record?.kept.commits.at(-1)?.revision === revision;
}

/** Returns `kept` with the newest commit applied. */
export function appliedKept(kept: Kept, nowMs: EpochMs): Kept {
  const last = kept.commits.at(-1);
  if (last === undefined || last.appliedMs !== null) return kept;
  return { ...kept, commits: [...kept.commits.slice(0, -1), { ...last, appliedMs: nowMs }] };
}
