import { safeLine } from '../model/text.ts';
import { commonCauses, namesOf } from '../plan/causes.ts';
import type { EndedScope, PlanReport, ScopeResult } from '../plan/report.ts';
import type { ActionResult } from '../plan/result.ts';
import { isOrphanedPlan } from '../plan/orphans.ts';
import { obstacles } from './headline.ts';
import { type Paint, type PlanStyle, renderPlanText } from './text.ts';
import { amount, cameUp, isoTime, resultCounts, resultWords } from '../plan/words.ts';

/** Returns everything that needs attention: failures, skipped actions, holds and writes in doubt. Empty if there is none. */
export function renderAccount(outcomes: readonly ScopeResult[], paint: Paint): string {
  const ended = outcomes.filter((outcome) => outcome.type === 'ended');
  const results = ended.flatMap((outcome) => outcome.results);
  const attention = (text: string, remedy: string, role = '!'): readonly string[] => [
    `${paint('hold', role)} ${text}`,
    `    → ${safeLine(remedy)}`,
  ];
  const lines = results.flatMap((result) => describe(result, paint));
  const unobserved = outcomes.filter((outcome) => outcome.type === 'unobserved');
  for (const { applications, message, remedy } of commonCauses(
    unobserved.map(({ application, error }) => ({ application, ...error })),
  ))
    lines.push(...attention(safeLine(`${namesOf(applications)}: ${message}`), remedy));
  for (const { application, error } of ended)
    if (error !== undefined)
      lines.push(...attention(`${application} was not completed: ${safeLine(error.message)}`, error.remedy));
  const refused = outcomes.filter((outcome) => outcome.type === 'refused');
  const refusals = refused.flatMap(({ application, refusals: own }) =>
    own.map(({ code, message, override: remedy }) => ({ application, code, message, remedy })),
  );
  for (const { applications, message, remedy } of commonCauses(refusals))
    lines.push(...attention(safeLine(`${namesOf(applications)}: ${message}`), `to allow it: ${remedy}`));
  for (const { resource, message, code, remedy } of ended.flatMap((outcome) => outcome.remaining.holds))
    lines.push(...attention(`${resource}: ${safeLine(message)} ${paint('dim', `(${code})`)}`, remedy, '! held'));
  for (const wait of ended.flatMap((outcome) => outcome.waits))
    lines.push(`${paint('note', '…')} ${safeLine(wait.message)}; observed until ${isoTime(wait.untilMs)}`);
  for (const { resource, summary } of ended.flatMap(cameUp))
    lines.push(
      `${paint('note', 'i')} ${resource}: "${safeLine(summary)}" appeared during the run. It was not in the plan and was not done`,
    );
  return lines.map((line) => `${line}\n`).join('');
}

function describe(result: ActionResult, paint: Paint): string[] {
  const words = resultWords(result);
  if (words === undefined) return [];
  const what = `${result.action.resource}: ${safeLine(result.action.summary)}`;
  if (result.status === 'skipped') return [`${paint('dim', '- skipped')} ${what}  ${paint('dim', `(${words.what})`)}`];
  const mark = result.status === 'failed' ? paint('delete', '✗ failed') : paint('hold', '? in doubt');
  return [`${mark} ${what}`, `    ${words.what}`, ...(words.remedy === undefined ? [] : [`    → ${words.remedy}`])];
}

/**
 * Returns the last line: the number of results, and what the next run does.
 * @param isUndo the platform is now as before an earlier run, and not as the manifests ask.
 */
export function renderVerdict(outcomes: readonly ScopeResult[], paint: Paint, isUndo = false): string {
  const ended = outcomes.filter((outcome) => outcome.type === 'ended');
  const results = ended.flatMap((outcome) => outcome.results);
  const left = ended.reduce((sum, { remaining: plan }) => sum + plan.actions.length + plan.deferred.length, 0);
  const held = ended.reduce((sum, { remaining: plan }) => sum + plan.holds.length, 0);
  const unobserved = outcomes.filter((outcome) => outcome.type === 'unobserved').length;
  const refused = outcomes.filter((outcome) => outcome.type === 'refused').length;
  const refusals = refused > 0 ? [`${amount(refused, 'application')} refused by a guard`] : [];
  const trouble = obstacles(held, refusals, unobserved);
  // Not in sync: what stays on the platform is unmanaged.
  const isOrphaned = ended.some(({ remaining }) => isOrphanedPlan(remaining));
  const isQuiet = trouble.length + left === 0;
  const head =
    results.length > 0
      ? `Applied: ${[resultCounts(results), ...trouble].join(', ')}.`
      : isQuiet
        ? 'Nothing to do.'
        : `Nothing was sent: ${[...trouble, ...(left > 0 ? [`${amount(left, 'change')} left`] : [])].join(', ')}.`;
  return `${paint('title', head)}${isQuiet ? (isUndo || isOrphaned ? '' : inSyncText(ended)) : nextRunText(ended)}`;
}

