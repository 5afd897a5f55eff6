import { hash } from 'node:crypto';
import { scopeKey } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { ScopePlan } from '../model/plan.ts';

type Digested = Pick<ScopePlan, 'scope' | 'actions' | 'deferred'>;

/**
 * SHA-256, hex, over what the plan does: (scope, resource, step, object, changed fields before and after) of every
 * action, and what deferred actions wish. The object is there by its natural key, with what it takes along: a manifest
 * that is pointed at another component is another plan. Not revision, time, attribution, or ids that a platform gives
 * anew: two plans that do the same have one digest.
 */
export function planDigest(plans: readonly Digested[]): string {
  const parts = plans
    .map(
      (plan): Json => ({
        scope: scopeKey(plan.scope),
        actions: plan.actions.map((action) => ({
          resource: action.resource,
          step: action.step.type,
          object: action.object,
          takesAlong: action.takesAlong?.toSorted(),
          changes: action.changes.map(({ path, before, after }) => ({ path, before, after })),
        })),
        deferred: plan.deferred.map(({ resource, waitsFor, desired }) => ({ resource, waitsFor, desired })),
      }),
    )
    .map((part) => canonicalJson(part))
    .sort();
  return hash('sha256', parts.join('\n'));
}
