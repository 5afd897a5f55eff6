import { hasChanges } from '../plan/document.ts';
import type { PlanReport } from '../plan/report.ts';
import { amount, countsText, resultCounts } from '../plan/words.ts';

/** A report in one line: what would be done or was done, and what stands in the way. */
export function headline({ plan, applied }: PlanReport): string {
  const held = heldIn({ plan, applied });
  const unobserved = plan.unobserved.length;
  const trouble = [
    ...(held > 0 ? [`${held} held`] : []),
    ...(plan.refusals.length > 0 ? ['refused by a guard'] : []),
    ...(applied?.refused === undefined ? [] : ['not the plan that was agreed to']),
    ...(unobserved > 0 ? [`${amount(unobserved, 'application')} not observed`] : []),
  ];
  const results = applied?.outcomes.flatMap((outcome) => (outcome.type === 'ended' ? outcome.results : [])) ?? [];
  if (results.length > 0) return `Applied: ${[resultCounts(results), ...trouble].join(', ')}`;
  if (applied !== undefined && hasChanges(plan))
    return `Nothing was sent: ${[countsText(plan.summary), ...trouble].join(', ')}`;
  if (!hasChanges(plan)) return [`No changes${unobserved > 0 ? ' known' : ''}`, ...trouble].join(', ');
  return `Plan: ${[countsText(plan.summary), ...trouble].join(', ')}`;
}

/** After a run, what is held then. */
function heldIn({ plan, applied }: PlanReport): number {
  if (applied === undefined || applied.outcomes.length === 0) return plan.summary.held;
  return applied.outcomes.reduce(
    (sum, outcome) => sum + (outcome.type === 'ended' ? outcome.remaining.holds.length : 0),
    0,
  );
}
