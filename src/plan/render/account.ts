import { safeLine } from '../../model/text.ts';
import type { EndedScope, PlanReport, ScopeResult } from '../report.ts';
import type { ActionResult } from '../result.ts';
import { type Paint, renderPlanText } from './text.ts';
import { amount, cameUp, isoTime, resultCounts, resultWords } from './words.ts';

/** What failed and why, what was skipped and behind what, and what is held or in doubt; empty when all went well. */
export function renderAccount(outcomes: readonly ScopeResult[], paint: Paint): string {
  const ended = outcomes.filter((outcome) => outcome.type === 'ended');
  const results = ended.flatMap((outcome) => outcome.results);
  const lines: string[] = [];
  for (const result of results) lines.push(...describe(result, paint));
  for (const outcome of outcomes) {
    if (outcome.type === 'unobserved')
      lines.push(
        `${paint('hold', '!')} ${outcome.application}: ${safeLine(outcome.error.message)}`,
        `    → ${safeLine(outcome.error.remedy)}`,
      );
    if (outcome.type === 'ended' && outcome.error !== undefined) {
      lines.push(
        `${paint('hold', '!')} ${outcome.application} was left in the middle: ${safeLine(outcome.error.message)}`,
        `    → ${safeLine(outcome.error.remedy)}`,
      );
    }
    if (outcome.type === 'refused') {
      for (const refusal of outcome.refusals)
        lines.push(
          `${paint('hold', '!')} ${outcome.application}: ${safeLine(refusal.message)}`,
          `    → to let it through: ${safeLine(refusal.override)}`,
        );
    }
  }
  for (const hold of ended.flatMap((outcome) => outcome.remaining.holds))
    lines.push(
      `${paint('hold', '! held')} ${hold.resource}: ${safeLine(hold.message)} ${paint('dim', `(${hold.code})`)}`,
      `    → ${safeLine(hold.remedy)}`,
    );
  for (const wait of ended.flatMap((outcome) => outcome.waits))
    lines.push(`${paint('note', '…')} ${safeLine(wait.message)}; looked at until ${isoTime(wait.untilMs)}`);
  for (const { resource, summary } of ended.flatMap(cameUp))
    lines.push(
      `${paint('note', 'i')} ${resource}: "${safeLine(summary)}" came up while this ran; it was not in the plan, so it was not done`,
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

/** The last line: how many of what, and what the next run will do. */
export function renderVerdict(outcomes: readonly ScopeResult[], paint: Paint): string {
  const ended = outcomes.filter((outcome) => outcome.type === 'ended');
  const results = ended.flatMap((outcome) => outcome.results);
  const left = ended.reduce((sum, { remaining: plan }) => sum + plan.actions.length + plan.deferred.length, 0);
  const held = ended.reduce((sum, { remaining: plan }) => sum + plan.holds.length, 0);
  const unobserved = outcomes.filter((outcome) => outcome.type === 'unobserved').length;
  const refused = outcomes.filter((outcome) => outcome.type === 'refused').length;
  const trouble = [
    ...(held > 0 ? [`${held} held`] : []),
    ...(refused > 0 ? [`${amount(refused, 'application')} refused by a guard`] : []),
    ...(unobserved > 0 ? [`${amount(unobserved, 'application')} not observed`] : []),
  ];
  const isQuiet = trouble.length + left === 0;
  const head =
    results.length > 0
      ? `Applied: ${[resultCounts(results), ...trouble].join(', ')}.`
      : isQuiet
        ? 'Nothing to do.'
        : `Nothing was sent: ${[...trouble, ...(left > 0 ? [`${amount(left, 'change')} left`] : [])].join(', ')}.`;
  return `${paint('title', head)}${isQuiet ? asWanted(ended) : nextRun(results, left)}`;
}

function asWanted(ended: readonly EndedScope[]): string {
  const set = (code: string): number =>
    ended.reduce((sum, { remaining: plan }) => sum + plan.notes.filter((note) => note.code === code).length, 0);
  const aside = [
    ...(set('reconcile/report-only') > 0 ? [`${amount(set('reconcile/report-only'), 'resource')} only reported`] : []),
    ...(set('reconcile/suspended') > 0 ? [`${amount(set('reconcile/suspended'), 'resource')} suspended`] : []),
  ];
  return aside.length === 0
    ? ' Everything is as the manifests say.'
    : ` Everything else is as the manifests say; ${aside.join(', ')}.`;
}

function nextRun(results: readonly ActionResult[], left: number): string {
  if (left === 0) return '';
  const until = Math.max(...results.map((result) => (result.status === 'in-doubt' ? result.untilMs : 0)), 0);
  if (until > 0) return ` A run after ${isoTime(until)} looks what came of it, and goes on with what is left.`;
  const isInterrupted = results.some((result) => result.status === 'skipped' && result.because.type === 'interrupted');
  return ` ${isInterrupted ? 'Interrupted: the' : 'The'} next run goes on with ${amount(left, 'change')}.`;
}

/** A plan, and behind it what became of it, as `apply` shows the two one after the other. */
export function renderReportText({ plan, applied }: PlanReport, paint: Paint): string {
  const text = renderPlanText(plan, paint);
  if (applied === undefined) return text;
  if (applied.outcomes.length === 0) return `${text}Nothing was sent.\n`;
  return `${text}\n${renderAccount(applied.outcomes, paint)}${renderVerdict(applied.outcomes, paint)}\n`;
}
