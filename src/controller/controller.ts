import { PortolanError } from '../model/errors.ts';
import { after } from '../runtime/clock.ts';
import { createRemovalBudget } from '../reconcile/removal-budget.ts';
import { budgetLimits } from '../reconcile/policies/run.ts';
import type { SourceState } from '../source/feed.ts';
import { Account, noAccount } from './account.ts';
import type { ControllerApi } from './api.ts';
import { bugText, LoopBugs } from './bugs.ts';
import { Commits } from './commits.ts';
import { type Core, logExpected } from './core.ts';
import { logEvents } from './event-lines.ts';
import { createEventLog, draftEvent, draftProblem } from './events.ts';
import { follow } from './following.ts';
import { Gates } from './gates.ts';
import { Intake } from './intake.ts';
import type { ControllerConfiguration, ControllerOptions } from './options.ts';
import { createApi } from './operations.ts';
import { saveRecord, type AppRecord } from './ledger-records.ts';
import { changedPlaces, findOrphans, refreshOrphans } from './orphans.ts';
import { WorkQueue } from './queue.ts';
import { addAge, AGE_EVERY_MS } from './removal-age.ts';
import type { Forwarded } from './replicas/forwarded-api.ts';
import { platformUnit, soleLeadership, sourceUnit } from './replicas/leadership.ts';
import { BEHIND } from './replicas/reading-age.ts';
import { pause } from './replicas/pause.ts';
import { openSharing } from './replicas/sharing.ts';
import { ledgerOfPlatform, ledgerOfRecord } from './replicas/unit-ledgers.ts';
import { followLeads } from './replicas/unit-changes.ts';
import { SharedState } from './replicas/shared-state.ts';
import { UnitWork } from './replicas/unit-work.ts';
import { ScopeClaims } from './scope-claims.ts';
import { createSlots } from './slots.ts';
import { STEP_MS } from './source-contact.ts';
import { workOn } from './worker.ts';
import { RecordTurns } from './record-turns.ts';

/**
 * Time for the first reading of the source. After that, the controller continues with the source that an earlier
 * process accepted.
 */
const FIRST_READING_MS = 5_000;
/** Passes that may start before the event loop turns. */
const BURST_MAX = 8;
/** The elapsed time of the budgets is saved every so many minutes. */
const BUDGET_EVERY = 10;
/** Delay before a failed change of the source is retried. */
const RETRY_MS = 5_000;

/** Creates what passes, the intake and the API share. */
function createCore(
  options: ControllerOptions,
  hooks: Pick<Core, 'stop' | 'lose' | 'retrySource' | 'refreshOrphans' | 'track' | 'events'>,
): Core {
  const { kinds, clock, ledger, source, actor, log, leadership = soleLeadership(ledger) } = options;
  const sourceLedger = { ledger, clock, source, actor };
  const slots = createSlots(() => base.configuration.settings.controller.concurrency);
  logEvents(hooks.events, log);
  const base: Omit<Core, 'gates' | 'intake'> = {
    options,
    sourceLedger,
    leadership,
    unitWork: new UnitWork(),
    slots,
    queue: new WorkQueue({
      ...options,
      concurrency: slots.concurrency,
      onError: (key, error) => log.error(`a bug in Portolan: ${bugText(error)}`, { application: key }),
    }),
    records: new Map(),
    commits: new Commits(sourceLedger),
    claims: new ScopeClaims(),
    orphanWork: new Set(),
    decided: new Map(),
    recordTurns: new RecordTurns(),
    configuration: options.configuration,
    account: new Account(noAccount),
    budget: createRemovalBudget({
      ...sourceLedger,
      kinds,
      ledgerOf: (platform) => ledgerOfPlatform(base, platform).ledger,
      limits: () => budgetLimits(base.configuration.settings),
      isDaemon: true,
    }),
    shared: undefined,
    sharedState: undefined,
    passes: 0,
    found: undefined,
    ...hooks,
  };
  return Object.assign(base, { gates: new Gates(base), intake: new Intake(base) });
}

