import type { ActionResult } from '../apply/result.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import type { Action } from '../model/plan.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Paint } from '../plan/render-text.ts';
import { safeLine } from '../model/text.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { worstOf } from './plan-view.ts';
import { count } from './text.ts';

type Ended = Extract<Outcome, { type: 'ended' }>;

/** What failed and why, what was skipped and behind what, and what is held or in doubt; empty when all went well. */
export function renderAccount(outcomes: readonly Outcome[], paint: Paint): string {
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
  for (const hold of ended.flatMap((outcome) => outcome.plan.holds))
    lines.push(
      `${paint('hold', '! held')} ${hold.resource}: ${safeLine(hold.message)} ${paint('dim', `(${hold.code})`)}`,
      `    → ${safeLine(hold.remedy)}`,
    );
  for (const wait of ended.flatMap((outcome) => outcome.waits))
    lines.push(
      `${paint('note', '…')} ${safeLine(wait.message)}; looked at until ${new Date(wait.untilMs).toISOString()}`,
    );
  for (const { resource, summary } of ended.flatMap(cameUp))
    lines.push(
      `${paint('note', 'i')} ${resource}: "${safeLine(summary)}" came up while this ran; it was not in the plan, so it was not done`,
    );
  return lines.map((line) => `${line}\n`).join('');
}

/** Changes that a fresh look found in the middle of the run, and that nobody has seen yet. */
function cameUp({ plan, results, error }: Ended): readonly Action[] {
  const tried = new Set(results.map((result) => result.action.id));
  // After a failure the rest of the plan is simply what is left.
  if (error !== undefined || results.some((result) => result.status !== 'done')) return [];
  return plan.actions.filter((action) => !tried.has(action.id));
}

function describe(result: ActionResult, paint: Paint): string[] {
  const { action } = result;
  const what = `${action.resource}: ${safeLine(action.summary)}`;
  switch (result.status) {
    case 'done':
      return [];
    case 'failed': {
      const { answer, request } = result;
      const code = [
        answer.status === undefined ? '' : `status ${answer.status}`,
        answer.code === undefined ? '' : `code ${answer.code}`,
      ]
        .filter((part) => part !== '')
        .join(', ');
      return [
        `${paint('delete', '✗ failed')} ${what}`,
        `    ${safeLine(request)}${code === '' ? '' : ` answered ${code}`}: ${safeLine(answer.message)}`,
        `    → ${safeLine(result.remedy)}`,
      ];
    }
    case 'in-doubt':
      return [
        `${paint('hold', '? in doubt')} ${what}`,
        `    ${safeLine(result.request)}: ${safeLine(result.answer.message)}; it may have happened or happen yet (intent ${result.intent})`,
        `    → Run the same command again after ${new Date(result.untilMs).toISOString()}, or now with --wait: it looks at the platform first. Nothing is sent for it before that.`,
      ];
    case 'skipped':
      return [`${paint('dim', '- skipped')} ${what}  ${paint('dim', `(${skipWords(result.because)})`)}`];
    default:
      return unreachable(result);
  }
}

function skipWords(because: Extract<ActionResult, { status: 'skipped' }>['because']): string {
  switch (because.type) {
    case 'behind':
      return `it needs ${because.action}`;
    case 'scope-stopped':
      return `nothing more was sent for this application after ${because.by}`;
    case 'interrupted':
      return 'interrupted before it was begun';
    case 'fail-fast':
      return 'not begun after a failure, by --fail-fast';
    default:
      return unreachable(because);
  }
}

