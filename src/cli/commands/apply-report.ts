import { isLedgerLost } from '../../ledger/errors.ts';
import { errorFacts } from '../../model/errors.ts';
import { cameUp } from '../../plan/words.ts';
import type { Applied, EndedScope, ScopeResult } from '../../plan/report.ts';
import type { Outcome } from '../../reconcile/outcome.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../session/exit-codes.ts';
import { type CompactFlag, planExitCode, planTextFor, worstOf } from '../session/plan-view.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Judgement } from '../../plan/agreement.ts';
import type { PlanDocument } from '../../model/plan-document.ts';
import type { Surroundings } from '../session/command.ts';
import { type Agreement, refusalFacts, reportRefusal, writeDifference } from './saved/agreed.ts';

/** Returns an outcome as data, for every output format. */
export function scopeResult(outcome: Outcome): ScopeResult {
  const { application } = outcome;
  if (outcome.type === 'unobserved') return { type: 'unobserved', application, error: errorFacts(outcome.error) };
  if (outcome.type === 'refused') return outcome;
  const { plan, error, results, waits, rounds } = outcome;
  return {
    type: 'ended',
    application,
    results,
    waits,
    rounds,
    remaining: plan,
    ...(error === undefined ? {} : { error: errorFacts(error) }),
  };
}

/** Returns the exit code of a run that applied plans. */
export function applyExitCode(outcomes: readonly ScopeResult[], interrupted: boolean): ExitCode {
  const codes: ExitCode[] = interrupted ? [EXIT.interrupted] : [];
  for (const outcome of outcomes) {
    if (outcome.type === 'unobserved') codes.push(exitCodeOf(outcome.error.disposition));
    else if (outcome.type === 'refused') codes.push(EXIT.held);
    else codes.push(...endedCodes(outcome));
  }
  return worstOf(codes) ?? EXIT.ok;
}

function endedCodes(outcome: EndedScope): ExitCode[] {
  // The action that failed with the ledger is not a failure of its own.
  if (outcome.error !== undefined && isLedgerLost(outcome.error)) return [exitCodeOf(outcome.error.disposition)];
  const codes: ExitCode[] = outcome.error === undefined ? [] : [exitCodeOf(outcome.error.disposition)];
  for (const result of outcome.results) {
    if (result.status === 'in-doubt') codes.push(EXIT.held);
    if (result.status === 'skipped' && result.because.type === 'paused') codes.push(EXIT.held);
    if (result.status !== 'failed') continue;
    const lost = result.reason.type === 'stop-scope' && result.reason.why !== 'region-not-ready';
    codes.push(lost ? EXIT.unreachable : result.reason.type === 'exists' ? EXIT.held : EXIT.failed);
  }
  if (outcome.remaining.holds.length > 0) codes.push(EXIT.held);
  // A later round found new actions, and they wait for a confirmation.
  if (cameUp(outcome).length > 0) codes.push(EXIT.held);
  // Actions remain without a reason: this must not be reported as success.
  if (codes.length === 0 && outcome.remaining.actions.length + outcome.remaining.deferred.length > 0)
    codes.push(EXIT.failed);
  return codes;
}

/** Holds what an apply needs to end without sending a request. */
export interface Ending extends CompactFlag {
  readonly plan: PlanDocument;
  readonly agreement: Agreement;
  /** True for text output, which is written as soon as it is known. */
  readonly isText: boolean;
  /** Writes the result in every other requested format. @returns the exit code. */
  end(applied: Applied | undefined, exitCode: ExitCode): Promise<ExitCode>;
}

/** Reports why no request is sent for any application. @returns the exit code. */
export function endUnsent(
  verdict: Exclude<Judgement, { type: 'go' }>,
  { plan, agreement, isText, compact, end }: Ending,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { out } = surroundings.terminal;
  switch (verdict.type) {
    case 'unknown': {
      const exitCode = planExitCode(plan, false);
      if (isText) out.write(`${planTextFor(plan, { compact }, out)}Nothing was sent.\n`);
      return end({ exitCode, outcomes: [] }, exitCode);
    }
    case 'nothing-left':
      if (isText) out.write('Nothing of this plan is left to do: everything is in sync. Nothing was sent.\n');
      return end({ exitCode: EXIT.ok, outcomes: [] }, EXIT.ok);
    case 'refused': {
      if (isText && verdict.refusal.code === 'plan/stale') writeDifference(verdict.refusal, plan, surroundings);
      else if (isText) out.write(planTextFor(plan, { compact }, out));
      const exitCode = reportRefusal(verdict.refusal, agreement, surroundings);
      return end({ exitCode, outcomes: [], refused: refusalFacts(verdict.refusal, agreement) }, exitCode);
    }
    default:
      return unreachable(verdict);
  }
}
