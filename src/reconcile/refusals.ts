import type { ApplyWorld } from '../apply/world.ts';
import type { Memory } from '../kinds/reconciled.ts';
import type { ScopePlan } from '../model/plan.ts';
import { type GuardLimits, guardRegion, guardScope, guardShare, type Refusal } from '../plan/guard.ts';

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
  // Read only where something would be written: an application in sync costs no such request.
  const region = (await world.client.regions()).find((candidate) => candidate.name === plan.scope.region);
  const refusal = guardRegion(plan, region?.status);
  return refusal === undefined ? share : [refusal, ...share];
}
