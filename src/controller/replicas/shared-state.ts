import { recordOfSource } from '../../ledger/source-ledger.ts';
import { momentOf, TimeLimit } from '../../runtime/time-limit.ts';
import type { ChangedFacts, LeaseUnit, SharedLedger } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { OrphanStatus } from '../../model/status.ts';
import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import { NOT_NEEDED } from '../../runtime/clock.ts';
import { bugText, LoopBugs } from '../bugs.ts';
import { commitsFact } from '../commits.ts';
import type { Core } from '../core.ts';
import { follow } from '../following.ts';
import {
  type AppRecord,
  digestWithoutTimes,
  parseStored,
  platformIn,
  saveRecord,
  statusPrefix,
  type Stored,
} from '../ledger-records.ts';
import { findOrphans, orphanCheckFact, orphansFact } from '../orphans.ts';
import { addAge } from '../removal-age.ts';
import { savedSourceFact } from '../saved-source.ts';
import { isCertain, type LeadChange, platformUnit, sourceUnit } from './leadership.ts';
import { beginPasses, forgetPasses, takeStored } from './moved-record.ts';
import type { Age, SharedView } from './shared-view.ts';
import { standingFact } from './source-standing.ts';
import { ledgerFor, ledgerOfRecord } from './unit-ledgers.ts';

/** The part of a shared ledger that other replicas' facts come from. */
type SharedFacts = Pick<SharedLedger, 'factsSince' | 'onSignal'>;

/** Interval of reads. A signal starts one earlier, but it may be lost. */
const READ_EVERY_MS = 3_000;
/**
 * A process that has not read for longer sends nothing. Where the database hears a process and the process does not hear the database,
 * its lease stays valid, but it does not learn of a newer revision.
 */
export const STALE_MS = 15_000;
/** Time between two reads, so that many changes cost few reads. */
const READ_APART_MS = 200;
/**
 * A bug that prevents every read for so long ends this process if another replica can read: it sends nothing any more, and its leases keep
 * the others from its work. If no replica can read, the end of one helps nothing: a later commit may.
 */
const BUG_MS = 60_000;

interface Hooks {
  /** Runs a change of the source after those before it. @throws what the change throws. */
  inTurn(change: () => Promise<void>): Promise<void>;
  /** Called after each read, in turn. */
  afterRead(): void;
}

/**
 * Keeps this process up to date with what the leaders of other platforms and of the source have stored: the status of each
 * application, the accepted revision, commits, and orphans. A read costs as much as what changed since the last one.
 */
export class SharedState implements SharedView {
  readonly #core: Core;
  readonly #facts: SharedFacts;
  readonly #hooks: Hooks;
  readonly #keys: ReturnType<typeof keysOf>;
  /** The serial of the ledger up to which its facts are known. */
  #serial = 0;
  /** The serial that was known when this process took each unit that it leads. */
  readonly #takenAt = new Map<LeaseUnit, number>();
  /** The serial up to which facts were read, and those that `noteMoves` has read and that are not applied yet. */
  #readTo = 0;
  #ahead: ReadonlyMap<string, string> = new Map();
  /** The serial from which facts are read once more. */
  #againFrom = Number.POSITIVE_INFINITY;
  /** When it was last read; before that, the start of this process. */
  #readMs: MonotonicMs;
  #readAtMs: EpochMs;
  /** Validity of what the last read that succeeded has found; undefined: nothing was read. */
  #trusted: TimeLimit | undefined;
  #isFailing = false;
  readonly #bugs: LoopBugs;
  /** Since when a bug prevents every read; undefined: none does. */
  #bugFromMs: MonotonicMs | undefined;
  /** Statuses of applications that this process does not have yet, until it has followed the accepted revision. */
  readonly #unclaimed = new Map<string, string>();
  #turn: Promise<unknown> = Promise.resolve();
  #wanted = Promise.withResolvers<void>();

