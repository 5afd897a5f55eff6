import type { RawChange } from '../kinds/reconciled.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Cause, FieldChange } from '../model/plan.ts';

/**
 * Why a field changes, from three values: what the platform has, what the manifest wants, and what we last applied.
 * A platform that moved away from what we applied is drift; a manifest that did is git.
 */
export function attribute(change: RawChange, object: OwnedObject | undefined, ledgerKnown: boolean): FieldChange {
  const facts = { path: change.path, ...present('before', change.before), ...present('after', change.after) };
  if (!ledgerKnown) return { ...facts, cause: 'unknown' };
  const lastApplied = object?.lastApplied[change.field];
  return { ...facts, ...present('lastApplied', lastApplied), cause: causeOf(change, lastApplied, object) };
}

function causeOf(change: RawChange, lastApplied: Json | undefined, object: OwnedObject | undefined): Cause {
  if (object === undefined || object.state === 'gone') return 'first-apply';
  if (change.identifies === true) return 'drift';
  // On record, and yet never asserted before: the manifest names it since.
  if (lastApplied === undefined) return Object.keys(object.lastApplied).length === 0 ? 'first-apply' : 'git';
  const gitMoved = !sameJson(change.after, lastApplied);
  const platformMoved = !sameJson(change.before, lastApplied);
  if (gitMoved && platformMoved) return 'git+drift';
  return gitMoved ? 'git' : 'drift';
}

/** One word for an action as a whole. */
export function overallCause(changes: readonly FieldChange[], fallback: Cause): Cause {
  const causes = new Set(changes.map((change) => change.cause));
  const [only] = causes;
  if (only !== undefined && causes.size === 1) return only;
  if (causes.has('git+drift') || (causes.has('git') && causes.has('drift'))) return 'git+drift';
  for (const cause of ['git', 'drift', 'first-apply'] as const) if (causes.has(cause)) return cause;
  return fallback;
}

function present<Key extends string>(key: Key, value: Json | undefined): { [K in Key]?: Json } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Json };
}
