import type { ApplyWorld } from '../apply/world.ts';
import type { Memory } from '../kinds/reconciled.ts';
import type { ScopePlan } from '../model/plan.ts';
import { type GuardLimits, guardRegion, guardScope, guardShare, type Refusal } from '../plan/guard.ts';

/** The platform refuses writes to a region that is not enabled, so this guard may know of it a little later. */
export const REGIONS_MAX_AGE_MS = 30_000;

/** What the guards of one scope say to its plan. */
export async function refusalsOf(
  plan: ScopePlan,
  memory: Memory,
  limits: GuardLimits,
  world: Pick<ApplyWorld, 'client' | 'source'>,
): Promise<readonly Refusal[]> {
  const scopeRefusal = guardScope(plan, limits);
  if (scopeRefusal !== undefined) return [scopeRefusal];
  if (plan.actions.length === 0) return [];
  const owned = memory.objects.filter((object) => object.source === world.source && object.state !== 'gone');
  const share = guardShare([plan], owned, limits);
  // Read only where something would be written, and for all applications of a run: one in sync costs no such request.
  const { team } = plan.scope;
  const region = (await world.client.regions({ team, maxAgeMs: REGIONS_MAX_AGE_MS })).find(
    (candidate) => candidate.name === plan.scope.region,
  );
  const refusal = guardRegion(plan, region?.status);
  return refusal === undefined ? share : [refusal, ...share];
}
