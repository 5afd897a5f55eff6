import type { PortolanError } from '../model/errors.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Verdict } from '../plan/agreement.ts';
import type { PlanDocument } from '../plan/document.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import type { Surroundings } from './command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { planExitCode, writePlan } from './plan-view.ts';
import { type Agreement, type RefusalFacts, refusalFacts, reportRefusal, writeDifference } from './saved/agreed.ts';

export interface ApplyResult {
  readonly plan: PlanDocument;
  readonly outcomes: readonly Outcome[];
  readonly exitCode: ExitCode;
  /** The plan is not the one that was agreed to. */
  readonly refused?: RefusalFacts;
}

/** What came of it, for scripts. */
export function writeResult({ outcomes, ...result }: ApplyResult, { terminal }: Surroundings): void {
  const facts = { formatVersion: 1, ...result, outcomes: outcomes.map(outcomeJson) };
  terminal.out.write(`${JSON.stringify(facts, null, 2)}\n`);
}

/** Says why nothing is sent for any application. @returns what the command ends with. */
export function endWithout(
  verdict: Exclude<Verdict, { type: 'go' }>,
  plan: PlanDocument,
  output: 'text' | 'json',
  agreement: Agreement,
  surroundings: Surroundings,
): ExitCode {
  const { out } = surroundings.terminal;
  switch (verdict.type) {
    case 'unknown': {
      const exitCode = planExitCode(plan, false);
      if (output === 'json') writeResult({ plan, outcomes: [], exitCode }, surroundings);
      else {
        writePlan(plan, 'text', out);
        out.write('Nothing was sent.\n');
      }
      return exitCode;
    }
    case 'nothing-left':
      if (output === 'json') writeResult({ plan, outcomes: [], exitCode: EXIT.ok }, surroundings);
      else
        out.write('Nothing of this plan is left to do: all that it was to change is as it wanted. Nothing was sent.\n');
      return EXIT.ok;
    case 'refused': {
      if (output === 'json') {
        const refused = refusalFacts(verdict.refusal, agreement);
        writeResult({ plan, outcomes: [], exitCode: EXIT.held, refused }, surroundings);
      } else if (verdict.refusal.code === 'plan/stale') writeDifference(verdict.refusal, plan, surroundings);
      else writePlan(plan, 'text', out);
      return reportRefusal(verdict.refusal, agreement, surroundings);
    }
    default:
      return unreachable(verdict);
  }
}

function outcomeJson(outcome: Outcome): object {
  const error = (problem: PortolanError) => ({
    code: problem.code,
    disposition: problem.disposition,
    message: problem.message,
    remedy: problem.remedy,
  });
  if (outcome.type === 'unobserved') return { ...outcome, error: error(outcome.error) };
  if (outcome.type === 'refused') return outcome;
  const { plan, error: problem, ...rest } = outcome;
  return { ...rest, remaining: plan, ...(problem === undefined ? {} : { error: error(problem) }) };
}
