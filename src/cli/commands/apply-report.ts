import type { PortolanError } from '../../model/errors.ts';
import { cameUp } from '../../plan/words.ts';
import type { EndedScope, ReportedError, ScopeResult } from '../../plan/report.ts';
import type { Outcome } from '../../reconcile/outcome.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../session/exit-codes.ts';
import { worstOf } from '../session/plan-view.ts';

/** An outcome as data, for every format. */
export function scopeResult(outcome: Outcome): ScopeResult {
  const { application } = outcome;
  if (outcome.type === 'unobserved') return { type: 'unobserved', application, error: fault(outcome.error) };
  if (outcome.type === 'refused') return outcome;
  const { plan, error, results, waits, rounds } = outcome;
  return {
    type: 'ended',
    application,
    results,
    waits,
    rounds,
    remaining: plan,
    ...(error === undefined ? {} : { error: fault(error) }),
  };
}

function fault({ code, disposition, message, remedy }: PortolanError): ReportedError {
  return { code, disposition, message, remedy };
}

/** The code of a run that was to change things. */
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
  const codes: ExitCode[] = outcome.error === undefined ? [] : [exitCodeOf(outcome.error.disposition)];
  for (const result of outcome.results) {
    if (result.status === 'in-doubt') codes.push(EXIT.held);
    if (result.status === 'skipped' && result.because.type === 'paused') codes.push(EXIT.held);
    if (result.status !== 'failed') continue;
    const lost = result.reason.type === 'stop-scope' && result.reason.why !== 'region-not-ready';
    codes.push(lost ? EXIT.unreachable : result.reason.type === 'exists' ? EXIT.held : EXIT.failed);
  }
  if (outcome.remaining.holds.length > 0) codes.push(EXIT.held);
  // It waits for somebody to agree to it.
  if (cameUp(outcome).length > 0) codes.push(EXIT.held);
  // Something is still to do and nothing says why: never report that as done.
  if (codes.length === 0 && outcome.remaining.actions.length + outcome.remaining.deferred.length > 0)
    codes.push(EXIT.failed);
  return codes;
}
