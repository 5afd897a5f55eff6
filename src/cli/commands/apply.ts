import { invalidInput, type PortolanError } from '../../model/errors.ts';
import { silentHooks } from '../../reconcile/apply/world.ts';
import PQueue from 'p-queue';
import { scopeKey } from '../../model/ids.ts';
import { renderAccount, renderVerdict } from '../../report/account.ts';
import type { Outcome } from '../../reconcile/outcome.ts';
import { agreedPlan, interactive } from '../../reconcile/policies/interactive.ts';
import { isOwnChange } from '../../plan/words.ts';
import { reconcile } from '../../reconcile/reconcile.ts';
import type { Survey } from '../../reconcile/survey.ts';
import { applyHooks, changeKey, renderEffort } from './apply-progress.ts';
import { applyExitCode, type Ending, endUnsent, scopeResult } from './apply-report.ts';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { confirm } from '../terminal/terminal.ts';
import { checkEmpty } from '../session/empty-input.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { isFolder } from '../session/files.ts';
import { type LiveLines, openLiveLines } from '../terminal/live-lines.ts';
import type { Undo } from './undo/undo.ts';
import { filesNamed } from '../session/options.ts';
import {
  addManifestOptions,
  addOutputOptions,
  addPlanningOptions,
  type PlanOptions,
} from '../session/planning-options.ts';
import { openOutputs, type Outputs } from '../session/outputs.ts';
import { paintFor, planExitCode, planTextFor } from '../session/plan-view.ts';
import { Progress } from '../terminal/progress.ts';
import { type Agreement, isAgreedTo, judge, reportRefusal, withAgreed, writeDifference } from './saved/agreed.ts';
import { checkFlagsBeside, flagsOf } from './saved/flags.ts';
import type { OpenedPlan } from './saved/open.ts';
import { acceptInput, type Session, allowLostRemovals, surveyAll } from '../session/session.ts';
import { count } from '../terminal/text.ts';

export const applyCommand = defineCommand({
  about:
    'Makes the same plan as portolan plan, asks for confirmation, and makes the changes one by one. The ledger records each request before it is sent, so that the next run knows what may have happened if this one is interrupted.',
  exitCodes: [
    EXIT.ok,
    EXIT.failed,
    EXIT.changesPending,
    EXIT.invalid,
    EXIT.held,
    EXIT.unreachable,
    EXIT.locked,
    EXIT.interrupted,
  ],
  seeAlso: ['plan', 'status', 'ledger list'],
  examples: `
Examples:
  portolan apply -f manifests/
  portolan apply -f manifests/ --dry-run --detailed-exitcode   # in CI
  portolan apply -f manifests/ --yes --prune
  portolan apply -f manifests/ --adopt HttpGatewayRule/shop-www
  portolan apply -f manifests/ --undo 12 --dry-run             # plans to restore the values from before run 12
  portolan apply -f manifests/ --yes -o jsonl --out apply.md   # each step as it happens; a report for a comment
  portolan apply plan.json                                     # only the plan that plan --save plan.json saved

A saved plan is applied only if its manifests still give the same plan. Otherwise it is stale, and apply ends with 4 before
it sends anything. --expect DIGEST refuses any other plan in the same way. If nothing is left to do, both end with 0.

Ctrl-C finishes the request in flight, records its outcome, and starts no new one.`,
  parameters: (command) =>
    addPlanningOptions(
      addOutputOptions(
        addManifestOptions(
          command.argument('[plan]', 'a file of plan --save, to apply exactly that plan; or a folder, as with -f'),
        ),
      )
        .option('--dry-run', 'show the plan and change nothing')
        .option('--detailed-exitcode', 'with --dry-run: end with 2 when changes are pending')
        .option('-y, --yes', 'do not ask for confirmation')
        .option('--wait', 'wait until the settle windows of writes in doubt are over, instead of ending with 4')
        .option('--undo <run>', 'restore the values from before this run of portolan history; removals need --prune')
        .option('--fail-fast', 'start no new action after the first failure'),
    ),
  async run(surroundings, options, [file], { command }) {
    if (file === undefined) return startApply(options, undefined, surroundings);
    if (isFolder(file)) return startApply(filesNamed([file], options, command), undefined, surroundings);
    // The code that checks saved plans is loaded only when there is one.
    const { openSavedPlan } = await import('./saved/open.ts');
    const opened = openSavedPlan(file, options, surroundings);
    const { saved } = opened;
    const source = { given: options.source, saved: saved.plan.source };
    checkFlagsBeside(file, (name) => command.getOptionValueSource(name), source);
    return startApply(flagsOf(saved, options), opened, surroundings);
  },
});

export interface ApplyOptions extends PlanOptions {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly failFast?: boolean | undefined;
  readonly wait?: boolean | undefined;
  /** The run to revert. */
  readonly undo?: string | undefined;
}

