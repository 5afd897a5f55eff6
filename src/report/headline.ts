import { hasChanges } from '../plan/document.ts';
import type { PlanReport } from '../plan/report.ts';
import { amount, countsText, resultCounts } from '../plan/words.ts';

/** Returns in words what blocks a plan. @param refused refusals, in words */
export function obstacles(held: number, refused: readonly string[], unobserved: number): readonly string[] {
  const unknown = unobserved > 0 ? [`${amount(unobserved, 'application')} not observed`] : [];
  return [...(held > 0 ? [`${held} held`] : []), ...refused, ...unknown];
}

/** Returns a report in one line: the planned changes or the results, and what blocks them. */
export function headline({ plan, applied }: PlanReport): string {
  const outcomes = applied?.outcomes ?? [];
  const ended = outcomes.filter((outcome) => outcome.type === 'ended');
  const heldAfter = ended.reduce((sum, { remaining }) => sum + remaining.holds.length, 0);
  const unobserved = plan.unobserved.length;
  const refused = [
    ...(plan.refusals.length > 0 ? ['refused by a guard'] : []),
    ...(applied?.refused === undefined ? [] : ['not the plan that was agreed to']),
  ];
  const trouble = obstacles(outcomes.length === 0 ? plan.summary.held : heldAfter, refused, unobserved);
  const results = ended.flatMap((outcome) => outcome.results);
  if (results.length > 0) return `Applied: ${[resultCounts(results), ...trouble].join(', ')}`;
  if (!hasChanges(plan)) return [`No changes${unobserved > 0 ? ' known' : ''}`, ...trouble].join(', ');
  const head = applied === undefined ? 'Plan' : 'Nothing was sent';
  return `${head}: ${[countsText(plan.summary), ...trouble].join(', ')}`;
}