/** The last line: how many of what, and what the next run will do. */
export function renderVerdict(outcomes: readonly Outcome[], paint: Paint): string {
  const ended = outcomes.filter((outcome) => outcome.type === 'ended');
  const results = ended.flatMap((outcome) => outcome.results);
  const number = (status: ActionResult['status']): number =>
    results.filter((result) => result.status === status).length;
  const left = ended.reduce((sum, { plan }) => sum + plan.actions.length + plan.deferred.length, 0);
  const held = ended.reduce((sum, { plan }) => sum + plan.holds.length, 0);
  const unobserved = outcomes.filter((outcome) => outcome.type === 'unobserved').length;
  const refused = outcomes.filter((outcome) => outcome.type === 'refused').length;
  const trouble = [
    ...(held > 0 ? [`${held} held`] : []),
    ...(refused > 0 ? [`${count(refused, 'application')} refused by a guard`] : []),
    ...(unobserved > 0 ? [`${count(unobserved, 'application')} not observed`] : []),
  ];
  const done = [
    `${number('done')} done`,
    `${number('failed')} failed`,
    ...(number('in-doubt') > 0 ? [`${number('in-doubt')} in doubt`] : []),
    `${number('skipped')} skipped`,
  ];
  const isQuiet = trouble.length + left === 0;
  const head =
    results.length > 0
      ? `Applied: ${[...done, ...trouble].join(', ')}.`
      : isQuiet
        ? 'Nothing to do.'
        : `Nothing was sent: ${[...trouble, ...(left > 0 ? [`${count(left, 'change')} left`] : [])].join(', ')}.`;
  return `${paint('title', head)}${isQuiet ? asWanted(ended) : nextRun(results, left)}`;
}

function asWanted(ended: readonly Ended[]): string {
  const set = (code: string): number =>
    ended.reduce((sum, { plan }) => sum + plan.notes.filter((note) => note.code === code).length, 0);
  const aside = [
    ...(set('reconcile/report-only') > 0 ? [`${count(set('reconcile/report-only'), 'resource')} only reported`] : []),
    ...(set('reconcile/suspended') > 0 ? [`${count(set('reconcile/suspended'), 'resource')} suspended`] : []),
  ];
  return aside.length === 0
    ? ' Everything is as the manifests say.'
    : ` Everything else is as the manifests say; ${aside.join(', ')}.`;
}

function nextRun(results: readonly ActionResult[], left: number): string {
  if (left === 0) return '';
  const until = Math.max(...results.map((result) => (result.status === 'in-doubt' ? result.untilMs : 0)), 0);
  if (until > 0)
    return ` A run after ${new Date(until).toISOString()} looks what came of it, and goes on with what is left.`;
  const isInterrupted = results.some((result) => result.status === 'skipped' && result.because.type === 'interrupted');
  return ` ${isInterrupted ? 'Interrupted: the' : 'The'} next run goes on with ${count(left, 'change')}.`;
}

/** The code of a run that was to change things. */
export function applyExitCode(outcomes: readonly Outcome[], interrupted: boolean): ExitCode {
  const codes: ExitCode[] = interrupted ? [EXIT.interrupted] : [];
  for (const outcome of outcomes) {
    if (outcome.type === 'unobserved') codes.push(exitCodeOf(outcome.error.disposition));
    else if (outcome.type === 'refused') codes.push(EXIT.held);
    else codes.push(...endedCodes(outcome));
  }
  return worstOf(codes) ?? EXIT.ok;
}

function endedCodes(outcome: Ended): ExitCode[] {
  const codes: ExitCode[] = outcome.error === undefined ? [] : [exitCodeOf(outcome.error.disposition)];
  for (const result of outcome.results) {
    if (result.status === 'in-doubt') codes.push(EXIT.held);
    if (result.status !== 'failed') continue;
    const lost = result.reason.type === 'stop-scope' && result.reason.why !== 'region-not-ready';
    codes.push(lost ? EXIT.unreachable : result.reason.type === 'exists' ? EXIT.held : EXIT.failed);
  }
  if (outcome.plan.holds.length > 0) codes.push(EXIT.held);
  // It waits for somebody to agree to it.
  if (cameUp(outcome).length > 0) codes.push(EXIT.held);
  // Something is still to do and nothing says why: never report that as done.
  if (codes.length === 0 && outcome.plan.actions.length + outcome.plan.deferred.length > 0) codes.push(EXIT.failed);
  return codes;
}
