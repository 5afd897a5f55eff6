import { type ApplyWorld, type Origin, timingOf, type WorldHooks } from '../../reconcile/apply/world.ts';
import type { StoreAccess } from '../../kinds/reconciled.ts';
import type { DesiredState } from '../../model/resource.ts';
import { groupByApplication } from '../../manifest/group.ts';
import { PortolanError } from '../../model/errors.ts';
import { type ResourceId, scopeKey } from '../../model/ids.ts';
import { createRemovalBudget } from '../../reconcile/removal-budget.ts';
import { budgetLimits, type BudgetOfRun, ofCommand, ofUnknown, type RunPolicy } from '../../reconcile/policies/run.ts';
import { policyEvaluator, policyJudge } from '../../reconcile/policy-judge.ts';
import type { PassOptions, Work } from '../../reconcile/reconcile.ts';
import { workOf } from '../../reconcile/work.ts';
import { createSharedReadings, type SharedReadings } from '../../reconcile/shared-readings.ts';
import { survey, type Survey } from '../../reconcile/survey.ts';
import type { Clock } from '../../runtime/clock.ts';
import { rememberCapabilities, rememberedCapabilities } from './capabilities.ts';
import type { Surroundings } from './command.ts';
import { warnMisnamed } from './empty-input.ts';
import { type Input, type InputOptions, loadInput } from './input.ts';
import { createLog, type LogOptions } from './logging.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openLedger } from './open-ledger.ts';
import { passOptions, type ScopeFlags } from './pass-options.ts';
import { noPlatform, openPlatforms, type Platforms } from './platforms.ts';
import { Progress } from '../terminal/progress.ts';
import { refuseFaults } from './problems.ts';
import { acceptSnapshot, largestSize, resetLargest, snapshotId, successionOf } from '../../source/snapshot.ts';
import { count } from '../terminal/text.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Windows } from '../../plan/guard.ts';

export interface SessionOptions extends InputOptions, LogOptions, ScopeFlags {
  readonly ledger?: string | undefined;
  readonly source: string;
  /** The whole plan was approved, as a saved file or by its digest. */
  readonly isAgreed?: boolean;
}

/** Maximum age of shared readings: a command that waits reads them again after this time. */
const SHARED_READINGS_AGE_MS = 30_000;

/** Holds manifests, configuration, ledger and platforms of one command, opened and checked. */
export interface Session extends Opened {
  /**
   * Returns the readings that a survey of all applications shares: each listing is requested once, however long the
   * survey takes.
   */
  surveyReadings(): SharedReadings;
  readonly works: readonly Work[];
  readonly options: PassOptions;
  readonly source: string;
  /** Id of the content of the manifests. */
  readonly snapshot: string;
  /** undefined: the whole plan was approved, or the ledger is unknown. */
  readonly budget: BudgetOfRun | undefined;
  /**
   * Returns the session with the current manifests, and without any reading of platforms.
   * @throws PortolanError `retry` when the manifests have faults now.
   */
  reload(): Promise<Session>;
  world(work: Work, hooks: WorldHooks): ApplyWorld;
  /** Returns the session with a desired state that undoes a run. Only the targets change, and they may be removed. */
  reverting(run: string, desired: DesiredState, targets: ReadonlySet<ResourceId>): Session;
}

export type Traffic = Readonly<Opened['traffic']>;

/**
 * Opens everything that planning and applying need, runs `work`, and closes it in any case.
 * @param command for the history and the lock.
 * @throws FaultyInput where the input has faults; then nothing is opened.
 */
export async function withSession(
  options: SessionOptions,
  surroundings: Surroundings,
  readOnly: boolean,
  work: (session: Session) => Promise<ExitCode>,
  command?: string,
): Promise<ExitCode> {
  const input = await loadInput(options, surroundings);
  warnMisnamed(input.misnamed, surroundings.terminal);
  return withInput(input, options, surroundings, readOnly, work, command);
}

/** Opens ledger and platforms. The simulator replaces both. */
const openers = { openLedger, openPlatforms };

/** Runs `work` as `withSession` does, for input that was read already. */
export async function withInput(
  input: Input,
  flags: SessionOptions,
  surroundings: Surroundings,
  readOnly: boolean,
  work: (session: Session) => Promise<ExitCode>,
  command = readOnly ? 'plan' : 'apply',
  opening = openers,
): Promise<ExitCode> {
  refuseFaults(input.problems);
  if (input.configuration.platforms.size === 0) throw noPlatform(input.file);
  const opened = await openAll({ input, flags, surroundings, readOnly }, command, opening);
  const { ledger, platforms } = opened;
  try {
    const exitCode = await work(openedSession(opened));
    const { configuration } = input;
    if (!readOnly) await rememberCapabilities(ledger, { platforms, configuration }, surroundings.clock);
    return exitCode;
  } finally {
    await platforms.close();
    await ledger.close();
  }
}