function inSyncText(ended: readonly EndedScope[]): string {
  const notes = ended.flatMap(({ remaining }) => remaining.notes);
  const aside = [
    ['reconcile/report-only', 'only reported'],
    ['reconcile/suspended', 'suspended'],
  ].flatMap(([code, word]) => {
    const number = notes.filter((note) => note.code === code).length;
    return number === 0 ? [] : [`${amount(number, 'resource')} ${word}`];
  });
  return aside.length === 0 ? ' Everything is in sync.' : ` Everything else is in sync; ${aside.join(', ')}.`;
}

/** Returns what the next run does and, where something is pending, the time from which it can do it, as `status` shows it. */
function nextRunText(ended: readonly EndedScope[]): string {
  const waits = ended.flatMap(waitsOf);
  if (waits.length > 0) {
    const times = [...new Set(waits.map(({ untilMs }) => untilMs))].sort((left, right) => left - right);
    const [first = 0] = times;
    const last = times.at(-1) ?? first;
    const later = [...new Set(waits.filter(({ untilMs }) => untilMs === last).map(({ what }) => what))];
    const still = later.length === 1 ? `${later[0]} is held` : `${later.length} resources are held`;
    return ` Run the same command again after ${isoTime(first)}${last === first ? '' : ` (${still} until ${isoTime(last)})`}, or with --wait.`;
  }
  const next = ended.reduce((sum, scope) => sum + countNotDone(scope) + countFree(scope.remaining), 0);
  if (next === 0) return '';
  const isInterrupted = ended.some(({ results }) =>
    results.some((result) => result.status === 'skipped' && result.because.type === 'interrupted'),
  );
  return ` ${isInterrupted ? 'Interrupted: the' : 'The'} next run continues with ${amount(next, 'change')}.`;
}

/** Returns the number of remaining actions that were not done. After an interruption, nothing is read again, so done ones are among them. */
function countNotDone({ results, remaining }: EndedScope): number {
  const done = new Set(results.filter(({ status }) => status === 'done').map(({ action }) => action.id));
  return remaining.actions.filter(({ id }) => !done.has(id)).length;
}

/** Returns everything that is held until a time: resources with holds, writes in doubt, and changes beside such a write. */
function waitsOf({ results, remaining }: EndedScope): readonly { readonly what: string; readonly untilMs: number }[] {
  const doubts = results.filter((result) => result.status === 'in-doubt');
  const doubtful = new Set(doubts.map(({ action }) => action.id));
  const others = remaining.actions.filter(({ id }) => !doubtful.has(id));
  return [
    ...remaining.holds.flatMap(({ resource, untilMs }) => (untilMs === undefined ? [] : [{ what: resource, untilMs }])),
    ...doubts.flatMap(({ action, untilMs, scopeUntilMs }) => [
      // A doubt that requires manual action has no time limit any more.
      ...(remaining.holds.some(({ resource }) => resource === action.resource)
        ? []
        : [{ what: action.resource, untilMs }]),
      ...(others.length === 0 ? [] : [{ what: remaining.application, untilMs: scopeUntilMs }]),
    ]),
  ];
}

/** Returns the number of deferred resources that the next run can do: those whose install is not held. */
function countFree({ deferred, holds }: EndedScope['remaining']): number {
  const held = new Set(holds.map(({ resource }) => resource));
  return deferred.filter(({ waitsFor }) => !held.has(waitsFor)).length;
}

/** Returns a plan and then its results, as `apply` prints them. */
export function renderReportText({ plan, applied }: PlanReport, paint: Paint, style?: PlanStyle): string {
  const text = renderPlanText(plan, paint, style);
  if (applied === undefined) return text;
  if (applied.outcomes.length === 0) return `${text}Nothing was sent.\n`;
  return `${text}\n${renderAccount(applied.outcomes, paint)}${renderVerdict(applied.outcomes, paint)}\n`;
}