/** The daemon without its process: reconciles a platform with a source until `drain`. */
export class Controller {
  readonly api: ControllerApi;
  /**
   * Resolves when this process has lost the ledger. No write may be sent after that. Rejects with a bug that other processes do not
   * have, so that this one must end.
   */
  readonly lost: Promise<PortolanError>;
  readonly #fail: (bug: unknown) => void;
  readonly #options: ControllerOptions;
  readonly #core: Core;
  readonly #stop = new AbortController();
  /** undefined: no other process shares the ledger. */
  readonly #forwarded: Forwarded | undefined;
  readonly #sharedState: SharedState | undefined;
  /** Passes in progress. */
  readonly #passes = new Set<Promise<unknown>>();
  /** Runs changes of the source and of the configuration one after another. */
  #turn: Promise<void> = Promise.resolve();
  #isRetryDue = false;
  /** Passes that started since the event loop last turned. */
  #burst = 0;
  #turned: Promise<void> | undefined;
  /** The source could not be read, accepted or followed since removals last resumed. */
  #areRemovalsWaiting = false;

  constructor(options: ControllerOptions) {
    const lost = Promise.withResolvers<PortolanError>();
    this.lost = lost.promise;
    this.#fail = (bug) => lost.reject(bug);
    this.#options = options;
    const sharing = openSharing(options);
    this.#core = createCore(options, {
      events: sharing?.events ?? createEventLog(options),
      stop: this.#stop.signal,
      // Where several processes share the ledger, the leadership ends the lead that was lost.
      lose: (error) => {
        if (options.leadership?.isShared !== true) lost.resolve(error);
      },
      retrySource: () => this.#retrySource(),
      refreshOrphans: (platform) => this.#runInTurn(() => refreshOrphans(this.#core, platform)),
      // The caller reports its failure.
      track: (work) => void this.#track(work).catch(() => {}),
    });
    const local = createApi(this.#core, options.clock.now());
    this.#forwarded = sharing?.forward(this.#core, local);
    this.api = this.#forwarded?.api ?? local;
    followLeads(this.#core);
    if (options.replicas !== undefined) {
      this.#sharedState = new SharedState(this.#core, options.replicas.shared, {
        inTurn: (change) => this.#inTurn(change),
        afterRead: () => this.#sourceRead(),
      });
      this.#core.sharedState = this.#sharedState;
    }
  }

  start(): void {
    const { version, source, feed, clock } = this.#options;
    const message = `portolan ${version} watches ${feed.location}`;
    this.#core.events.publish(draftEvent('controller.started', message, { detail: { version, source } }));
    this.#core.queue.start(async (id, because, wantedMs) => {
      await this.#letEventLoopTurn();
      await this.#track(workOn(this.#core, id, because, wantedMs));
    });
    this.#forwarded?.start();
    feed.start((state) => this.#takeState(state));
    void this.#countTime();
    void this.#saveTimes();
    this.#sharedState?.run().catch(this.#fail);
    after(clock, FIRST_READING_MS, this.#stop.signal, () => {
      void this.#runInTurn(async () => follow(this.#core, await this.#core.intake.restore()));
    });
  }

  /**
   * Starts no more work. Resolves when the work in progress is finished and recorded, and the feed is closed.
   * @returns false if the work took longer than the settings allow; the rest of it is abandoned.
   */
  async drain(): Promise<boolean> {
    this.#stop.abort(new Error('the controller stops'));
    this.#core.events.publish(draftEvent('controller.draining', 'the controller stops: no new work starts'));
    const ended = Promise.all([this.#options.feed.close(), this.#core.queue.drain(), this.#turn])
      .then(() => this.#core.intake.whenSaved())
      .then(() => true);
    const { drainTimeoutMs: drainMs } = this.#core.configuration.settings.controller;
    const giveUp = new AbortController();
    const tooLate = this.#options.clock.sleep(drainMs, giveUp.signal).then(
      () => false,
      () => false,
    );
    const isWhole = await Promise.race([ended, tooLate]);
    giveUp.abort();
    if (!isWhole)
      this.#options.log.error(
        `the work in progress did not end within ${drainMs / 1000} s; the next start resolves it by observation`,
      );
    return isWhole;
  }

  /** Ends what this process shares with its replicas, after `drain` and before the ledger is closed. */
  async close(): Promise<void> {
    await this.#forwarded?.close();
  }

  /** Replaces the configuration. Resolves when no pass uses the former configuration. */
  async reload(configuration: ControllerConfiguration): Promise<void> {
    let former: readonly Promise<unknown>[] = [];
    await this.#runInTurn(async () => {
      former = [...this.#passes];
      this.#core.configuration = configuration;
      this.#core.events.publish(draftEvent('controller.reloaded', 'the configuration was reloaded'));
      await follow(this.#core, await this.#core.intake.reconsider('reloaded'));
      for (const id of this.#core.records.keys()) this.#core.queue.add(id, 'configuration');
    });
    await Promise.allSettled(former);
  }

  /** Reports that a changed configuration has faults and is not used. */
  reportRefusedReload(error: PortolanError): void {
    const message = `${error.message} ${error.remedy}`;
    this.#core.events.publish(draftProblem('controller.reload-refused', 'error', message, error));
  }

  /** Remembers a pass while it runs. */
  async #track(pass: Promise<unknown>): Promise<void> {
    this.#passes.add(pass);
    try {
      await pass;
    } finally {
      this.#passes.delete(pass);
    }
  }

  /** Lets the event loop turn after every few passes: one that finds everything in shared readings never waits by itself. */
  async #letEventLoopTurn(): Promise<void> {
    this.#burst += 1;
    if (this.#burst <= BURST_MAX) return;
    this.#turned ??= this.#options.clock.sleep(0).then(() => {
      this.#burst = 0;
      this.#turned = undefined;
    });
    await this.#turned;
  }

  /**
   * Schedules another attempt at the last reading, for example after a failed write to the ledger. The feed does
   * not report a reading twice.
   */
  #retryLater(): void {
    if (this.#isRetryDue) return;
    this.#isRetryDue = true;
    after(this.#options.clock, RETRY_MS, this.#stop.signal, () => {
      this.#isRetryDue = false;
      void this.#runInTurn(async () => {
        await follow(this.#core, await this.#core.intake.reconsider('failed'));
        this.#resumeRemovals();
      });
    });
  }

  /** Runs a change after those before it. @throws what the change throws. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(change);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Runs a change after those before it, as `#attempt` does. */
  #runInTurn(change: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#stop.signal.aborted) await this.#attempt(change).catch(() => {});
    });
  }

  /** Makes a change. An expected error is logged, and the change is retried. @throws what the change throws. */
  async #attempt(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (error) {
      if (!(error instanceof PortolanError)) this.#options.log.error(`a bug in Portolan: ${bugText(error)}`);
      else if (!this.#stop.signal.aborted) {
        logExpected(this.#core, error);
        this.#areRemovalsWaiting = true;
        this.#retryLater();
      }
      throw error;
    }
  }

  /**
   * Requeues applications with pending removals once the source can be read again. Their passes decide by the present
   * source and permissions.
   */
  #resumeRemovals(): void {
    if (!this.#areRemovalsWaiting || !this.#core.intake.isCurrent) return;
    this.#areRemovalsWaiting = false;
    for (const { id, kept, status } of this.#core.records.values())
      if (Object.keys(kept.goneForMs).length > 0 && this.#leads(status.platform))
        this.#core.queue.add(id, 'the source can be read again', 'routine');
  }

  /** Lets removals wait while the present source is not known, and resumes them afterwards. */
  #sourceRead(): void {
    this.#areRemovalsWaiting ||= !this.#core.intake.isCurrent;
    this.#resumeRemovals();
    const { intake, leadership } = this.#core;
    const leadsSource = leadership.of(sourceUnit(this.#options.source)) !== undefined;
    // The history of a checkout, and what other replicas read, change without another reading.
    if (leadsSource && intake.status().error?.code === BEHIND) this.#retryLater();
  }

  /**
   * Adds the time since the last call to the age of each pending removal. After a standstill, nothing is removed before the source is
   * read again: git may have named everything again meanwhile.
   */
  #ageRemovals(): readonly AppRecord[] {
    const { configuration, intake, records } = this.#core;
    const { clock, feed, log } = this.#options;
    if (intake.contact.step()) {
      log.warn('this process stood still: it removes nothing before it has read the source again');
      this.#areRemovalsWaiting = true;
      feed.confirm();
    }
    const { pruneAfterMs } = configuration.settings.controller;
    const waiting = [...records.values()].filter(
      ({ kept, status }) => Object.keys(kept.goneForMs).length > 0 && this.#leads(status.platform),
    );
    const [nowMs, { isCurrent }] = [clock.monotonic(), intake];
    for (const record of waiting) addAge(record, nowMs, isCurrent, pruneAfterMs);
    return waiting;
  }

  /** Lets the time count for removals in short steps until the controller stops: while ages are saved, too, which may take minutes. */
  async #countTime(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#ageRemovals();
      await pause(this.#options.clock, STEP_MS, this.#stop.signal);
    }
  }

  /** Saves the age of removals and of budgets every minute until the controller stops. */
  async #saveTimes(): Promise<void> {
    const { clock, log } = this.#options;
    const bugs = new LoopBugs(log);
    for (let minutes = 1; ; minutes += 1) {
      await pause(clock, AGE_EVERY_MS, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      try {
        const platforms = new Set([...this.#core.records.values()].map(({ status }) => status.platform));
        if (minutes % BUDGET_EVERY === 0)
          for (const platform of platforms) if (this.#leads(platform)) await this.#core.budget.recordTime(platform);
        for (const record of this.#ageRemovals()) await this.#saveAge(record);
        if (changedPlaces(this.#core) !== undefined) await this.#runInTurn(() => findOrphans(this.#core));
        bugs.clear();
      } catch (error) {
        if (error instanceof PortolanError) logExpected(this.#core, error);
        else bugs.note(error);
      }
    }
  }

  /** Stores the ages of one application, unless a commit or another replica took it away: those of others are stored all the same. */
  async #saveAge(record: AppRecord): Promise<void> {
    try {
      await saveRecord(ledgerOfRecord(this.#core, record), record);
    } catch (error) {
      if (!(error instanceof PortolanError) || error.code !== 'controller/not-leader') throw error;
    }
  }

  #leads(platform: string): boolean {
    return this.#core.leadership.of(platformUnit(platform)) !== undefined;
  }

  async #takeState(state: SourceState): Promise<void> {
    await this.#core.intake.prepare(state);
    await this.#runInTurn(async () => {
      this.#ageRemovals();
      const taken = await this.#core.intake.take(state);
      this.#areRemovalsWaiting ||= !this.#core.intake.isCurrent;
      // A process that has just started may find a source that it cannot accept.
      await follow(
        this.#core,
        taken ?? (this.#core.intake.accepted === undefined ? await this.#core.intake.restore() : undefined),
      );
      this.#resumeRemovals();
    });
  }

  /** @throws the failure, and why the controller stops. */
  #retrySource(): Promise<void> {
    return this.#inTurn(async () => {
      this.#stop.signal.throwIfAborted();
      await this.#attempt(() => this.#readSourceAgain());
    });
  }

  async #readSourceAgain(): Promise<void> {
    const { workbench, log, feed } = this.#options;
    if (!(await workbench.forgetFailures())) return;
    log.info('the source is read again because a sync was requested');
    const taken = await this.#core.intake.retry();
    feed.retry();
    await follow(this.#core, taken);
  }
}
