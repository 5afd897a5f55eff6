import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { EpochMs } from '../model/time.ts';
import type { SourceStatus, StatusError } from '../model/status.ts';
import type { Refusal } from '../plan/guard.ts';
import type { SourceReading, SourceState } from '../source/feed.ts';
import type { LoadedSource } from '../source/contents.ts';
import { resetLargest } from '../source/snapshot.ts';
import { accept, type Acceptance, type AcceptedReading, type AcceptedSource } from './acceptance.ts';
import { draftEvent, draftProblem } from './events.ts';
import { LoadedReading } from './loaded-reading.ts';
import { FollowedSource, type FollowReason } from './replicas/followed-source.ts';
import { sourceUnit } from './replicas/leadership.ts';
import { BEHIND, ReadingAge } from './replicas/reading-age.ts';
import { noStanding, type SourceStanding } from './replicas/source-standing.ts';
import { ledgerFor } from './replicas/unit-ledgers.ts';
import { loadSaved, saveSource, restoreSource } from './saved-source.ts';
import type { CoreBase } from './options.ts';
import { SourceContact } from './source-contact.ts';
import { NOT_READ, reportOf, shownProblems, type SourceReport, withStanding } from './source-reports.ts';
import { StartAllowances } from './start-allowances.ts';
import { unapprovedScopes } from './unapproved-scopes.ts';

type Read = Extract<SourceState, { type: 'read' }>;

/**
 * Reads the source, and holds the part of it that was accepted. Only the leader of the source accepts; the other replicas
 * follow what it stores.
 */
export class Intake {
  readonly #core: CoreBase;
  readonly #allow: StartAllowances;
  #accepted: AcceptedSource | undefined;
  /** The source that the applications follow: the accepted one, unless something failed after it was accepted. */
  #inForce: AcceptedSource | undefined;
  /** The next revision may be followed without the one before, by which other replicas may have worked. */
  maySkip = false;
  #standing: SourceStanding = noStanding;
  #last: Read | undefined;
  /** Why the last attempt to read the source failed; null after a success. */
  #failure: StatusError | null = null;
  /** Code of the last reported problem; null after the recovery from it. */
  #reported: string | null = null;
  /** A former leader found the problem, and may have ended before it reported it. This process has not decided yet. */
  #isOfFormer = false;
  readonly #loaded: LoadedReading;
  /** The last reading exceeded a limit while it was parsed. */
  #isUnloadable = false;
  /** False after the source of an earlier process exceeded a limit in this one. */
  #isRestorable = true;
  #saving: Promise<void> = Promise.resolve();
  /** The accepted revision that all replicas follow; undefined without others. */
  readonly #followed: FollowedSource | undefined;
  /** Compares readings with the accepted revision; undefined without others. */
  readonly age: ReadingAge | undefined;
  readonly contact: SourceContact;

  constructor(core: CoreBase) {
    this.#core = core;
    this.#allow = new StartAllowances(core.options);
    this.#loaded = new LoadedReading(core);
    this.contact = new SourceContact(core);
    if (!core.leadership.isShared) return;
    this.#followed = new FollowedSource(core);
    this.age = new ReadingAge(core);
  }

  get accepted(): AcceptedSource | undefined {
    return this.#accepted;
  }

  /** True if the accepted snapshot is the present source, as far as this process can know. */
  get isCurrent(): boolean {
    return this.#standing.isCurrent && this.contact.isKept && (this.#followed?.isDecided(this.#accepted) ?? true);
  }

  /** True if the applications follow an accepted source, so that each of them is known. */
  get isFollowed(): boolean {
    return this.#inForce !== undefined;
  }

  /** True if a newer revision was accepted than the applications of this process follow. Nothing may be written by the older one. */
  get isBehind(): boolean {
    return this.#inForce !== this.#accepted || (this.#followed?.isBehind(this.#accepted) ?? false);
  }