interface ToOpen {
  readonly input: Input;
  readonly flags: SessionOptions;
  readonly surroundings: Surroundings;
  readonly readOnly: boolean;
}

async function openAll(known: ToOpen, command: string, opening: typeof openers) {
  const { input, flags, surroundings, readOnly } = known;
  const log = await createLog(flags, surroundings);
  const actor = `portolan ${command} by ${surroundings.who}`;
  const { ledger, isKnown } = await opening.openLedger({ ledger: flags.ledger, actor, readOnly }, surroundings);
  const remembered = await rememberedCapabilities(ledger, input);
  // Requests sent to the platforms so far, retries included.
  const traffic = { reads: 0, writes: 0 };
  // Shows the progress of a survey.
  const reading = new Progress(surroundings);
  const windowsAt = await windowsOf(input, surroundings.clock);
  const platforms = opening.openPlatforms({
    configuration: input.configuration,
    file: input.file,
    surroundings,
    log,
    remembered: (name) => remembered.get(name),
    onSlow: ({ path, deadlineMs }) => {
      const untilMs = surroundings.clock.now() + deadlineMs;
      reading.waits('', `for the status of an application (GET ${path})`, untilMs);
    },
    onRequest: ({ isRead }) => {
      if (isRead) traffic.reads += 1;
      else traffic.writes += 1;
    },
  });
  const kinds = await surroundings.kinds.reconciled();
  return { ...known, actor, isKnown, kinds, ledger, log, platforms, reading, traffic, windowsAt };
}

/** `undoes`: the run that the desired state reverts. */
type Opened = Awaited<ReturnType<typeof openAll>> & { readonly undoes?: string };

/** Reads the input again. Standard input cannot be read twice, so it stays as it was. */
async function reloadSession(opened: Opened): Promise<Session> {
  const { flags, surroundings } = opened;
  if (flags.filename?.includes('-') === true) return openedSession(opened);
  const input = await loadInput(flags, surroundings);
  const [problem] = input.problems;
  if (problem !== undefined)
    throw new PortolanError({
      code: 'cli/manifests-at-fault',
      disposition: 'retry',
      message: `The manifests now have ${count(input.problems.length, 'fault')}: ${input.problems.map(({ position, message }) => `${position.file}:${position.line}: ${message}`).join('; ')}.`,
      remedy: 'Correct them; portolan validate shows all of them.',
    });
  // Platforms and stores stay those that were opened.
  return openedSession({ ...opened, input: { ...input, configuration: opened.input.configuration } });
}

function budgetOf({ kinds, flags, input, ledger, surroundings, actor, undoes }: Opened, snapshot: string): BudgetOfRun {
  const limits = budgetLimits(input.configuration.settings);
  const { clock } = surroundings;
  const { source, maxPrunes: allowed } = flags;
  const ledgerOf = (): Ledger => ledger;
  const budget = createRemovalBudget({ kinds, ledgerOf, clock, source, actor, limits: () => limits, isDaemon: false });
  return {
    kinds,
    budget,
    source: input.desired,
    by: undoes === undefined ? (input.commit?.name ?? `manifests ${snapshot.slice(0, 12)}`) : `undo of run ${undoes}`,
    allowed,
  };
}

function openedSession(opened: Opened): Session {
  const { flags, input, surroundings, ledger, isKnown, platforms, readOnly, actor, windowsAt } = opened;
  const { source } = flags;
  const { configuration, desired } = input;
  const evaluator = policyEvaluator(surroundings.clock);
  const timing = timingOf(configuration.settings);
  const stores = lazyStores(platforms);
  const snapshot = snapshotId(desired);
  const works = groupByApplication(desired).map(workOf);
  const shared = (maxAgeMs: number): SharedReadings =>
    createSharedReadings(
      works.map(({ application }) => application.spec),
      surroundings.clock,
      { ageMs: maxAgeMs },
    );
  return {
    ...opened,
    works,
    surveyReadings: () => shared(Number.POSITIVE_INFINITY),
    options: {
      ...passOptions(flags, { configuration, desired, readOnly, ledgerKnown: isKnown, windowsAt }),
      shared: shared(SHARED_READINGS_AGE_MS),
    },
    source,
    snapshot,
    budget: !isKnown || flags.isAgreed === true ? undefined : budgetOf(opened, snapshot),
    reload: () => reloadSession(opened),
    reverting(undoes, reverted, targets) {
      // Nothing of it is a commit, so it is not accepted as one.
      const session = openedSession({ ...opened, undoes, input: { ...input, desired: reverted } });
      return { ...session, options: { ...session.options, targets, isUndo: true } };
    },
    world: ({ application }, hooks) => ({
      kinds: opened.kinds,
      client: platforms.client(application.spec.platform),
      ledger,
      clock: surroundings.clock,
      random: surroundings.random,
      stores,
      timing,
      policies: policyJudge(configuration.settings.policies, evaluator),
      actor,
      source,
      snapshot,
      sendUntilMs: ledger.sendUntilMs,
      origin: originOf(opened, application.id),
      ...hooks,
    }),
  };
}

