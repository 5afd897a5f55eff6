import type { Json } from '../model/json.ts';
import type { Action, ActionVerb, Cause, FieldChange } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { unreachable } from '../model/unreachable.ts';
import type { PlanSummary } from './document.ts';
import type { EndedScope } from './report.ts';
import type { ActionResult } from './result.ts';

/** Words and sentences that all formats share. */

export const SYMBOL: Readonly<Record<ActionVerb, string>> = { create: '+', update: '~', delete: '-' };

export const CAUSE_WORDS: Readonly<Record<Cause, string>> = {
  git: 'changed in git',
  drift: 'drift: changed on the platform',
  'git+drift': 'changed in git, and drifted on the platform',
  adopt: 'adopted',
  'first-apply': 'new in git',
  prune: 'no longer in git',
  obligation: 'owed by an earlier run',
  undo: 'undoes an earlier run',
  unknown: 'no ledger: cause unknown',
};

/** `1 object`, `2 objects`. */
export function amount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Returns a message and its remedy as two sentences. */
export function withRemedy({ message, remedy }: { readonly message: string; readonly remedy: string }): string {
  return remedy === '' ? message : `${message.replace(/\.$/, '')}. ${remedy}`;
}

/** At most so many of them: `a, b and 3 more`. */
export function someOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A text of at most so many characters, with an ellipsis where there were more. */
export function cut(text: string, characters: number): string {
  // Half of a character is none.
  return text.length <= characters ? text : `${text.slice(0, characters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A value on one line, as JSON. */
export function valueText(json: Json | undefined): string {
  return json === undefined ? '(unset)' : safeLine(JSON.stringify(json));
}

/** The changes of an action that say something: what was never set goes without saying. */
export function shownChanges({ changes }: Pick<Action, 'changes'>): readonly FieldChange[] {
  return changes.filter(
    ({ before, after }) =>
      !(after === undefined && (before === '' || before === 0 || before === false || before === null)),
  );
}

/** `"old" → "new"`. */
export function arrowText({ before, after }: FieldChange): string {
  if (before === undefined) return valueText(after);
  return `${valueText(before)} → ${after === undefined ? '(removed)' : valueText(after)}`;
}

/** Returns the last applied value of a field that has drifted; undefined for other fields. */
export function driftedFrom({ cause, lastApplied }: FieldChange): string | undefined {
  const drifted = (cause === 'drift' || cause === 'git+drift') && lastApplied !== undefined;
  return drifted ? `last applied: ${valueText(lastApplied)}` : undefined;
}

/** Why a field changes, where that is not what the whole action says. */
export function ownCause(change: FieldChange, shownCause: Cause | undefined): string | undefined {
  return shownCause === undefined || change.cause === shownCause ? undefined : CAUSE_WORDS[change.cause];
}

/** Returns what stands behind a change: what was last applied, and its own cause. */
export function changeAside(change: FieldChange, shownCause: Cause | undefined): readonly string[] {
  const drifted = driftedFrom(change);
  const why = ownCause(change, shownCause);
  return [...(drifted === undefined ? [] : [drifted]), ...(why === undefined ? [] : [`(${why})`])];
}

/** One field on one line, without colours. */
export function changeText(change: FieldChange, shownCause?: Cause): string {
  return [`${safeLine(change.path)}: ${arrowText(change)}`, ...changeAside(change, shownCause)].join('  ');
}

/** `3 to create, 1 to change, 0 to delete, 2 pending`. */
export function countsText({ create, update, delete: removals, deferred }: PlanSummary): string {
  return `${create} to create, ${update} to change, ${removals} to delete${deferred > 0 ? `, ${deferred} pending` : ''}`;
}

/** Whether an action is a change of its own, and not the completion of another one. */
export function isOwnChange({ continues }: Action): boolean {
  return continues === undefined;
}

/** Whether a result says something of its own: a completion that was done, or not begun, says nothing. */
export function isOwnResult({ action, status }: ActionResult): boolean {
  return isOwnChange(action) || status === 'failed' || status === 'in-doubt';
}

/** `4 done, 1 failed, 1 in doubt, 0 skipped`. */
export function resultCounts(results: readonly ActionResult[]): string {
  const number = (status: ActionResult['status']): number =>
    results.filter((result) => result.status === status && isOwnResult(result)).length;
  return [
    `${number('done')} done`,
    `${number('failed')} failed`,
    ...(number('in-doubt') > 0 ? [`${number('in-doubt')} in doubt`] : []),
    `${number('skipped')} skipped`,
  ].join(', ');
}

export interface ResultWords {
  readonly what: string;
  readonly remedy?: string;
}

/** Returns what happened to an action and what to do, one safe line each; undefined for an action that was done. */
export function resultWords(result: ActionResult): ResultWords | undefined {
  switch (result.status) {
    case 'done':
      return undefined;
    case 'failed': {
      const { status, code, message } = result.answer;
      const codes = [
        ...(status === undefined ? [] : [`status ${status}`]),
        ...(code === undefined ? [] : [`code ${code}`]),
      ].join(', ');
      return {
        what: `${safeLine(result.request)}${codes === '' ? '' : ` answered ${codes}`}: ${safeLine(message)}`,
        remedy: safeLine(result.remedy),
      };
    }
    case 'in-doubt':
      return {
        what: `${safeLine(result.request)}: ${safeLine(result.answer.message)}; it may have happened or happen yet (intent ${result.intent})`,
        remedy: `Run the same command again after ${isoTime(result.untilMs)}, or now with --wait: it looks at the platform first. Nothing is sent for it before that.`,
      };
    case 'skipped':
      return { what: skipWords(result.because) };
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
    case 'paused':
      return `not begun: ${because.by}`;
    case 'fail-fast':
      return 'not begun after a failure, by --fail-fast';
    default:
      return unreachable(because);
  }
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the remaining actions that were not tried. */
export function untried({ remaining, results }: EndedScope): readonly Action[] {
  const tried = new Set(results.map((result) => result.action.id));
  return remaining.actions.filter((action) => !tried.has(action.id));
}

/** Returns changes that were found during the run and were not part of the shown plan. */
export function cameUp(ended: EndedScope): readonly Action[] {
  // After a failure the rest of the plan is simply what is left.
  if (ended.error !== undefined || ended.results.some((result) => result.status !== 'done')) return [];
  return untried(ended);
}
