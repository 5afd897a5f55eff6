import { invalidInput } from '../../model/errors.ts';
import { silentHooks } from '../../reconcile/apply/world.ts';
import PQueue from 'p-queue';
import { scopeKey } from '../../model/ids.ts';
import type { PlanDocument } from '../../plan/document.ts';
import { renderAccount, renderVerdict } from '../../report/account.ts';
import { renderPlanText } from '../../report/text.ts';
import type { Outcome } from '../../reconcile/outcome.ts';
import { agreedPlan, interactive } from '../../reconcile/policies/interactive.ts';
import { reconcile } from '../../reconcile/reconcile.ts';
import type { Survey } from '../../reconcile/survey.ts';
import { applyHooks, renderEffort } from './apply-progress.ts';
import { applyExitCode, type Ending, endWithout, scopeResult } from './apply-report.ts';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { confirm } from '../terminal/terminal.ts';
import { checkEmpty, type EmptyFlags } from '../session/empty-input.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { isFolder } from '../session/files.ts';
import { type LiveLines, openLiveLines } from '../terminal/live-lines.ts';
import { filesNamed } from '../session/options.ts';
import { askingFlags } from '../session/pass-options.ts';
import { addManifestOptions, addOutputOptions, addPlanningOptions } from '../session/planning-options.ts';
import { openOutputs, orUnwritten, type OutputOptions, type Outputs, positionsOf } from '../session/outputs.ts';
import { paintFor, planExitCode } from '../session/plan-view.ts';
import { Progress } from '../terminal/progress.ts';
import { type Agreement, judge, reportRefusal, withAgreed, writeDifference } from './saved/agreed.ts';
import { checkFlagsBeside, flagsOf } from './saved/flags.ts';
import type { OpenedPlan } from './saved/open.ts';
import { acceptInput, type Session, type SessionOptions, settleInput, surveyAll } from '../session/session.ts';
import { count } from '../terminal/text.ts';

