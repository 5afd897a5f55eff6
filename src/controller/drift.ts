import type { ResourceId } from '../model/ids.ts';
import { sameJson, type Json } from '../model/json.ts';
import type { FieldChange, ScopePlan } from '../model/plan.ts';
import type { Drift, ResourceStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';

/** Fields in which the platform moved away from what was applied, by resource: to be healed, only reported, or held. */
export function driftOf(plan: ScopePlan): ReadonlyMap<ResourceId, readonly FieldChange[]> {
  const found = new Map<ResourceId, FieldChange[]>();
  const take = (resource: ResourceId | undefined, changes: readonly FieldChange[] | undefined): void => {
    if (resource === undefined) return;
    for (const change of changes ?? []) {
      if (change.cause !== 'drift' && change.cause !== 'git+drift') continue;
      const known = found.get(resource) ?? [];
      // A field that several steps touch is one difference.
      if (!known.some((other) => other.path === change.path)) found.set(resource, [...known, change]);
    }
  };
  for (const { resource, changes } of plan.actions) take(resource, changes);
  for (const { resource, changes } of plan.notes) take(resource, changes);
  for (const { resource, changes } of plan.holds) take(resource, changes);
  return found;
}

/** Drift of one resource that began, or is there no longer. */
interface DriftNews {
  readonly type: 'detected' | 'gone';
  readonly resource: ResourceId;
  readonly drift: Drift;
}

/** Drift as it stands after another look, and what is new about it. */
export function followDrift(
  former: readonly ResourceStatus[],
  plan: ScopePlan,
  nowMs: EpochMs,
): { readonly drifts: ReadonlyMap<ResourceId, Drift>; readonly news: readonly DriftNews[] } {
  const before = new Map(former.flatMap(({ id, drift }) => (drift === null ? [] : [[id, drift] as const])));
  const drifts = new Map<ResourceId, Drift>();
  const news: DriftNews[] = [];
  for (const [resource, changes] of driftOf(plan)) {
    const known = before.get(resource);
    const drift = { sinceMs: known?.sinceMs ?? nowMs, changes };
    drifts.set(resource, drift);
    if (known === undefined || !samePaths(known.changes, changes)) news.push({ type: 'detected', resource, drift });
  }
  for (const [resource, drift] of before) if (!drifts.has(resource)) news.push({ type: 'gone', resource, drift });
  return { drifts, news };
}

/** The same fields, at the same values. */
function samePaths(left: readonly FieldChange[], right: readonly FieldChange[]): boolean {
  const values = new Map(left.map(({ path, before }) => [path, before] as const));
  return (
    left.length === right.length &&
    right.every(({ path, before }) => values.has(path) && sameJson(values.get(path), before))
  );
}

/** Facts of an event about drift. */
export function driftDetail(drift: Drift, nowMs: EpochMs): Json {
  const changes = drift.changes.map(({ path, before, after, lastApplied, cause }) => ({
    field: path,
    cause,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(lastApplied === undefined ? {} : { lastApplied }),
  }));
  return { changes, sinceMs: drift.sinceMs, ageMs: Math.max(0, nowMs - drift.sinceMs) };
}
