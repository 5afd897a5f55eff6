import type { ResourceId, Scope } from '../model/ids.ts';
import { plainJson } from '../model/json.ts';
import type { Action, DeferredAction, Hold, Note, ScopePlan, Wait } from '../model/plan.ts';
import type { EpochMs } from '../model/time.ts';
import type { PlanDocument, PlanSummary, UnobservedScope } from '../plan/document.ts';
import type { Refusal } from '../plan/guard.ts';
import type { Applied, Disagreement, ReportedError, PlanReport, ScopeResult } from '../plan/report.ts';
import type { ActionResult } from '../plan/result.ts';

type WithoutAction<Result> = Result extends unknown ? Omit<Result, 'action'> : never;

/**
 * One line of `-o jsonl`. The first is always `version`. A reader passes over types and members that it does not know: new
 * ones do not raise `formatVersion`.
 */
export type PlanLine =
  | { readonly type: 'version'; readonly formatVersion: 1; readonly portolan: string }
  | ({ readonly type: 'plan' } & Pick<PlanDocument, 'source' | 'revision' | 'ledger' | 'digest'>)
  | {
      readonly type: 'application';
      readonly application: ResourceId;
      readonly scope: Scope;
      readonly digest: string;
      readonly inSync: readonly ResourceId[];
      readonly unchangedFields: number;
    }
  | { readonly type: 'action'; readonly application: ResourceId; readonly action: Action }
  | { readonly type: 'deferred'; readonly application: ResourceId; readonly deferred: DeferredAction }
  | { readonly type: 'hold'; readonly application: ResourceId; readonly hold: Hold }
  | { readonly type: 'note'; readonly application: ResourceId | null; readonly note: Note }
  | { readonly type: 'unobserved'; readonly unobserved: UnobservedScope }
  | { readonly type: 'refusal'; readonly refusal: Refusal }
  /** The plan is whole. */
  | { readonly type: 'summary'; readonly summary: PlanSummary }
  | { readonly type: 'started'; readonly atMs: EpochMs; readonly resource: ResourceId; readonly action: string }
  /** How an action ended. Of several for one action the last counts. */
  | ResultLine
  | {
      readonly type: 'resolved';
      readonly atMs: EpochMs;
      readonly resource: ResourceId;
      readonly intent: string;
      readonly how: string;
    }
  | { readonly type: 'waiting'; readonly atMs: EpochMs; readonly message: string; readonly untilMs: EpochMs }
  | OutcomeLine
  /** The run is over; nothing follows. */
  | { readonly type: 'end'; readonly exitCode: number; readonly refused?: Disagreement };

type ResultLine = {
  readonly type: 'result';
  readonly resource: ResourceId;
  readonly action: string;
} & WithoutAction<ActionResult>;

interface OutcomeLine {
  readonly type: 'outcome';
  readonly application: ResourceId;
  readonly outcome: ScopeResult['type'];
  /** Ids of actions that are still to do. */
  readonly remaining: readonly string[];
  readonly deferred: readonly DeferredAction[];
  readonly holds: readonly Hold[];
  readonly waits: readonly Wait[];
  readonly error?: ReportedError;
}

/** A report as lines: the plan, and what became of it. */
export function renderJsonl({ plan, applied }: PlanReport, version: string): string {
  const lines = [versionLine(version), ...planLines(plan)];
  if (applied !== undefined) lines.push(...appliedLines(applied));
  return lines.map(jsonLine).join('');
}

export function jsonLine(line: PlanLine): string {
  return `${JSON.stringify(plainJson(line))}\n`;
}

export function versionLine(version: string): PlanLine {
  return { type: 'version', formatVersion: 1, portolan: version };
}

export function planLines(plan: PlanDocument): readonly PlanLine[] {
  const { source, revision, ledger, digest } = plan;
  return [
    { type: 'plan', source, revision, ledger, digest },
    ...plan.scopes.flatMap(scopeLines),
    ...plan.unobserved.map((unobserved): PlanLine => ({ type: 'unobserved', unobserved })),
    ...plan.refusals.map((refusal): PlanLine => ({ type: 'refusal', refusal })),
    ...plan.notes.map((note): PlanLine => ({ type: 'note', application: null, note })),
    { type: 'summary', summary: plan.summary },
  ];
}

function scopeLines(plan: ScopePlan & { readonly digest: string }): readonly PlanLine[] {
  const { application, scope, digest, inSync, unchangedFields } = plan;
  return [
    { type: 'application', application, scope, digest, inSync, unchangedFields },
    ...plan.actions.map((action): PlanLine => ({ type: 'action', application, action })),
    ...plan.deferred.map((deferred): PlanLine => ({ type: 'deferred', application, deferred })),
    ...plan.holds.map((hold): PlanLine => ({ type: 'hold', application, hold })),
    ...plan.notes.map((note): PlanLine => ({ type: 'note', application, note })),
  ];
}

/** @param told results that have had their line while the run went on. */
export function appliedLines(
  { outcomes, exitCode, refused }: Applied,
  told: (result: ActionResult) => boolean = () => false,
): readonly PlanLine[] {
  const results = outcomes.flatMap((outcome) => (outcome.type === 'ended' ? outcome.results : []));
  return [
    ...results.filter((result) => !told(result)).map(resultLine),
    ...outcomes.map(outcomeLine),
    { type: 'end', exitCode, ...(refused === undefined ? {} : { refused }) },
  ];
}

export function resultLine(result: ActionResult): PlanLine {
  const { action, ...rest } = result;
  return { type: 'result', resource: action.resource, action: action.id, ...rest };
}

function outcomeLine(outcome: ScopeResult): PlanLine {
  const { type, application } = outcome;
  const plan = type === 'ended' ? outcome.remaining : type === 'refused' ? outcome.plan : undefined;
  const error = type === 'refused' ? undefined : outcome.error;
  return {
    type: 'outcome',
    application,
    outcome: type,
    remaining: plan?.actions.map(({ id }) => id) ?? [],
    deferred: plan?.deferred ?? [],
    holds: plan?.holds ?? [],
    waits: type === 'ended' ? outcome.waits : [],
    ...(error === undefined ? {} : { error }),
  };
}
