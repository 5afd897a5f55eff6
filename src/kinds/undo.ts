import type { ResourceId } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { ActionVerb, FieldChange } from '../model/plan.ts';

/** A write of an earlier run, as the ledger recorded it. */
export interface PastWrite<Step> {
  readonly step: Step;
  readonly verb: ActionVerb;
  readonly changes: readonly FieldChange[];
  /** The state before it. */
  readonly preimage: Json;
  /** The step that had created the object, if the ledger still has it. */
  readonly creation: Step | undefined;
  /** The changes between its creation and this write, oldest first. */
  readonly updates: readonly FieldChange[];
}

export interface UndoContext {
  /** Name of the application. */
  readonly application: string;
  /** Returns the resource of an object of the application in the ledger. */
  resourceOf(naturalKey: string): ResourceId | undefined;
}

/** Returned by a kind: the manifest without the effect of a write. */
export type Undoing<Spec> =
  | { readonly type: 'spec'; readonly spec: Spec }
  /** The write created the resource. */
  | { readonly type: 'removed' }
  | { readonly type: 'impossible'; readonly why: string };

export function cannotUndo(why: string): Undoing<never> {
  return { type: 'impossible', why };
}

/** Returns whether a value is none: a write that sets it does not exist. */
export function isNoValue(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}
