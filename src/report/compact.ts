import type { Action, ScopePlan } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { type PlanDocument, type PlanSummary, summarize } from '../plan/document.ts';
import { amount, CAUSE_WORDS, countsText, isOwnChange, SYMBOL } from '../plan/words.ts';
import { headingOf, type Paint, type PlanStyle } from './text.ts';

/** With more changes than this, a terminal gets the compact form. */
const FULL_CHANGES_MAX = 50;

/** Returns whether a plan has so many changes that the full text is hard to read on a screen. */
export function isLong({ summary }: Pick<PlanDocument, 'summary'>): boolean {
  const { create, update, delete: removals, deferred, held } = summary;
  return create + update + removals + deferred + held > FULL_CHANGES_MAX;
}

const HINT = 'One line for each change. --no-compact shows fields, values and remedies too.';

/** Returns the style with one line for each change. @param cut cuts a line to the width of the terminal. */
export function compactStyle(cut: (line: string) => string): PlanStyle {
  return { scope: (scope, paint) => renderCompactScope(scope, paint, cut), hint: HINT };
}

/**
 * Returns the plan of one application with one line for each change, hold and note, below a line with their numbers.
 * @param cut cuts a line to the width of the terminal.
 */
function renderCompactScope(scope: ScopePlan, paint: Paint, cut: (line: string) => string): string {
  const line = (mark: string, resource: string | undefined, text: string, aside: string): string => {
    const subject = resource === undefined ? '' : `${safeLine(resource)}: `;
    return cut(`  ${mark} ${subject}${safeLine(text)}${aside === '' ? '' : `  ${paint('dim', aside)}`}`);
  };
  return [
    headingOf(scope, paint),
    `  ${numbersOf(scope, summarize([scope]))}`,
    ...scope.actions.filter(isOwnChange).map((action) => {
      const { verb, resource, summary } = action;
      return line(paint(verb, SYMBOL[verb]), resource, summary, asideOf(action));
    }),
    ...scope.deferred.map(({ resource, summary }) => line(paint('update', '…'), resource, summary, '')),
    ...scope.holds.map(({ resource, message, code }) =>
      line(paint('hold', '!'), resource, `held (${code}): ${message}`, ''),
    ),
    ...scope.notes.map(({ message }) => line(paint('note', 'i'), undefined, message, '')),
  ].join('\n');
}

/** Further effects stay visible: some of them open a port or remove other objects. */
function asideOf({ cause, effects }: Action): string {
  return [`(${CAUSE_WORDS[cause]})`, ...effects.map((effect) => `also: ${safeLine(effect)}`)].join('  ');
}

function numbersOf({ notes }: ScopePlan, summary: PlanSummary): string {
  return [
    countsText(summary),
    ...(summary.held > 0 ? [`${summary.held} held`] : []),
    ...(notes.length > 0 ? [amount(notes.length, 'note')] : []),
  ].join(', ');
}
