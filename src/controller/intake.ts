import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { EpochMs } from '../model/time.ts';
import type { SourceProblem, SourceStatus, StatusError } from '../model/status.ts';
import type { Refusal } from '../plan/guard.ts';
import type { SourceReading, SourceState } from '../source/feed.ts';
import type { LoadedSource } from '../source/contents.ts';
import { resetLargest } from '../source/snapshot.ts';
import { isUnreadable } from '../source/unreadable.ts';
import { type Acceptance, type AcceptedSource, accept, type Allowances, nothingAllowed } from './acceptance.ts';
import { draftEvent, draftProblem } from './events.ts';
import { saveSource, restoreSource } from './saved-source.ts';
import type { CoreBase } from './options.ts';
import { sourceUnit } from './replicas/leadership.ts';
import { ledgerFor } from './replicas/unit-ledgers.ts';

export interface AcceptedReading {
  readonly accepted: AcceptedSource;
  readonly reading: Pick<SourceReading, 'observedMs' | 'commit'>;
}

/** Reads the source, and holds the part of it that was accepted. */
export class Intake {
  readonly #core: CoreBase;
  #allow: Allowances;
  #accepted: AcceptedSource | undefined;
  #acceptedMs: number | null = null;
  #last: SourceReading | undefined;
  #error: StatusError | null = null;
  /** The faults of the files that #error is about. */
  #problems: readonly SourceProblem[] = [];
  #isCurrent = false;
  /** Why the last attempt to read the source failed; null after a success. */
  #failure: StatusError | null = null;
  /** Code of the last reported problem; null after the recovery from it. */
  #reported: string | null = null;
  /** The last reading exceeded a limit while it was parsed. */
  #isUnloadable = false;
  /** False after the source of an earlier process exceeded a limit in this one. */
  #isRestorable = true;
  #saving: Promise<void> = Promise.resolve();

  constructor(core: CoreBase) {
    this.#core = core;
    this.#allow = core.options.allow;
  }

  get accepted(): AcceptedSource | undefined {
    return this.#accepted;
  }

  /** True if the accepted snapshot is the present source. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  status(): SourceStatus {
    return {
      name: this.#core.options.source,
      location: this.#core.options.feed.location,
      observedRevision: this.#last?.revision ?? null,
      observedMs: this.#last?.observedMs ?? null,
      acceptedRevision: this.#accepted?.revision ?? null,
      acceptedMs: this.#acceptedMs,
      error: this.#error,
      ...(this.#error === null || this.#problems.length === 0 ? {} : { problems: this.#problems }),
      resources: this.#accepted?.desired.size ?? 0,
    };
  }

  removalRefusals(prunes: number): readonly Refusal[] {
    return this.#accepted?.removalRefusals(prunes) ?? [];
  }

  /**
   * Considers a state of the feed.
   * @returns the accepted source if it may have changed.
   */
  async take(state: SourceState): Promise<AcceptedReading | undefined> {
    if (state.type === 'failed') {
      await this.#reportFailed(state.error);
      return undefined;
    }
    const { reading } = state;
    this.#failure = null;
    const { revision } = reading;
    if (revision !== this.#last?.revision) {
      const message = `${this.#core.options.feed.location}: found ${revision}`;
      this.#core.events.publish(draftEvent('source.observed', message, { revision }));
    }
    this.#last = reading;
    return this.#consider(reading);
  }

  /** Considers the last reading again, for example with a new configuration. */
  async reconsider(): Promise<AcceptedReading | undefined> {
    return this.#last === undefined ? this.restore() : this.#consider(this.#last);
  }

  /** Retries a failed reading on request. Another failure is reported again. */
  async retry(): Promise<AcceptedReading | undefined> {
    this.#error = null;
    return this.#isUnloadable ? this.reconsider() : undefined;
  }

  /** Resolves when the accepted source is saved for the next process. */
  whenSaved(): Promise<void> {
    return this.#saving;
  }

