import type { ResourceId } from '../model/ids.ts';
import type { ScopePlan } from '../model/plan.ts';
import { planDigest } from '../plan/digest.ts';
import type { Kept } from './ledger-records.ts';

/** Returns the part of a plan that adopts one resource. Its digest identifies the adoption. */
export function adoptionOf(plan: ScopePlan, resource: ResourceId): ScopePlan {
  const isOf = (one: { readonly resource?: ResourceId }): boolean => one.resource === resource;
  return {
    ...plan,
    actions: plan.actions.filter(isOf),
    deferred: plan.deferred.filter(isOf),
    holds: plan.holds.filter(isOf),
    notes: plan.notes.filter(isOf),
    inSync: plan.inSync.filter((id) => id === resource),
    unchangedFields: 0,
  };
}

/** Returns whether the plan of a pass adopts the resource exactly as the person saw it. */
export function isAdoptionAs(adopting: Kept['adopting'], plan: ScopePlan): boolean {
  return adopting === null || planDigest([adoptionOf(plan, adopting.resource)]) === adopting.digest;
}
