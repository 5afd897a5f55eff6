import { safeLine } from '../../../model/text.ts';
import { unreachable } from '../../../model/unreachable.ts';
import { type Judgement, judgePlan, type PlanRefusal } from '../../../plan/agreement.ts';
import type { PlanDocument } from '../../../model/plan-document.ts';
import { renderDifference } from '../../../report/difference.ts';
import type { Disagreement } from '../../../plan/report.ts';
import type { Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { paintFor, planExitCode } from '../../session/plan-view.ts';
import type { PlanOptions } from '../../session/planning-options.ts';
import { refuseFaults } from '../../session/problems.ts';
import { type Session, type SessionOptions, withInput, withSession } from '../../session/session.ts';
import { checkCircumstances, commandLine } from './flags.ts';
import type { OpenedPlan } from './open.ts';

/** Holds the plan that a person approved: a digest, a saved file, both or neither. */
export interface Agreement {
  readonly expect?: string | undefined;
  readonly opened?: OpenedPlan | undefined;
}

/** Returns whether the whole plan was approved, as a saved file or by its digest. */
export function isAgreedTo({ expect, opened }: Agreement): boolean {
  return expect !== undefined || opened !== undefined;
}

/** Runs `work` in a session over the manifests of the saved plan, or over those that the options name. */
export async function withAgreed(
  { opened }: Agreement,
  options: SessionOptions,
  surroundings: Surroundings,
  readOnly: boolean,
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (opened === undefined) return withSession(options, surroundings, readOnly, work);
  const { input, saved, file } = opened;
  refuseFaults(input.problems);
  const { savedMs, savedBy, plan, allowed } = saved;
  const revision = plan.revision === null ? '' : ` of ${plan.revision}`;
  const limits = [allowed.prune ? ', with --prune' : '', allowed.targets === null ? '' : ', with --target'].join('');
  surroundings.terminal.err.write(
    `${safeLine(`${file}: plan${revision} for source ${plan.source}, made ${new Date(savedMs).toISOString()} by ${savedBy}${limits}`)}\n`,
  );
  return withInput(input, options, surroundings, readOnly, (session) => {
    checkCircumstances(opened, session);
    return work(session);
  });
}

/** Compares the current plan with the approved one. */
export async function judge(
  document: PlanDocument,
  { expect, opened }: Agreement,
  session: Session,
): Promise<Judgement> {
  const last = opened === undefined ? undefined : await session.ledger.lastSnapshot(session.source);
  return judgePlan(document, { expected: expect, saved: opened?.saved }, session.snapshot, last);
}

/**
 * Returns the exit code of `plan`, and whether its digest is the expected one. Unlike `apply`, `plan` also rejects a plan
 * that is empty by now: its digest differs.
 */
export function endOfPlan(
  document: PlanDocument,
  { expect, detailedExitcode }: Pick<PlanOptions, 'expect' | 'detailedExitcode'>,
  surroundings: Surroundings,
): { readonly exitCode: ExitCode; readonly isExpected: boolean } {
  const exitCode = planExitCode(document, detailedExitcode === true);
  const isExpected = expect === undefined || expect === document.digest;
  // A plan with unobserved applications has another digest; their errors are the better report.
  if (isExpected || document.unobserved.length > 0) return { exitCode, isExpected };
  const refusal: PlanRefusal = { code: 'plan/not-expected', expected: expect, now: document.digest };
  return { exitCode: reportRefusal(refusal, {}, surroundings), isExpected };
}

/** Returns a refusal as data. */
export function refusalFacts(refusal: PlanRefusal, { opened }: Agreement): Disagreement {
  const { code, expected, now } = refusal;
  const again =
    opened === undefined
      ? 'Plan again'
      : `Plan again: ${commandLine(['plan', ...opened.saved.command, '--save', opened.file])}`;
  const facts = { code, disposition: 'ask-human', expected, now } as const;
  switch (refusal.code) {
    case 'plan/stale':
      return {
        ...facts,
        message: `The saved plan is stale: its digest is ${expected}, and the current one is ${now}. Nothing was sent.`,
        remedy: again,
        difference: refusal.difference,
      };
    case 'plan/superseded':
      return {
        ...facts,
        message: `The saved plan is stale: ${appliedSince(refusal.applied)} was applied from its source after it was made, and the saved plan would revert that. Nothing was sent.`,
        remedy: again,
      };
    case 'plan/not-expected':
      return {
        ...facts,
        message: `The digest of the plan is ${now}, and ${expected} was expected. Nothing was sent.`,
        remedy: 'Check the current plan; if it is what you want, pass its digest to --expect.',
      };
    default:
      return unreachable(refusal);
  }
}

function appliedSince({ commit, id }: { readonly commit: string; readonly id: string }): string {
  return commit === '-' ? `another set of manifests (${id.slice(0, 12)})` : `commit ${commit.slice(0, 12)}`;
}

/** Reports a refusal on stderr. Returns the exit code. */
export function reportRefusal(refusal: PlanRefusal, agreement: Agreement, { terminal }: Surroundings): ExitCode {
  const { code, message, remedy } = refusalFacts(refusal, agreement);
  terminal.err.write(`refused: ${safeLine(message)}\n  ${safeLine(remedy)}\n  [${code}]\n`);
  return EXIT.held;
}

/** Writes the difference from a stale plan to stdout. @param now the current plan. */
export function writeDifference(refusal: PlanRefusal, now: PlanDocument, { terminal: { out } }: Surroundings): void {
  if (refusal.code !== 'plan/stale') return;
  const holds = now.scopes.flatMap((scope) => scope.holds);
  out.write(`${renderDifference(refusal.difference, holds, paintFor(out))}\n`);
}
