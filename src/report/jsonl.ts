import { plainJson } from '../model/json.ts';
import type { ScopePlan } from '../model/plan.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { Applied, PlanReport, ScopeResult } from '../plan/report.ts';
import type { ActionResult } from '../plan/result.ts';
import type { PlanLine } from './report-schema.ts';

/** Returns a report as lines of JSON: the plan, then the results. */
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

/** Returns the lines of an apply. @param isWritten whether a result had its line during the run. */
export function appliedLines(
  { outcomes, exitCode, refused }: Applied,
  isWritten: (result: ActionResult) => boolean = () => false,
): readonly PlanLine[] {
  const results = outcomes.flatMap((outcome) => (outcome.type === 'ended' ? outcome.results : []));
  return [
    ...results.filter((result) => !isWritten(result)).map(resultLine),
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
