import type { ResourceId } from '../model/ids.ts';
import { sameJson, type JsonObject } from '../model/json.ts';
import type { FieldChange, ScopePlan } from '../model/plan.ts';
import type { Drift, ResourceStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';

/** Returns, by resource, the fields that differ from what was last applied: to be corrected, only reported, or held. */
export function driftOf(plan: ScopePlan): ReadonlyMap<ResourceId, readonly FieldChange[]> {
  const found = new Map<ResourceId, readonly FieldChange[]>();
  for (const { resource, changes = [] } of [...plan.actions, ...plan.notes, ...plan.holds])
    for (const change of changes) {
      if (resource === undefined || (change.cause !== 'drift' && change.cause !== 'git+drift')) continue;
      const known = found.get(resource) ?? [];
      // A field that several steps change counts once.
      if (!known.some((other) => other.path === change.path)) found.set(resource, [...known, change]);
    }
  return found;
}

/** Returns the drift after an observation, and which of it began or ended. */
export function trackDrift(former: readonly ResourceStatus[], plan: ScopePlan, nowMs: EpochMs) {
  const before = new Map(former.flatMap(({ id, drift }) => (drift === null ? [] : [[id, drift] as const])));
  const drifts = new Map<ResourceId, Drift>();
  const news: { readonly type: 'detected' | 'gone'; readonly resource: ResourceId; readonly drift: Drift }[] = [];
  for (const [resource, changes] of driftOf(plan)) {
    const known = before.get(resource);
    const drift = { sinceMs: known?.sinceMs ?? nowMs, changes };
    drifts.set(resource, drift);
    if (known === undefined || !samePaths(known.changes, changes)) news.push({ type: 'detected', resource, drift });
  }
  for (const [resource, drift] of before) if (!drifts.has(resource)) news.push({ type: 'gone', resource, drift });
  return { drifts, news };
}

/** Returns whether both have the same fields with the same values. */
function samePaths(left: readonly FieldChange[], right: readonly FieldChange[]): boolean {
  const isIn = ({ path, before }: FieldChange): boolean =>
    left.some((other) => other.path === path && sameJson(other.before, before));
  return left.length === right.length && right.every(isIn);
}

/** Returns the detail of an event about drift. */
export function driftDetail(drift: Drift, nowMs: EpochMs): JsonObject {
  const changes = drift.changes.map(({ path, ...values }) => ({ field: path, ...values }));
  return { changes, sinceMs: drift.sinceMs, ageMs: Math.max(0, nowMs - drift.sinceMs) };
}