/** Holds one call of `apply`: its options, and the session opened for it. */
export interface ApplyRun {
  readonly options: ApplyOptions;
  readonly agreement: Agreement;
  readonly session: Session;
  readonly outputs: Outputs;
  /** Present with `--undo`. */
  readonly undo?: Undo;
}

function startApply(
  options: ApplyOptions,
  opened: OpenedPlan | undefined,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const agreement: Agreement = { expect: options.expect, opened };
  if (opened !== undefined && options.undo !== undefined) throw undoOfPlan();
  const isDryRun = options.dryRun === true;
  if (!isDryRun && options.ledger === 'none')
    throw invalidInput(
      'cli/no-ledger',
      'apply needs a ledger to record what it sends. Nothing was changed.',
      'Omit --ledger to use portolan.db in the working directory, or name a file; --dry-run works without a ledger.',
    );
  const outputs = openOutputs(options, surroundings);
  // The question of `apply` confirms first installs too: a person has seen the plan.
  const isAsked = options.yes !== true && surroundings.terminal.ask !== undefined && !isAgreedTo(agreement);
  const firstInstall = isAsked && !isDryRun ? 'asked' : options.firstInstall;
  const flags = { ...options, firstInstall, isAgreed: isAgreedTo(agreement) };
  const run = isDryRun ? dryRun : apply;
  const work = (session: Session): Promise<ExitCode> => run({ options, agreement, session, outputs });
  const { undo } = options;
  if (undo === undefined) return outputs.showFaultsOf(() => withAgreed(agreement, flags, surroundings, isDryRun, work));
  return outputs.showFaultsOf(async () => {
    // The code of an undo is loaded only when there is one.
    const { withUndo } = await import('./undo/undo.ts');
    return withUndo(undo, flags, surroundings, isDryRun, (session, prepared) =>
      run({ options, agreement, session, outputs, undo: prepared }),
    );
  });
}

function undoOfPlan(): PortolanError {
  return invalidInput(
    'undo/saved-plan',
    '--undo makes its own plan and does not fit a saved one. Nothing was done.',
    'Leave out one of the two.',
  );
}

/** Refuses manifests without a resource. A saved plan was checked when it was made. */
async function refuseEmpty({ options, agreement, session, undo }: ApplyRun): Promise<void> {
  if (agreement.opened === undefined && undo === undefined)
    await checkEmpty(session.input, options, session.surroundings.terminal, session);
}

/** Observes and plans. Writes to neither the platform nor the ledger. */
export async function dryRun(run: ApplyRun): Promise<ExitCode> {
  const { options, agreement, session, outputs, undo } = run;
  const { desired } = session.input;
  await refuseEmpty(run);
  const survey = await surveyAll(session, silentHooks);
  const { document } = undo?.checked(survey) ?? survey;
  const report = { plan: document, applied: undefined };
  await outputs.show(report, desired);
  const verdict = await judge(document, agreement, session);
  if (verdict.type !== 'refused')
    return outputs.keep(report, desired, planExitCode(document, options.detailedExitcode === true));
  if (options.output === 'text') writeDifference(verdict.refusal, document, session.surroundings);
  return outputs.keep(report, desired, reportRefusal(verdict.refusal, agreement, session.surroundings));
}

/** Shows the plan, asks for confirmation, applies the plan and reports the outcome. Returns the exit code. */
export async function apply(run: ApplyRun): Promise<ExitCode> {
  const { options, agreement, session, outputs } = run;
  const { clock, signal, terminal } = session.surroundings;
  const { out, err } = terminal;
  await refuseEmpty(run);
  const progress = new Progress(session.surroundings);
  const startedMs = clock.monotonic();
  const lines = outputs.format === 'jsonl' ? openLiveLines(session.surroundings) : undefined;
  const survey = await surveyAfterWaiting(run, progress, lines);
  progress.clear();
  const plan = survey.document;
  const isText = outputs.format === 'text';
  const end: Ending['end'] = async (applied, exitCode) => {
    if (lines !== undefined) lines.end({ plan, applied });
    else if (!isText) await outputs.show({ plan, applied }, session.input.desired);
    return outputs.keep({ plan, applied }, session.input.desired, exitCode);
  };
  const verdict = await judge(plan, agreement, session);
  const ending = { plan, agreement, isText, compact: options.compact, end };
  if (verdict.type !== 'go') return endUnsent(verdict, ending, session.surroundings);
  // A guard that refuses the whole run holds every application: a run is not applied in part.
  if (survey.isRefused) return endUnsent({ type: 'unknown' }, ending, session.surroundings);
  if (isText) out.write(planTextFor(plan, options, out));
  lines?.plan(plan);
  const sendable = survey.prepared.filter(({ refusals }) => refusals.length === 0);
  const approved = changesOf(sendable);
  const { size: actions } = approved;
  if (actions > 0 && options.yes !== true) {
    // The question needs a plan on the screen.
    if (!isText && terminal.ask !== undefined) err.write(planTextFor(plan, options, err));
    if (!(await confirm(terminal, questionOf(actions, sendable), '--yes'))) {
      err.write('Nothing was changed.\n');
      return end(undefined, EXIT.ok);
    }
  }
  await acceptInput(session);
  const passes = await applyAll(run, survey, progress, approved, lines);
  await allowLostRemovals(session, survey);
  const outcomes = passes.map(scopeResult);
  const exitCode = applyExitCode(outcomes, signal.aborted);
  if (isText) {
    const paint = paintFor(out);
    // If no action ran and a later observation found no change, the plan above already says everything.
    const shown = new Set(survey.prepared.map((prepared) => prepared.plan));
    const isNews = outcomes.some((outcome) => outcome.type === 'ended' && !shown.has(outcome.remaining));
    out.write(
      `${isNews ? `\n${renderAccount(outcomes, paint)}` : ''}${renderVerdict(outcomes, paint, run.undo !== undefined)}\n`,
    );
  }
  // Without a terminal, a run that changed nothing needs no summary of requests.
  if (err.isTerminal || session.traffic.writes > 0)
    err.write(renderEffort(clock.monotonic() - startedMs, session.traffic));
  return end({ exitCode, outcomes }, exitCode);
}

