import type { RawChange } from '../kinds/reconciled.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Cause, FieldChange } from '../model/plan.ts';

/**
 * Why a field changes, from three values: what the platform has, what the manifest wants, and what we last applied.
 * A platform that moved away from what we applied is drift; a manifest that did is git.
 */
export function attribute(change: RawChange, object: OwnedObject | undefined, ledgerKnown: boolean): FieldChange {
  const { path, before, after } = change;
  const lastApplied = ledgerKnown ? (change.recorded ?? object?.lastApplied[change.field]) : undefined;
  return {
    path,
    ...(before === undefined ? undefined : { before }),
    ...(after === undefined ? undefined : { after }),
    ...(lastApplied === undefined ? undefined : { lastApplied }),
    cause: ledgerKnown ? causeOf(change, lastApplied, object) : 'unknown',
  };
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

/** One word for an action as a whole; undefined: its changes do not tell. */
export function overallCause(changes: readonly FieldChange[]): Cause | undefined {
  const causes = new Set(changes.map((change) => change.cause));
  const [only] = causes;
  if (only !== undefined && causes.size === 1) return only;
  if (causes.has('git+drift') || (causes.has('git') && causes.has('drift'))) return 'git+drift';
  for (const cause of ['git', 'drift', 'first-apply'] as const) if (causes.has(cause)) return cause;
  return undefined;
}