  status(): SourceStatus {
    const { observedRevision, observedMs, acceptedMs, error: standing, problems } = this.#standing;
    const error = this.#followed?.error ?? standing;
    return {
      name: this.#core.options.source,
      location: this.#core.options.feed.location,
      observedRevision,
      observedMs,
      acceptedRevision: this.#accepted?.revision ?? null,
      acceptedMs,
      error,
      ...(error === null || problems.length === 0 ? {} : { problems }),
      resources: this.#accepted?.desired.size ?? 0,
    };
  }

  /** Notes that the applications follow an accepted source. */
  noteFollowed(accepted: AcceptedSource): void {
    this.#inForce = accepted;
    this.maySkip = false;
  }

  removalRefusals(prunes: number): readonly Refusal[] {
    return this.#accepted?.removalRefusals(prunes) ?? [];
  }

  /**
   * Loads what `take` will consider. It may take minutes, during which the source and what other replicas share can be read, unlike
   * during `take`. A failure is left to `take`.
   */
  async prepare(state: SourceState): Promise<void> {
    if (state.type === 'failed' || !this.contact.leads || !this.contact.isRecent(state.askedMs)) return;
    await this.#loaded.prepare(state.reading);
  }

  /**
   * Considers a state of the feed.
   * @returns the accepted source if it may have changed.
   */
  async take(state: SourceState): Promise<AcceptedReading | undefined> {
    try {
      return await this.#take(state);
    } finally {
      this.#loaded.forget();
    }
  }

