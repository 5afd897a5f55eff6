import { hash } from 'node:crypto';
import { scopeKey } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { ScopePlan } from '../model/plan.ts';

type Digested = Pick<ScopePlan, 'scope' | 'actions' | 'deferred'>;

/**
 * SHA-256, hex, over what the plan does: (scope, resource, step, changed fields before and after) of every action, and
 * what deferred actions wish. Not revision, time, ids or attribution: two plans that do the same have one digest.
 */
export function planDigest(plans: readonly Digested[]): string {
  const parts = plans
    .map(
      (plan): Json => ({
        scope: scopeKey(plan.scope),
        actions: plan.actions.map((action) => ({
          resource: action.resource,
          step: action.step.type,
          changes: action.changes.map(({ path, before, after }) => ({ path, before, after })),
        })),
        deferred: plan.deferred.map(({ resource, waitsFor, desired }) => ({ resource, waitsFor, desired })),
      }),
    )
    .map((part) => canonicalJson(part))
    .sort();
  return hash('sha256', parts.join('\n'));
}
