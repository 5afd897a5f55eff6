import type { ActionResult } from '../apply/result.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Paint } from '../plan/render-text.ts';
import { safeLine } from '../model/text.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { worstOf } from './plan-view.ts';

type Ended = Extract<Outcome, { type: 'ended' }>;

/** What was done, what failed and why, what was skipped and behind what, and what the next run will do. */
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
      `${paint('hold', '! held')} ${hold.resource}: ${safeLine(hold.message)}`,
      `    → ${safeLine(hold.remedy)}`,
    );
  for (const wait of ended.flatMap((outcome) => outcome.waits))
    lines.push(
      `${paint('note', '…')} ${safeLine(wait.message)}; looked at until ${new Date(wait.untilMs).toISOString()}`,
    );
  lines.push(summary(results, ended, paint));
  return `${lines.join('\n')}\n`;
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
        `    → Run the same command again after ${new Date(result.untilMs).toISOString()}: it looks, and sends nothing before that.`,
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

function summary(results: readonly ActionResult[], ended: readonly Ended[], paint: Paint): string {
  const count = (status: ActionResult['status']): number => results.filter((result) => result.status === status).length;
  const open = ended.reduce((sum, outcome) => sum + outcome.plan.actions.length + outcome.plan.deferred.length, 0);
  const held = ended.reduce((sum, outcome) => sum + outcome.plan.holds.length, 0);
  const parts = [
    `${count('done')} done`,
    `${count('failed')} failed`,
    ...(count('in-doubt') > 0 ? [`${count('in-doubt')} in doubt`] : []),
    `${count('skipped')} skipped`,
    ...(held > 0 ? [`${held} held`] : []),
  ];
  const next =
    open > 0
      ? ` The next run goes on with ${open} ${open === 1 ? 'change' : 'changes'}.`
      : held > 0
        ? ''
        : ' Everything is as the manifests say.';
  const counted = results.length === 0 && held === 0 && open === 0 ? 'Nothing to do.' : `Applied: ${parts.join(', ')}.`;
  return `${paint('title', counted)}${next}`;
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
  // Something is still to do and nothing says why: never report that as done.
  if (codes.length === 0 && outcome.plan.actions.length + outcome.plan.deferred.length > 0) codes.push(EXIT.failed);
  return codes;
}