/** Observes and plans. With `--wait`, waits first until the settle windows of earlier writes in doubt are over. */
async function surveyAfterWaiting(
  { options, session, undo }: ApplyRun,
  progress: Progress,
  lines: LiveLines | undefined,
): Promise<Survey> {
  const { surroundings } = session;
  const { clock, signal } = surroundings;
  const hooks = applyHooks({ progress, approved: new Set(), failFast: false, laneOf: () => '', surroundings, lines });
  for (;;) {
    const observed = await surveyAll(session, hooks);
    const survey = undo?.checked(observed) ?? observed;
    const holds = survey.document.scopes.flatMap((plan) => plan.holds);
    const untilMs = Math.max(...holds.map((hold) => hold.untilMs ?? 0));
    if (options.wait !== true || untilMs <= 0 || signal.aborted) return survey;
    hooks.emit({ type: 'waiting', scope: '', message: 'a write in doubt may still arrive', untilMs });
    try {
      await clock.sleep(Math.max(1000, untilMs - clock.now() + 100), signal);
    } catch {
      return survey;
    }
  }
}

/** Returns the changes of plans, as `changeKey`. */
function changesOf(prepared: Survey['prepared']): ReadonlySet<string> {
  return new Set(
    prepared.flatMap(({ scope, plan }) =>
      plan.actions.filter(isOwnChange).map((action) => changeKey(scopeKey(scope), action)),
    ),
  );
}

/** Pending resources are named, because their changes are not known yet and come on top. */
function questionOf(changes: number, prepared: Survey['prepared']): string {
  const pending = prepared.reduce((sum, { plan }) => sum + plan.deferred.length, 0);
  const then = pending === 0 ? '' : `, then the changes of ${count(pending, 'pending resource')}`;
  return `Apply ${count(changes, 'change')}${then}?`;
}

/** Applies every plan of the survey, several applications at once. @param approved the confirmed changes. */
async function applyAll(
  { options, agreement, session, undo }: ApplyRun,
  survey: Survey,
  progress: Progress,
  approved: ReadonlySet<string>,
  lines: LiveLines | undefined,
): Promise<readonly Outcome[]> {
  const { surroundings } = session;
  const lanes = new Map(survey.prepared.map(({ scope, work }) => [scopeKey(scope), work.application.name]));
  const laneOf = (scope: string): string => lanes.get(scope) ?? scope;
  const failFast = options.failFast === true;
  const hooks = applyHooks({ progress, approved, failFast, laneOf, surroundings, lines });
  const outcomes: Outcome[] = survey.errors.map(({ application, error }) => ({
    type: 'unobserved',
    application: application as Outcome['application'],
    error,
  }));
  const policyOf = isAgreedTo(agreement) || undo !== undefined ? agreedPlan : interactive;
  const waiting = { clock: surroundings.clock, signal: surroundings.signal, forDoubts: options.wait === true };
  const queue = new PQueue({ concurrency: session.flags.parallelism });
  await queue.addAll(
    survey.prepared.map((prepared) => async () => {
      const { work } = prepared;
      const policy = policyOf({ limits: session.options.limits, budget: session.budget, waiting });
      outcomes.push(await reconcile(work, session.world(work, hooks), session.options, policy, prepared));
      progress.rest(laneOf(scopeKey(prepared.scope)));
    }),
  );
  progress.clear();
  return outcomes.sort((left, right) => (left.application < right.application ? -1 : 1));
}