  constructor(core: Core, facts: SharedFacts, hooks: Hooks) {
    this.#core = core;
    this.#facts = facts;
    this.#hooks = hooks;
    this.#bugs = new LoopBugs(core.options.log);
    this.#keys = keysOf(core.options.source);
    [this.#readMs, this.#readAtMs] = [core.options.clock.monotonic(), core.options.clock.now()];
    core.leadership.onChange((change) => this.#leadChanged(change));
  }

  age(): Age {
    const ageMs = Math.max(0, Math.round(this.#core.options.clock.monotonic() - this.#readMs));
    return { asOfMs: this.#readAtMs, ageMs };
  }

  get isCurrent(): boolean {
    return this.#trusted !== undefined && !this.#isFailing;
  }

  get isStale(): boolean {
    return this.#trusted === undefined || this.#core.options.clock.monotonic() > this.#trusted.untilMs();
  }

  /** Reads until the controller stops. @throws a bug because of which this process must end. */
  async run(): Promise<void> {
    const { stop, options } = this.#core;
    const end = this.#facts.onSignal((topic) => {
      if (topic === 'fact') this.#wanted.resolve();
    });
    try {
      while (!stop.aborted) {
        await this.#read();
        await options.clock.sleep(READ_APART_MS, stop);
        await this.#pause();
      }
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      end();
    }
  }

  /**
   * Reads what has changed, and applies it.
   * @throws PortolanError when the database does not answer.
   */
  refresh(): Promise<void> {
    const mine = this.#turn.then(() => this.#hooks.inTurn(() => this.#refresh()));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  take(id: ResourceId): Stored | undefined {
    const text = this.#unclaimed.get(id);
    this.#unclaimed.delete(id);
    return text === undefined ? undefined : parseStored(text);
  }

  async noteMoves(): Promise<void> {
    const { serial, facts } = await this.#readSince(this.#readTo);
    this.#readTo = serial;
    // A later read may lack them.
    this.#ahead = new Map([...this.#ahead, ...facts]);
    this.#noteMoves(facts);
  }

  async saveCommits(): Promise<void> {
    const change = this.#core.commits.change();
    if (change === undefined || !this.#leads(sourceUnit(this.#core.options.source))) return;
    await recordOfSource(ledgerFor(this.#core, sourceUnit(this.#core.options.source)), [change]);
    this.#core.commits.noteStored(change.value);
  }

  async #read(): Promise<void> {
    const { options, stop } = this.#core;
    try {
      await this.refresh();
      if (this.#isFailing) options.log.info('the state of other replicas is up to date again');
      this.#isFailing = false;
      this.#bugs.clear();
      this.#bugFromMs = undefined;
    } catch (error) {
      if (stop.aborted) throw error;
      if (!(error instanceof PortolanError)) this.#noteBug(error);
      else if (!this.#isFailing) {
        const { message, code, remedy } = error;
        options.log.warn(`the state of other replicas could not be read: ${message}`, { code, remedy });
      }
      this.#isFailing = true;
    }
  }

  /** @throws the bug once this process must end because of it. */
  #noteBug(error: unknown): void {
    const { clock, log, replicas } = this.#core.options;
    this.#bugs.note(error);
    this.#bugFromMs ??= clock.monotonic();
    const isOver = clock.monotonic() - this.#bugFromMs >= BUG_MS;
    if (!isOver || replicas?.others().some(({ isCurrent }) => isCurrent === true) !== true) return;
    log.error(
      'this process ends because of a bug: it cannot read the state of other replicas, and another replica can',
    );
    throw error;
  }

  /** Waits for a signal or the interval. */
  async #pause(): Promise<void> {
    const { stop, options } = this.#core;
    const done = new AbortController();
    const asleep = options.clock.sleep(READ_EVERY_MS, AbortSignal.any([stop, done.signal])).catch(() => {});
    await Promise.race([asleep, this.#wanted.promise]);
    this.#wanted = Promise.withResolvers();
    done.abort(NOT_NEEDED);
    await asleep;
  }

  async #refresh(): Promise<void> {
    const serial = Math.min(this.#readTo, this.#againFrom);
    this.#againFrom = Number.POSITIVE_INFINITY;
    const ahead = this.#ahead;
    this.#ahead = new Map();
    const { clock } = this.#core.options;
    const from = momentOf(clock);
    try {
      const read = await this.#readSince(serial);
      this.#readTo = read.serial;
      await this.#apply(ahead.size === 0 ? read : { ...read, facts: new Map([...ahead, ...read.facts]) });
      this.#trusted = new TimeLimit(clock, STALE_MS, from);
    } catch (error) {
      this.#againFrom = Math.min(this.#againFrom, serial);
      this.#ahead = new Map([...ahead, ...this.#ahead]);
      throw error;
    }
  }

  async #readSince(serial: number): Promise<ChangedFacts> {
    const read = await this.#facts.factsSince(serial, this.#keys.prefixes);
    // Where records were lost, what is stored about a unit since then may have a lower serial than the one at which it was taken.
    if (read.isAnew) for (const unit of this.#takenAt.keys()) this.#takenAt.set(unit, 0);
    return read;
  }

  async #apply({ serial, facts }: ChangedFacts): Promise<void> {
    const { intake, leadership, options } = this.#core;
    const source = sourceUnit(options.source);
    const statuses = [...facts].filter(([key]) => key.startsWith(this.#keys.status));
    for (const [key, text] of statuses) this.#unclaimed.set(this.#idOf(key), text);
    this.#noteMoves(facts);
    if (this.#leads(source)) {
      // Something failed while it accepted a revision, or after that: the ledger says which one is accepted. It says so, too, where
      // another process may lead the source by now, and this one has not heard of that yet.
      const isInDoubt = facts.has(this.#keys.saved) && !isCertain(leadership.held(source), options.clock);
      if (intake.isBehind || isInDoubt) await this.#followAccepted(!intake.isBehind);
      if (this.#serial > 0 && this.#keys.areOrphansAsked(facts)) await findOrphans(this.#core);
    } else await this.#takeSource(facts);
    // After the revision, because a status belongs to the manifests that its leader had.
    for (const [key] of statuses) this.#understand(key, () => this.#takeStatus(this.#idOf(key)));
    // The rest is about applications that git does not name any more. If one returns, its record is read from the ledger.
    if (!intake.isBehind && intake.accepted !== undefined) this.#unclaimed.clear();
    this.#serial = serial;
    [this.#readMs, this.#readAtMs] = [options.clock.monotonic(), options.clock.now()];
    options.observer.caughtUp();
    this.#hooks.afterRead();
  }

  /** Skips a fact that this version does not understand, so that it stops nothing else. It is read again when it changes. */
  #understand(key: string, take: () => void): void {
    try {
      take();
    } catch (error) {
      if (error instanceof PortolanError) throw error;
      this.#core.options.log.error(`a bug in Portolan: skips the fact "${key}": ${bugText(error)}`);
    }
  }

  #idOf(key: string): ResourceId {
    return key.slice(this.#keys.status.length) as ResourceId;
  }

  /**
   * Notes which applications of this process another one has stored, by a commit that moved them: this one has not followed it yet, or never
   * will, because a later commit moves them back. Before it is followed, so that no pass continues by what was known before.
   */
  #noteMoves(facts: ReadonlyMap<string, string>): void {
    for (const [key, text] of facts) {
      if (!key.startsWith(this.#keys.status)) continue;
      const record = this.#core.records.get(this.#idOf(key));
      const own = record?.status.platform;
      if (record === undefined || own === undefined || !this.#leads(platformUnit(own))) continue;
      if ((platformIn(text) ?? own) === own) continue;
      record.moved = { to: own };
      this.#core.queue.add(record.id, 'another controller has stored its status');
    }
  }

  #takeStatus(id: ResourceId): void {
    const text = this.#unclaimed.get(id);
    const record = this.#core.records.get(id);
    if (text === undefined || record === undefined) return;
    this.#unclaimed.delete(id);
    if (this.#leads(platformUnit(record.status.platform))) return;
    const stored = parseStored(text);
    if (stored === undefined) throw new TypeError('it is not the record of an application');
    takeStored(record, stored, this.#core.intake.isBehind);
    const { platform } = record.status;
    record.moved = stored.status.platform === platform ? undefined : { to: platform };
  }

  async #takeSource(facts: ReadonlyMap<string, string>): Promise<void> {
    const { commits, intake } = this.#core;
    const { standing, commits: list, orphans } = this.#keys;
    const take = (key: string, use: (text: string) => void): void => {
      const text = facts.get(key);
      if (text !== undefined) this.#understand(key, () => use(text));
    };
    take(list, (text) => commits.replace(text));
    take(standing, (text) => intake.takeStanding(text));
    if (facts.has(this.#keys.saved) || intake.isBehind || intake.accepted === undefined)
      await this.#followAccepted(true);
    take(orphans, (text) => {
      this.#core.found = { orphans: JSON.parse(text) as readonly OrphanStatus[], places: new Set() };
    });
  }

  async #followAccepted(isOfAnother: boolean): Promise<void> {
    const { intake, options } = this.#core;
    const followed = await intake.followSaved();
    await follow(this.#core, followed, isOfAnother);
    if (followed !== undefined)
      options.log.info(`following ${followed.accepted.revision}, which the leader of the source accepted`);
  }

  /** Returns whether this process may write the records of a unit, also while it hands the unit over. */
  #leads(unit: LeaseUnit): boolean {
    return this.#core.leadership.held(unit) !== undefined;
  }

  async #leadChanged({ type, lead: { unit } }: LeadChange): Promise<void> {
    const isSource = unit === sourceUnit(this.#core.options.source);
    // The former leader has recorded nothing since. So this reads the last state of the unit.
    if (type === 'taken') {
      await this.refresh();
      this.#takenAt.set(unit, this.#serial);
    }
    if (type === 'ended') this.#readAgain(unit);
    if (type === 'taken' && isSource) this.#core.intake.beginLeading();
    if (type === 'leading' && isSource) this.#core.options.feed.confirm();
    if (type === 'leaving' && isSource) {
      await this.#hooks.inTurn(async () => {});
      await this.#core.intake.whenSaved();
    }
    if (isSource || type === 'leading') return;
    for (const record of this.#core.records.values()) {
      if (platformUnit(record.status.platform) !== unit) continue;
      if (type === 'leaving') await this.#saveAge(record);
      else forgetPasses(record);
      if (type === 'taken') beginPasses(record);
    }
  }

  /**
   * Reads what was stored since this process took a unit. Another process may lead it for a while before this one notices, and until
   * then this one ignored what was stored about the unit. If this one could not store a status itself, the stored one may be older, and
   * stays if its successor finds the same. Then everything is read.
   */
  #readAgain(unit: LeaseUnit): void {
    const isUnsaved = (record: AppRecord): boolean =>
      platformUnit(record.status.platform) === unit && digestWithoutTimes(record) !== record.written;
    const takenAt = [...this.#core.records.values()].some(isUnsaved) ? 0 : (this.#takenAt.get(unit) ?? 0);
    this.#againFrom = Math.min(this.#againFrom, takenAt);
    this.#takenAt.delete(unit);
    this.#wanted.resolve();
  }

  /** Stores the age of pending removals, so that the next leader continues from it. */
  async #saveAge(record: AppRecord): Promise<void> {
    const { options, configuration, intake } = this.#core;
    if (record.moved !== undefined || Object.keys(record.kept.goneForMs).length === 0) return;
    addAge(record, options.clock.monotonic(), intake.isCurrent, configuration.settings.controller.pruneAfterMs);
    await saveRecord(ledgerOfRecord(this.#core, record), record);
  }
}

function keysOf(source: string) {
  const own = { standing: standingFact(source), commits: commitsFact(source), orphans: orphansFact(source) };
  const asked = orphanCheckFact(source, '');
  const status = statusPrefix(source);
  const saved = savedSourceFact(source);
  return {
    status,
    saved,
    ...own,
    areOrphansAsked: (facts: ReadonlyMap<string, string>): boolean =>
      [...facts.keys()].some((key) => key.startsWith(asked)),
    prefixes: [status, saved, ...Object.values(own), asked],
  };
}