/** Returns what the history records with each write: a command is one run. */
function originOf({ ledger, undoes, input: { commit } }: Opened, application: ResourceId): Origin {
  const run = String(ledger.epoch);
  if (undoes !== undefined) return { run, application, revision: null, undoes };
  if (commit === undefined) return { run, application, revision: null };
  const { name: revision, author, committedMs } = commit;
  return { run, application, revision, author, committedMs };
}

/** Returns the stores. The key of a store is read when an install needs it. */
export function lazyStores(platforms: Platforms): ReadonlyMap<string, StoreAccess> {
  const stores = new Map<string, StoreAccess>();
  const get = stores.get.bind(stores);
  stores.get = (name) => {
    const opened = get(name) ?? platforms.store(name);
    stores.set(name, opened);
    return opened;
  };
  return stores;
}

/** Observes and plans every application, several at once. One that fails is reported and does not delay the others. */
export async function surveyAll(session: Session, hooks: WorldHooks): Promise<Survey> {
  const { works, reading } = session;
  let begun = 0;
  try {
    return await survey({
      works,
      options: { ...session.options, shared: session.surveyReadings() },
      ledger: session.ledger,
      source: session.source,
      revision: session.input.commit?.name ?? null,
      parallelism: session.flags.parallelism,
      world: (work) => {
        begun += 1;
        reading.at('', `observe ${begun}/${works.length}  ${work.application.id}`);
        return session.world(work, hooks);
      },
      policy: runPolicy(session),
      besides: () => besidesOf(session),
    });
  } finally {
    reading.clear();
  }
}

/**
 * Returns the applications of the source that a command leaves out: those that its arguments do not name, and those in
 * paths of the configuration that `-f` does not name.
 */
export async function besidesOf({ works, input, flags, surroundings }: Session): Promise<readonly Work[] | 'unknown'> {
  const { url, paths } = input.configuration.settings.source;
  const isWhole = (flags.filename ?? []).length === 0 || url !== undefined || paths.length === 0;
  const whole = isWhole ? input : await loadInput({ ...flags, filename: [] }, surroundings);
  if (whole.problems.length > 0) return 'unknown';
  const known = new Set(works.map(({ application }) => application.id));
  return [input, ...(isWhole ? [] : [whole])]
    .flatMap(({ desired }) => groupByApplication(desired).map(workOf))
    .filter(({ application }) => !known.has(application.id));
}

function runPolicy(session: Session): RunPolicy {
  if (!session.options.ledgerKnown) return ofUnknown;
  const { source, input, options, ledger, flags } = session;
  return ofCommand(
    {
      source,
      resources: input.desired.size,
      isEmptyAllowed: flags.allowEmpty === true,
      largest: async () => (flags.allowShrunk === true ? undefined : largestSize(session)),
      succession: async () =>
        flags.allowRewind === true ? undefined : successionOf(input.commit, await ledger.lastSnapshot(source)),
    },
    options.limits,
    session.budget,
  );
}

/** Accepts a source after its guards passed, and before the first intent that refers to it. */
export async function acceptInput(session: Session, command = 'apply'): Promise<void> {
  if (session.undoes !== undefined) return;
  const { ledger, source, snapshot, input, flags } = session;
  await acceptSnapshot({
    ledger,
    clock: session.surroundings.clock,
    source,
    snapshot,
    objects: input.desired.size,
    commit: input.commit,
    allowShrunk: false,
    allowRewind: flags.allowRewind === true,
    actor: `portolan ${command}`,
  });
}

/** Allows the removal of lost resources after every application of the source was observed. */
export async function allowLostRemovals(session: Session, { prepared, errors }: Survey): Promise<void> {
  if (session.undoes !== undefined) return;
  const { ledger, source, input, surroundings } = session;
  const observed = new Set(prepared.map(({ work }) => work.application.id));
  const isWhole = groupByApplication(input.desired).every(({ application }) => observed.has(application.id));
  if (errors.length === 0 && isWhole)
    await resetLargest({
      ledger,
      clock: surroundings.clock,
      source,
      desired: input.desired,
      scopes: () => new Set(prepared.map(({ scope }) => scopeKey(scope))),
      actor: 'portolan apply',
    });
}

/** Returns the function that evaluates windows. Its code is loaded only when Settings have windows. */
async function windowsOf({ configuration }: Input, clock: Clock): Promise<Windows['at'] | undefined> {
  const { windows } = configuration.settings;
  if (windows.length === 0) return undefined;
  const { windowsAt } = await import('../../plan/windows.ts');
  return windowsAt(windows, clock);
}