  async #take(state: SourceState): Promise<AcceptedReading | undefined> {
    if (state.type === 'read') {
      this.#last = state;
      this.#allow.noteRead(state.reading.revision);
      this.age?.note(state.reading);
    }
    if (!this.contact.leads) return undefined;
    if (state.type === 'failed') {
      await this.#reportFailed(state.error);
      await this.#followed?.share(this.#standing);
      return undefined;
    }
    if (!this.contact.isRecent(state.askedMs)) return undefined;
    this.#failure = null;
    return this.#consider(state);
  }

  /** Considers the last reading again, with a new configuration or after a failure. */
  async reconsider(why: Exclude<FollowReason, 'changed'>): Promise<AcceptedReading | undefined> {
    const last = this.contact.leads ? this.#last : undefined;
    if (last !== undefined && this.contact.isRecent(last.askedMs)) return this.#consider(last);
    return this.#followed === undefined ? this.restore() : this.followSaved(why);
  }

  /** Retries a failed reading on request. Another failure is reported again. */
  async retry(): Promise<AcceptedReading | undefined> {
    this.#note({ error: null });
    return this.#isUnloadable ? this.reconsider('failed') : undefined;
  }

  /** Resolves when the accepted source is saved for the next process. */
  whenSaved(): Promise<void> {
    return this.#saving;
  }

  /** Accepts nothing that was read before: the former leader may have accepted something newer. Call before leading the source. */
  beginLeading(): void {
    this.contact.doubt();
    this.#reported = this.#standing.error?.code ?? null;
    this.#isOfFormer = this.#reported !== null;
    this.#failure = null;
    this.age?.beginLeading();
  }

  /** Takes over what the leader of the source knows. */
  takeStanding(text: string): void {
    if (this.#followed === undefined) return;
    // Removals wait if this one cannot be understood.
    this.#standing = noStanding;
    this.#standing = this.#followed.read(text);
  }

  /**
   * Takes over the revision that the leader of the source accepted last, which may be this process.
   * @returns undefined if nothing has changed, or if this process cannot load it; then it writes nothing.
   */
  async followSaved(
    why: FollowReason = this.#inForce === this.#accepted ? 'changed' : 'failed',
  ): Promise<AcceptedReading | undefined> {
    await this.age?.begin();
    const found = await this.#followed?.load(this.#accepted, why);
    this.#allow.noteAcceptance(this.#followed?.stored ?? '');
    if (found === undefined) return undefined;
    this.#accepted = found.accepted;
    this.maySkip = true;
    this.#note({ acceptedMs: this.#followed?.acceptedMs ?? this.#standing.acceptedMs });
    return found;
  }

  async #consider(read: Read): Promise<AcceptedReading | undefined> {
    try {
      const fault = this.#allow.present.rewind ? undefined : await this.age?.fault(read.reading);
      if (this.#failure?.code === BEHIND) this.#failure = null;
      if (fault === undefined) return await this.#decide(read);
      await this.#reportFailed(fault);
      return undefined;
    } finally {
      await this.#followed?.share(this.#standing);
    }
  }

  #observe({ revision, observedMs }: SourceReading): void {
    const { options, events } = this.#core;
    if (revision !== this.#standing.observedRevision)
      events.publish(draftEvent('source.observed', `${options.feed.location}: found ${revision}`, { revision }));
    this.#note({ observedRevision: revision, observedMs });
  }

  async #decide({ reading, askedMs }: Read): Promise<AcceptedReading | undefined> {
    const { clock } = this.#core.options;
    const { commits } = this.#core;
    this.#observe(reading);
    await commits.restore();
    commits.observe(reading);
    const loaded = await this.#loaded.load(reading);
    this.#isUnloadable = loaded instanceof PortolanError;
    if (loaded instanceof PortolanError) {
      const { code, message, remedy } = loaded;
      commits.reject(reading, { code, message, remedy, atMs: clock.now() }, []);
      await this.#reportFailed(loaded);
      return undefined;
    }
    const acceptance = await this.#accept(reading, loaded).catch((error: unknown) => {
      // After a failure of the ledger, the accepted source is older than the present one.
      this.#note({ isCurrent: false });
      throw error;
    });
    if (acceptance.type === 'refused') {
      this.#note({ isCurrent: false });
      await this.#reportRefused(acceptance, reading);
      return undefined;
    }
    const { accepted } = acceptance;
    this.age?.noteAccepted(reading);
    this.#allow.end();
    this.contact.confirm(askedMs);
    if (this.#reported !== null && this.#failure === null) {
      const { revision } = reading;
      const message = `the source is accepted again, at ${revision} (former problem: ${this.#reported})`;
      this.#core.events.publish(draftEvent('source.recovered', message, { revision }));
      this.#reported = null;
    }
    // An older reading that is considered again does not clear a failure to read the present source.
    this.#note({ error: this.#failure, problems: [], isCurrent: this.#failure === null });
    commits.accept(reading, clock.now());
    const isNews = accepted.snapshot !== this.#accepted?.snapshot || accepted.revision !== this.#accepted.revision;
    this.#accepted = accepted;
    if (isNews) this.#noteNews(acceptance, reading);
    return { accepted, reading };
  }

  #noteNews({ accepted, decision }: Extract<Acceptance, { type: 'accepted' }>, reading: SourceReading): void {
    const acceptedMs = this.#core.options.clock.now();
    this.#note({ acceptedMs });
    // For other replicas, it was saved in the transaction that accepted it.
    if (this.#followed !== undefined) return;
    const { sourceLedger, commits } = this.#core;
    const { snapshot, revision } = accepted;
    const { commit, observedMs } = reading;
    const saved = { snapshot, revision, accepted: { ...decision, commit, observedMs, acceptedMs } };
    this.#save(() => saveSource(sourceLedger, saved, reading.contents, () => [commits.operation()]));
  }

  async #reportRefused(
    { error, problems }: Extract<Acceptance, { type: 'refused' }>,
    reading: SourceReading,
  ): Promise<void> {
    const { remedy } = error;
    const message = await withStanding(error.message, this.#accepted, this.#core.sourceLedger);
    const report = this.#takeReport(message);
    const refused = { ...error, message, atMs: this.#sinceMs(message) };
    this.#note({ error: refused });
    if (report === undefined) return;
    this.#reported = error.code;
    const shown = shownProblems(problems);
    this.#note({ problems: shown });
    this.#core.commits.reject(reading, refused, shown);
    this.#save(async () => recordOfSource(this.#ledger(), [this.#core.commits.operation()]));
    const facts = { revision: reading.revision, detail: { problems: shown, ...report.detail } };
    this.#core.events.publish(
      draftProblem('source.refused', 'error', `${message} ${remedy}${report.note}`, error, facts),
    );
  }

  async #accept(reading: SourceReading, loaded: LoadedSource): Promise<Acceptance> {
    const { records } = this.#core;
    const { present: allow } = this.#allow;
    this.maySkip ||= this.isBehind;
    const sourceLedger = this.#ledger();
    const accepted = this.#accepted;
    if (accepted !== undefined) {
      const scopes = () => unapprovedScopes(records, accepted);
      await resetLargest({ ...sourceLedger, desired: accepted.desired, scopes });
    }
    if (this.#followed === undefined) return accept(reading, loaded, sourceLedger, allow);
    return this.#followed.accept(reading, loaded, { sourceLedger, allow, former: this.#accepted });
  }

  async #reportFailed(error: PortolanError): Promise<void> {
    const { code, remedy } = error;
    this.#note({ isCurrent: false });
    const message = await withStanding(error.message, this.#accepted, this.#core.sourceLedger);
    const report = this.#takeReport(message);
    if (report !== undefined) {
      const { detail, note } = report;
      this.#reported = code;
      this.#core.events.publish(
        draftProblem('source.failed', 'error', `${message} ${remedy}${note}`, error, { detail }),
      );
    }
    this.#failure = { code, message, remedy, atMs: this.#sinceMs(message) };
    this.#note({ error: this.#failure, problems: [] });
  }

  #takeReport(message: string): SourceReport | undefined {
    const report = reportOf(this.#standing.error, message, this.#isOfFormer);
    this.#isOfFormer = false;
    return report;
  }

  /** Returns since when the source has this problem. */
  #sinceMs(message: string): EpochMs {
    const { error } = this.#standing;
    return error?.message === message ? error.atMs : this.#core.options.clock.now();
  }

  #note(change: Partial<SourceStanding>): void {
    this.#standing = { ...this.#standing, ...change };
  }

  /** Returns the ledger for the records of the source. @throws PortolanError `controller/not-leader` */
  #ledger(): SourceLedger {
    return ledgerFor(this.#core, sourceUnit(this.#core.options.source));
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
    if (this.#followed !== undefined) return this.followSaved();
    if (this.#accepted !== undefined || !this.#isRestorable) return undefined;
    const { sourceLedger, options, events } = this.#core;
    const { source, clock, log } = options;
    const saved = await restoreSource(sourceLedger);
    const last = await sourceLedger.ledger.lastSnapshot(source);
    if (saved === undefined || last?.id !== saved.snapshot) {
      log.warn('there is no saved source of the last accepted snapshot; waiting for the first reading', { source });
      return undefined;
    }
    const reading = { revision: saved.revision, commit: null, observedMs: clock.now() };
    const loaded = await loadSaved(this.#core, saved);
    // A reading of the feed was accepted and saved meanwhile.
    if (loaded.type === 'outdated') return undefined;
    if (loaded.type === 'failed') {
      log.error(loaded.error.message, { code: loaded.error.code, remedy: loaded.error.remedy });
      this.#isRestorable = false;
      return undefined;
    }
    if (loaded.type === 'different') {
      log.warn(
        'the saved source is not used, because variables or configuration have changed; waiting for the first reading',
        { source, why: loaded.why },
      );
      return undefined;
    }
    const owned = await sourceLedger.ledger.objectCount({ source });
    // The feed may have delivered a reading meanwhile.
    if (this.#accepted !== undefined) return undefined;
    const { revision, snapshot } = saved;
    this.#accepted = { desired: loaded.desired, revision, snapshot, owned, removalRefusals: () => [] };
    this.#note({ acceptedMs: last.acceptedMs });
    const message = `the source cannot be read yet; continuing with ${revision}, which was accepted before the restart, without removals`;
    const facts = { revision, detail: { snapshot, restored: true } };
    events.publish(draftProblem('source.accepted', 'warning', message, NOT_READ, facts));
    return { accepted: this.#accepted, reading };
  }
}
