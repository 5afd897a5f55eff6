import type { ErrorFacts } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { ScopePlan, Wait } from '../model/plan.ts';
import type { PlanDocument } from './document.ts';
import type { ActionResult, Refusal } from './result.ts';

/** An error as data. */
export type ReportedError = Omit<ErrorFacts, 'cause'>;

/** How one application stands after a run, as data. */
export type ScopeResult =
  /** Nothing is known of it and nothing was sent. */
  | { readonly type: 'unobserved'; readonly application: ResourceId; readonly error: ReportedError }
  /** A guard refused its plan: nothing was sent. */
  | {
      readonly type: 'refused';
      readonly application: ResourceId;
      readonly plan: ScopePlan;
      readonly refusals: readonly Refusal[];
    }
  | EndedScope;

export interface EndedScope {
  readonly type: 'ended';
  readonly application: ResourceId;
  readonly results: readonly ActionResult[];
  readonly waits: readonly Wait[];
  readonly rounds: number;
  /** What is still to do, from the last observation. */
  readonly remaining: ScopePlan;
  /** It was left in the middle. */
  readonly error?: ReportedError;
}

/** What became of a plan that was carried out. */
export interface Applied {
  readonly exitCode: number;
  /** One for each application; none where nothing was begun for any of them. */
  readonly outcomes: readonly ScopeResult[];
  /** The plan is not the one that was agreed to: nothing was sent. */
  readonly refused?: Disagreement;
}

/** Why a plan is not the one that was agreed to. */
export interface Disagreement extends ReportedError {
  /** Digest of the plan that was agreed to. */
  readonly expected: string;
  /** Digest of the plan of now. */
  readonly now: string;
  readonly difference?: unknown;
}

/** What every output format shows: a plan, and what became of it if it was carried out. */
export interface PlanReport {
  readonly plan: PlanDocument;
  readonly applied: Applied | undefined;
}

/** The result of `apply` as programs read it. `formatVersion` rises when a reader would misread it. */
export interface ApplyDocument extends Applied {
  readonly formatVersion: 1;
  readonly plan: PlanDocument;
}

/** The one value that `json` and `yaml` write, and that the JSON Schemas describe. */
export function reportDocument({ plan, applied }: PlanReport): PlanDocument | ApplyDocument {
  if (applied === undefined) return plan;
  const { exitCode, ...rest } = applied;
  return { formatVersion: 1, exitCode, plan, ...rest };
}
