import { unreachable } from '../../model/unreachable.ts';
import type { Judgement } from '../../plan/agreement.ts';
import type { PlanDocument } from '../../plan/document.ts';
import { renderPlanText } from '../../report/text.ts';
import type { Applied } from '../../plan/report.ts';
import type { Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { paintFor, planExitCode } from '../session/plan-view.ts';
import { type Agreement, refusalFacts, reportRefusal, writeDifference } from './saved/agreed.ts';

/** How an apply comes to its end. */
export interface Ending {
  readonly plan: PlanDocument;
  readonly agreement: Agreement;
  /** What is shown is written where it is known, not at the end. */
  readonly isText: boolean;
  /** Writes what became of it, in every other format that was asked for. @returns what the command ends with. */
  end(applied: Applied | undefined, exitCode: ExitCode): Promise<ExitCode>;
}

/** Says why nothing is sent for any application. @returns what the command ends with. */
export function endWithout(
  verdict: Exclude<Judgement, { type: 'go' }>,
  { plan, agreement, isText, end }: Ending,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { out } = surroundings.terminal;
  switch (verdict.type) {
    case 'unknown': {
      const exitCode = planExitCode(plan, false);
      if (isText) out.write(`${renderPlanText(plan, paintFor(out))}Nothing was sent.\n`);
      return end({ exitCode, outcomes: [] }, exitCode);
    }
    case 'nothing-left':
      if (isText)
        out.write('Nothing of this plan is left to do: all that it was to change is as it wanted. Nothing was sent.\n');
      return end({ exitCode: EXIT.ok, outcomes: [] }, EXIT.ok);
    case 'refused': {
      if (isText && verdict.refusal.code === 'plan/stale') writeDifference(verdict.refusal, plan, surroundings);
      else if (isText) out.write(renderPlanText(plan, paintFor(out)));
      const exitCode = reportRefusal(verdict.refusal, agreement, surroundings);
      return end({ exitCode, outcomes: [], refused: refusalFacts(verdict.refusal, agreement) }, exitCode);
    }
    default:
      return unreachable(verdict);
  }
}
