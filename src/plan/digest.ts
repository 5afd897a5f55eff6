import { hash } from 'node:crypto';
import { scopeKey } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import { inOneGo, type Parts } from '../model/parts.ts';
import type { Action, ScopePlan } from '../model/plan.ts';

/** Actions whose text is made in one go. */
const PART = 256;

type Digested = Pick<ScopePlan, 'scope' | 'actions' | 'deferred'>;

/**
 * SHA-256, hex, over what the plan does: (scope, resource, step, object, changed fields before and after) of every
 * action, and what deferred actions wish. The object is there by its natural key, with what it takes along: a manifest
 * that is pointed at another component is another plan. Not revision, time, attribution, or ids that a platform gives
 * newly assigns: two plans that do the same have one digest.
 */
export function planDigest(plans: readonly Digested[]): string {
  return planDigests(plans).all;
}

export interface PlanDigests {
  readonly all: string;
  /** In the order of the plans. */
  readonly each: readonly string[];
}

/** The digest of all plans together, and of each plan by itself. */
export function planDigests(plans: readonly Digested[]): PlanDigests {
  return inOneGo(planDigestParts(plans));
}

/** Does the same as `planDigests`, in parts. */
export function* planDigestParts(plans: readonly Digested[]): Parts<PlanDigests> {
  const texts: string[] = [];
  for (const plan of plans) texts.push(yield* digestedParts(plan));
  return { all: digestOf(texts), each: texts.map((text) => digestOf([text])) };
}

function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.toSorted().join('\n'));
}

/** @returns canonical JSON of what the plan does. */
function* digestedParts({ scope, actions, deferred }: Digested): Parts<string> {
  const texts: string[] = [];
  for (const action of actions) {
    texts.push(canonicalJson(digested(action)));
    if (texts.length % PART === 0) yield;
  }
  const wishes = deferred.map(({ resource, waitsFor, desired }) => ({ resource, waitsFor, desired }));
  return `{"actions":[${texts.join(',')}],"deferred":${canonicalJson(wishes)},"scope":${canonicalJson(scopeKey(scope))}}`;
}

function digested(action: Action): Json {
  return {
    resource: action.resource,
    step: action.step.type,
    object: action.object,
    takesAlong: action.takesAlong?.toSorted(),
    changes: action.changes.map(({ path, before, after }) => ({ path, before, after })),
  };
}