export const applyCommand = defineCommand({
  about:
    'Plans as plan does, asks before it begins, and makes the changes one by one. Each request is on record in the ledger before it is sent, so that whatever befalls this process, the next run knows what may have happened.',
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
  portolan apply -f manifests/ --yes -o jsonl --out apply.md   # each step as it happens; the account for a comment
  portolan apply plan.json                                     # what plan --save plan.json has saved, or nothing

A saved plan is carried out only while it is still the plan that its manifests give; otherwise it is stale, which ends with
4 before anything is sent. So does --expect DIGEST for any other plan. Where nothing is left to do, both end with 0.

Ctrl-C finishes the request in flight, records it, and begins nothing new.`,
  parameters: (command) =>
    addPlanningOptions(
      addOutputOptions(
        addManifestOptions(
          command.argument('[plan]', 'a file of plan --save, in place of -f: exactly that plan; a folder counts as -f'),
        ),
      )
        .option('--dry-run', 'show the plan and change nothing')
        .option('--detailed-exitcode', 'with --dry-run: end with 2 when changes are pending')
        .option('-y, --yes', 'go ahead without a question')
        .option('--wait', 'wait until writes in doubt have settled, in place of ending with 4')
        .option('--fail-fast', 'begin nothing new after the first failure'),
    ),
  async run(surroundings, options, [file], { command }) {
    if (file === undefined) return runApply(options, undefined, surroundings);
    if (isFolder(file)) return runApply(filesNamed([file], options, command), undefined, surroundings);
    // What it takes to check one is loaded only where there is one.
    const { openSavedPlan } = await import('./saved/open.ts');
    const opened = openSavedPlan(file, options, surroundings);
    const { saved } = opened;
    const source = { given: options.source, saved: saved.plan.source };
    checkFlagsBeside(file, (name) => command.getOptionValueSource(name), source);
    return runApply(flagsOf(saved, options), opened, surroundings);
  },
});

export interface ApplyOptions extends SessionOptions, OutputOptions, EmptyFlags {
  readonly dryRun?: boolean | undefined;
  readonly detailedExitcode?: boolean | undefined;
  readonly expect?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly failFast?: boolean | undefined;
  readonly wait?: boolean | undefined;
}

async function runApply(
  options: ApplyOptions,
  opened: OpenedPlan | undefined,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const agreement: Agreement = { expect: options.expect, opened };
  const isDryRun = options.dryRun === true;
  if (!isDryRun && options.ledger === 'none')
    throw invalidInput(
      'cli/no-ledger',
      'apply needs a ledger: without one nobody knows what was sent. Nothing was changed.',
      'Leave --ledger out (portolan.db in the working directory) or name a file; --dry-run works without one.',
    );
  const outputs = openOutputs(options, surroundings);
  const flags = {
    ...options,
    isAgreed: options.expect !== undefined || opened !== undefined,
    refuse: outputs.refuse,
    ...(isDryRun ? {} : askingFlags(options, agreement, surroundings.terminal)),
  };
  const carryOut = isDryRun ? dryRun : apply;
  return withAgreed(agreement, flags, surroundings, isDryRun, (session) =>
    carryOut(options, agreement, session, outputs, surroundings),
  );
}

/** A saved plan was looked at when it was made. */
async function refuseEmpty(
  options: ApplyOptions,
  { opened }: Agreement,
  session: Session,
  { terminal }: Surroundings,
): Promise<void> {
  const { input } = session;
  if (opened === undefined) await checkEmpty({ ...input, resources: input.desired.size }, options, terminal, session);
}

/** Observes and plans, and writes nothing anywhere: not to the platform, not to the ledger. */
async function dryRun(
  options: ApplyOptions,
  agreement: Agreement,
  session: Session,
  outputs: Outputs,
  surroundings: Surroundings,
): Promise<ExitCode> {
  await refuseEmpty(options, agreement, session, surroundings);
  const { document } = await surveyAll(session, silentHooks);
  const report = { plan: document, applied: undefined };
  const positionOf = positionsOf(session.input.desired);
  await outputs.show(report, positionOf);
  const unwritten = await outputs.keep(report, positionOf);
  const verdict = await judge(document, agreement, session);
  if (verdict.type !== 'refused')
    return orUnwritten(unwritten, planExitCode(document, options.detailedExitcode === true));
  if (options.output === 'text') writeDifference(verdict.refusal, document, surroundings);
  return orUnwritten(unwritten, reportRefusal(verdict.refusal, agreement, surroundings));
}

/** Shows the plan of an opened session, asks, and carries out what was agreed to. */
export async function apply(
  options: ApplyOptions,
  agreement: Agreement,
  session: Session,
  outputs: Outputs,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { terminal, signal } = surroundings;
  await refuseEmpty(options, agreement, session, surroundings);
  const progress = new Progress(surroundings);
  const startedMs = surroundings.clock.monotonic();
  const lines = outputs.format === 'jsonl' ? openLiveLines(surroundings) : undefined;
  const survey = await settledSurvey(options, session, progress, lines, surroundings);
  progress.clear();
  const plan = survey.document;
  const isText = outputs.format === 'text';
  const end: Ending['end'] = async (applied, exitCode) => {
    const positionOf = positionsOf(session.input.desired);
    if (lines !== undefined) lines.end({ plan, applied });
    else if (!isText) await outputs.show({ plan, applied }, positionOf);
    return orUnwritten(await outputs.keep({ plan, applied }, positionOf), exitCode);
  };
  const verdict = await judge(plan, agreement, session);
  if (verdict.type !== 'go') return endWithout(verdict, { plan, agreement, isText, end }, surroundings);
  // A guard over the run as a whole holds back every application of it: nothing is sent in part.
  if (survey.isRefused) return endWithout({ type: 'unknown' }, { plan, agreement, isText, end }, surroundings);
  if (isText) terminal.out.write(renderPlanText(plan, paintFor(terminal.out)));
  lines?.plan(plan);
  const actions = survey.prepared.reduce(
    (sum, prepared) => sum + (prepared.refusals.length === 0 ? prepared.plan.actions.length : 0),
    0,
  );
  if (actions > 0 && options.yes !== true && !(await isConfirmed(plan, actions, isText, surroundings))) {
    terminal.err.write('Nothing was changed.\n');
    return end(undefined, EXIT.ok);
  }
  await acceptInput(session, surroundings.clock);
  const isAgreed = agreement.expect !== undefined || agreement.opened !== undefined;
  const passes = await carryOutAll(options, session, survey, { isAgreed, progress, actions, lines }, surroundings);
  await settleInput(session, survey, surroundings.clock);
  const outcomes = passes.map(scopeResult);
  const exitCode = applyExitCode(outcomes, signal.aborted);
  if (isText) {
    const paint = paintFor(terminal.out);
    // Where nothing was done, and a later look found nothing else, the plan just above has said everything.
    const shown = new Set(survey.prepared.map((prepared) => prepared.plan));
    const isNews = outcomes.some((outcome) => outcome.type === 'ended' && !shown.has(outcome.remaining));
    terminal.out.write(`${isNews ? `\n${renderAccount(outcomes, paint)}` : ''}${renderVerdict(outcomes, paint)}\n`);
  }
  const { traffic } = session;
  // A log says nothing of a run that changed nothing.
  if (terminal.err.isTerminal || traffic.writes > 0)
    terminal.err.write(renderEffort(surroundings.clock.monotonic() - startedMs, traffic));
  return end({ exitCode, outcomes }, exitCode);
}

async function isConfirmed(
  plan: PlanDocument,
  actions: number,
  isShown: boolean,
  { terminal }: Surroundings,
): Promise<boolean> {
  // Nobody is asked about what they cannot see.
  if (!isShown && terminal.ask !== undefined) terminal.err.write(renderPlanText(plan, paintFor(terminal.err)));
  return confirm(terminal, `Apply ${count(actions, 'action')}?`, '--yes');
}

/** With `--wait`, what is held only because an earlier write may still arrive is waited for before anybody is asked. */
async function settledSurvey(
  options: ApplyOptions,
  session: Session,
  progress: Progress,
  lines: LiveLines | undefined,
  surroundings: Surroundings,
): Promise<Survey> {
  const hooks = applyHooks({ progress, total: 0, failFast: false, laneOf: () => '', surroundings, lines });
  const { clock, signal } = surroundings;
  for (;;) {
    const survey = await surveyAll(session, hooks);
    const until = survey.document.scopes.flatMap((plan) =>
      plan.holds.flatMap((hold) => (hold.untilMs === undefined ? [] : [hold.untilMs])),
    );
    if (options.wait !== true || until.length === 0 || signal.aborted) return survey;
    const untilMs = Math.max(...until);
    hooks.emit({ type: 'waiting', scope: '', message: 'a write in doubt may still arrive', untilMs });
    try {
      await clock.sleep(Math.max(1000, untilMs - clock.now() + 100), signal);
    } catch {
      return survey;
    }
  }
}

/** What goes with one carrying out. */
interface Running {
  /** The plan was agreed to as a whole, saved or by its digest. */
  readonly isAgreed: boolean;
  readonly progress: Progress;
  /** How many were agreed to. */
  readonly actions: number;
  readonly lines: LiveLines | undefined;
}

async function carryOutAll(
  options: ApplyOptions,
  session: Session,
  survey: Survey,
  { isAgreed, progress, actions, lines }: Running,
  surroundings: Surroundings,
): Promise<readonly Outcome[]> {
  const lanes = new Map(survey.prepared.map(({ scope, work }) => [scopeKey(scope), work.application.name]));
  const laneOf = (scope: string): string => lanes.get(scope) ?? scope;
  const failFast = options.failFast === true;
  // What waits for an install is at least one action more each.
  const deferred = survey.prepared.reduce((sum, { plan }) => sum + plan.deferred.length, 0);
  const hooks = applyHooks({ progress, total: actions + deferred, failFast, laneOf, surroundings, lines });
  const outcomes: Outcome[] = survey.errors.map(({ application, error }) => ({
    type: 'unobserved',
    application: application as Outcome['application'],
    error,
  }));
  const policyOf = isAgreed ? agreedPlan : interactive;
  const waiting = { clock: surroundings.clock, signal: surroundings.signal, forSettling: options.wait === true };
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