  async #consider(reading: SourceReading): Promise<AcceptedReading | undefined> {
    const { clock } = this.#core.options;
    const { commits } = this.#core;
    await commits.restore();
    commits.observe(reading);
    const loaded = await reading.contents.load(this.#core.configuration).catch(unreadable);
    this.#isUnloadable = loaded instanceof PortolanError;
    if (loaded instanceof PortolanError) {
      const { code, message, remedy } = loaded;
      commits.reject(reading, { code, message, remedy, atMs: clock.now() }, []);
      await this.#reportFailed(loaded);
      return undefined;
    }
    const acceptance = await this.#accept(reading, loaded, this.#allow).catch((error: unknown) => {
      // After a failure of the ledger, the accepted source is older than the present one.
      this.#isCurrent = false;
      throw error;
    });
    if (acceptance.type === 'refused') {
      this.#isCurrent = false;
      await this.#reportRefused(acceptance, reading);
      return undefined;
    }
    const { accepted } = acceptance;
    this.#allow = nothingAllowed;
    if (this.#reported !== null && this.#failure === null) {
      const { revision } = reading;
      const message = `the source is accepted again, at ${revision} (former problem: ${this.#reported})`;
      this.#core.events.publish(draftEvent('source.recovered', message, { revision }));
      this.#reported = null;
    }
    // An older reading that is considered again does not clear a failure to read the present source.
    this.#error = this.#failure;
    this.#problems = [];
    this.#isCurrent = this.#failure === null;
    commits.accept(reading, clock.now());
    const isNews = accepted.snapshot !== this.#accepted?.snapshot || accepted.revision !== this.#accepted.revision;
    this.#accepted = accepted;
    if (isNews) {
      this.#acceptedMs = clock.now();
      const { snapshot, revision } = accepted;
      this.#save(() => saveSource(this.#ledger(), snapshot, revision, reading.contents, () => [commits.operation()]));
    }
    return { accepted, reading };
  }

  async #reportRefused(
    { error, problems }: Extract<Acceptance, { type: 'refused' }>,
    reading: SourceReading,
  ): Promise<void> {
    const { remedy } = error;
    const message = await this.#withStanding(error.message);
    const isNews = this.#error?.message !== message;
    this.#error = { ...error, message, atMs: this.#sinceMs(message) };
    if (!isNews) return;
    this.#reported = error.code;
    const shown = problems.slice(0, 20).map((problem) => {
      const { file, line, column } = problem.position;
      return { code: problem.code, file, line, column, message: problem.message };
    });
    this.#problems = shown;
    this.#core.commits.reject(reading, this.#error, shown);
    this.#save(() => recordOfSource(this.#ledger(), [this.#core.commits.operation()]));
    const facts = { revision: reading.revision, detail: { problems: shown } };
    this.#core.events.publish(draftProblem('source.refused', 'error', `${message} ${remedy}`, error, facts));
  }

  /** Returns a message about a source that is not accepted, with the revision that stays in effect. */
  async #withStanding(message: string): Promise<string> {
    const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
    if (this.#accepted !== undefined) return `${sentence} Still running ${this.#accepted.revision}.`;
    const { ledger, source } = this.#core.sourceLedger;
    const last = await ledger.lastSnapshot(source);
    return last === undefined
      ? `${sentence} No revision was accepted before, so nothing is applied.`
      : `${sentence} The last accepted revision stays in effect.`;
  }

  async #accept(reading: SourceReading, loaded: LoadedSource, allow: Allowances) {
    const { records } = this.#core;
    const sourceLedger = this.#ledger();
    const scopes = this.#accepted && unapprovedScopes(records, this.#accepted);
    if (this.#accepted !== undefined && scopes !== undefined)
      await resetLargest({ ...sourceLedger, desired: this.#accepted.desired, scopes });
    return accept(reading, loaded, sourceLedger, allow);
  }

  /** Returns the ledger for the records of the source. @throws PortolanError `controller/not-leader` */
  #ledger(): SourceLedger {
    return ledgerFor(this.#core, sourceUnit(this.#core.options.source));
  }

  async #reportFailed(error: PortolanError): Promise<void> {
    const { code, remedy } = error;
    this.#isCurrent = false;
    const message = await this.#withStanding(error.message);
    if (this.#error?.message !== message) {
      this.#reported = code;
      this.#core.events.publish(draftProblem('source.failed', 'error', `${message} ${remedy}`, error));
    }
    this.#failure = { code, message, remedy, atMs: this.#sinceMs(message) };
    this.#error = this.#failure;
    this.#problems = [];
  }

  /** Returns since when the source has this problem. */
  #sinceMs(message: string): EpochMs {
    return this.#error?.message === message ? this.#error.atMs : this.#core.options.clock.now();
  }

  /** Saves something for the next process, after what is being saved. */
  #save(save: () => Promise<void>): void {
    this.#saving = this.#saving.then(save).catch((error: unknown) => {
      if (!(error instanceof PortolanError)) throw error;
      const why = { why: error.message };
      this.#core.options.log.warn('the accepted source could not be saved for a restart', why);
    });
  }

  /** Accepts the source that an earlier process saved, unless its meaning has changed since. */
  async restore(): Promise<AcceptedReading | undefined> {
    if (this.#accepted !== undefined || !this.#isRestorable) return undefined;
    const { sourceLedger, options, events } = this.#core;
    const { source, clock, log, workbench } = options;
    const saved = await restoreSource(sourceLedger);
    const last = await sourceLedger.ledger.lastSnapshot(source);
    if (saved === undefined || last?.id !== saved.snapshot) {
      log.warn('there is no saved source of the last accepted snapshot; waiting for the first reading', { source });
      return undefined;
    }
    const reading = { revision: saved.revision, commit: null, observedMs: clock.now() };
    const contents = workbench.unpack(saved.parts);
    const loaded = await contents.then((files) => files.load(this.#core.configuration)).catch(unreadable);
    if (loaded instanceof PortolanError) {
      log.error(loaded.message, { code: loaded.code, remedy: loaded.remedy });
      this.#isRestorable = false;
      return undefined;
    }
    const { desired, snapshot, problems } = loaded;
    const [problem] = problems;
    if (problem !== undefined || snapshot !== last.id) {
      const why = problem?.message;
      log.warn(
        'the saved source is not used, because variables or configuration have changed; waiting for the first reading',
        { source, why },
      );
      return undefined;
    }
    const owned = await sourceLedger.ledger.objectCount({ source });
    // The feed may have delivered a reading meanwhile.
    if (this.#accepted !== undefined) return undefined;
    const { revision } = saved;
    this.#accepted = { desired, revision, snapshot, owned, removalRefusals: () => [] };
    this.#acceptedMs = last.acceptedMs;
    const message = `the source cannot be read yet; continuing with ${revision}, which was accepted before the restart, without removals`;
    const facts = { revision, detail: { snapshot, restored: true } };
    events.publish(draftProblem('source.accepted', 'warning', message, NOT_READ, facts));
    return { accepted: this.#accepted, reading };
  }
}

const NOT_READ = {
  code: 'source/not-read-yet',
  remedy: 'Portolan retries automatically. Check that the source can be reached if this lasts.',
};

/**
 * Returns the scopes of the accepted source whose removals no operator approved. `undefined`: not all scopes are known,
 * because an application was never resolved or has not followed the accepted source.
 */
function unapprovedScopes(
  records: CoreBase['records'],
  { snapshot, desired }: AcceptedSource,
): ReadonlySet<ScopeKey> | undefined {
  const wanted = [...desired.values()].filter(({ kind }) => kind === 'Application');
  if (wanted.some(({ id }) => records.get(id)?.snapshot !== snapshot)) return undefined;
  const scopes = [...records.values()].flatMap(({ status, approvedSnapshot }) =>
    approvedSnapshot === snapshot ? [] : [status.scope],
  );
  return scopes.includes(null) ? undefined : new Set(scopes as ScopeKey[]);
}

/**
 * Returns the error of a source that exceeded a limit of its thread.
 * @throws any other error.
 */
function unreadable(error: unknown): PortolanError {
  if (!isUnreadable(error)) throw error;
  return error;
}
