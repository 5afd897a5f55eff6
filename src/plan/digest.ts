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
  return digestOf(plans.map(digestedText));
}

/** That of all plans, and of each by itself. */
export function planDigests(plans: readonly Digested[]): { readonly all: string; readonly each: readonly string[] } {
  const texts = plans.map(digestedText);
  return { all: digestOf(texts), each: texts.map((text) => digestOf([text])) };
}

function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.toSorted().join('\n'));
}

function digestedText(plan: Digested): string {
  const digested: Json = {
    scope: scopeKey(plan.scope),
    actions: plan.actions.map((action) => ({
      resource: action.resource,
      step: action.step.type,
      object: action.object,
      takesAlong: action.takesAlong?.toSorted(),
      changes: action.changes.map(({ path, before, after }) => ({ path, before, after })),
    })),
    deferred: plan.deferred.map(({ resource, waitsFor, desired }) => ({ resource, waitsFor, desired })),
  };
  return canonicalJson(digested);
}
