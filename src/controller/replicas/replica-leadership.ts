import { isLedgerPast, otherSource } from '../../ledger/errors.ts';
import { areRivals } from '../../ledger/lease-holder.ts';
import type { Lead, LeaseUnit, LiveReplica, ReplicaReport, SharedLedger, UnitLeader } from '../../ledger/shared.ts';
import { sendMarginMs } from '../../ledger/send-margin.ts';
import { retryWithin } from '../../ledger/retry-within.ts';
import { PortolanError } from '../../model/errors.ts';
import type { MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { ControllerObserver, LeaseEnd, LeaseFacts } from '../api.ts';
import { Ability } from './ability.ts';
import { assignFree, canTake, type GroupState, nextMove, reachableOthers, viewOf } from './assignment.ts';
import { HeldLead, logLost } from './held-lead.ts';
import type { LeadChange, Leadership, LeadListener } from './leadership.ts';

export interface ReplicaLeadershipOptions {
  readonly shared: SharedLedger;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer: Pick<ControllerObserver, 'units' | 'led' | 'yielded' | 'fenced' | 'databaseAsked'>;
  /** Length of the leases of this process. */
  readonly leaseMs: number;
  /** The source that this process works on. */
  readonly source: string;
  /** Returns the units that this process could work on. A reload changes them. */
  units(): readonly LeaseUnit[];
  /** Returns what this process reports with each heartbeat. Its name is the same each time. */
  report(): ReplicaReport;
  /** Returns whether its last read of what the other replicas store succeeded; undefined: it reads nothing yet. */
  isCurrent(): boolean | undefined;
}

/** The work of this process on a unit. */
type UnitState =
  | { readonly type: 'taking' }
  | { readonly type: 'taken' | 'leading' | 'leaving'; readonly lead: HeldLead };

/** Interval of heartbeats within the length of a lease. */
const BEATS = 3;
/** Longest interval of heartbeats: a copy or a restore knows no length of a lease, and counts a replica as live for 15 s. */
const BEAT_MS_MAX = 5_000;
/** Interval at which the leaders are read: the signal of a release may be lost. */
const POLL_MS = 500;
/** Shortest interval of two steps: many signals at once cause one step. */
const SPACING_MS = 50;
/** Units that are taken at once: each needs connections to the database. */
const TAKES_MAX = 3;
/**
 * A unit moves to make replicas even only after the group was the same for this many leases: during a rolling update, it would move
 * again soon.
 */
const STEADY_LEASES = 4;

/**
 * Decides which units this process leads, together with the other replicas: they read the same heartbeats and leases, and compute the
 * same division of the units. Only a lease gives the right to write; the division decides who tries to take it.
 */
export class ReplicaLeadership implements Leadership {
  readonly isShared = true;
  readonly sendMarginMs: number;
  /**
   * Resolves when this process must end: another version has migrated the ledger, or controllers of another source have it. Rejects
   * because of a bug.
   */
  readonly failed: Promise<PortolanError>;
  readonly #options: ReplicaLeadershipOptions;
  readonly #fail: (error: unknown) => void;
  readonly #listeners = new Set<LeadListener>();
  readonly #states = new Map<LeaseUnit, UnitState>();
  /** Since when a unit has no leader, as this process observed it. */
  readonly #freeSince = new Map<LeaseUnit, MonotonicMs>();
  /** Units whose work has not ended although their lease has: taken before that, they would be read as this process left them. */
  readonly #ending = new Set<LeaseUnit>();
  /** When this process may try to take a unit again. */
  readonly #retryAt = new Map<LeaseUnit, MonotonicMs>();
  readonly #ability: Ability;
  /** The ability that the last heartbeat reported: the others divide the units by it. */
  #couldTake = true;
  #live: readonly LiveReplica[] = [];
  /** When the next heartbeat is due, and how many failed since the last one that did not. */
  #beatDueMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  #missed = 0;
  /** The error of the database that was logged last; undefined: it has answered since. */
  #refusal: string | undefined;
  #composition = { key: '', sinceMs: Number.NEGATIVE_INFINITY };
  #units: readonly LeaseUnit[] = [];
  #isDraining = false;
  /** Resolves once the other replicas can know that this one ends, so that none leaves a unit to it. */
  #announced: Promise<unknown> = Promise.resolve();
  /** Units that are being taken or handed over. */
  readonly #tasks = new Set<Promise<void>>();
  readonly #over = new AbortController();
  #wakeUp: (() => void) | undefined;
  #isWoken = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReplicaLeadershipOptions) {
    const { leaseMs, clock } = options;
    this.#options = options;
    this.#ability = new Ability(clock, leaseMs);
    this.sendMarginMs = sendMarginMs(leaseMs);
    const failed = Promise.withResolvers<PortolanError>();
    this.failed = failed.promise;
    this.#fail = (error) => (error instanceof PortolanError ? failed.resolve(error) : failed.reject(error));
  }

  of(unit: LeaseUnit): Lead | undefined {
    const state = this.#states.get(unit);
    return state?.type === 'leading' && !state.lead.over.aborted ? state.lead : undefined;
  }

  held(unit: LeaseUnit): Lead | undefined {
    const state = this.#states.get(unit);
    const isHeld = state?.type === 'leading' || state?.type === 'leaving';
    return isHeld && !state.lead.over.aborted ? state.lead : undefined;
  }

  onChange(listener: LeadListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    const stopListening = this.#options.shared.onSignal((topic) => {
      if (topic === 'lease') this.wake(true);
    });
    this.#running = this.#run()
      .catch(this.#fail)
      .finally(() => stopListening());
  }

  /** Lets the next step begin at once. @param hasChanged the replicas are read too. */
  wake(hasChanged = false): void {
    if (hasChanged) this.#beatDueMs = Number.NEGATIVE_INFINITY;
    this.#isWoken = true;
    this.#wakeUp?.();
  }

  /** Takes no unit any more, and hands each over as soon as its work has ended. Resolves when this process leads none. */
  async drain(): Promise<void> {
    const { shared, log } = this.#options;
    this.#isDraining = true;
    this.#announced = shared.beat(this.#report(false), true).catch(expected);
    for (const state of this.#states.values()) if (state.type === 'leading') this.#leave(state.lead, 'stopped');
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    this.#over.abort();
    this.wake();
    await this.#running;
    await shared.leave().catch((error: unknown) => {
      if (!(error instanceof PortolanError)) throw error;
      log.debug('the other controllers notice the end of this one by its heartbeat', { why: error.message });
    });
  }

  async #run(): Promise<void> {
    const { clock, leaseMs, observer } = this.#options;
    while (!this.#over.signal.aborted) {
      let waitMs: number;
      try {
        waitMs = await this.#step();
      } catch (error) {
        if (!(error instanceof PortolanError) || isLedgerPast(error)) throw error;
        this.#ability.noteRead(false);
        this.#giveUp();
        observer.databaseAsked(false);
        this.#logRefusal(error);
        waitMs = Math.max(0, Math.min(POLL_MS, leaseMs / BEATS, this.#beatDueMs - clock.monotonic()));
      }
      await clock.sleep(Math.min(SPACING_MS, leaseMs / 100));
      await this.#wait(waitMs);
    }
  }

  /** Logs once why the database does not accept the heartbeats of this process. Without them, it takes no unit. */
  #logRefusal({ message, code, remedy }: PortolanError): void {
    if (this.#refusal === code) return;
    this.#refusal = code;
    this.#options.log.warn(`takes no platform until the database accepts its heartbeats: ${message}`, { code, remedy });
  }

  /** Waits until the time has passed, or `wake` is called. */
  async #wait(ms: number): Promise<void> {
    const stop = new AbortController();
    this.#wakeUp = () => stop.abort();
    try {
      if (!this.#isWoken && !this.#over.signal.aborted) await this.#options.clock.sleep(ms, stop.signal);
    } catch {
      // Woken.
    } finally {
      this.#isWoken = false;
      this.#wakeUp = undefined;
    }
  }

  /** Reads the group, and begins what follows from it. @returns the time until the next step. */
  async #step(): Promise<number> {
    const { shared, clock, leaseMs, observer, isCurrent } = this.#options;
    const hasChanged = this.#ability.canTake !== this.#couldTake;
    // After one that was missed, nothing else is asked first: that could wait for long.
    if (this.#missed > 0 || hasChanged || clock.monotonic() >= this.#beatDueMs) await this.#beat();
    const rows = await shared.leaders();
    this.#ability.noteRead(isCurrent() !== false);
    this.#giveUp();
    observer.databaseAsked(true);
    this.#refusal = undefined;
    this.#noteGroup();
    if (!this.#isDraining && !this.#over.signal.aborted) this.#decide(rows);
    const soonMs = Math.min(...rows.flatMap(({ leftMs }) => (leftMs > 0 ? [leftMs + 1] : [])));
    return Math.min(POLL_MS, leaseMs / BEATS, soonMs);
  }

  /** Repeats a failed heartbeat soon: a replica without one gets no units, and after a lease it counts as gone. */
  async #beat(): Promise<void> {
    const { shared, clock, random, leaseMs, ...own } = this.#options;
    const { canTake: isAble } = this.#ability;
    this.#beatDueMs = clock.monotonic() + Math.min(leaseMs / BEATS, BEAT_MS_MAX);
    try {
      this.#live = (await shared.beat(this.#report(isAble), this.#isDraining)).filter((one) => !areRivals(one, own));
      this.#couldTake = isAble;
      this.#missed = 0;
    } catch (error) {
      this.#missed += 1;
      this.#beatDueMs = clock.monotonic() + Math.min(retryWithin(leaseMs, this.#missed, random), BEAT_MS_MAX);
      throw error;
    }
  }

  #report(isAble: boolean): ReplicaReport {
    const report = this.#options.report();
    return { ...report, facts: { ...(report.facts as object), canTake: isAble } };
  }

  #group(): GroupState {
    return { own: this.#report(this.#couldTake), live: this.#live, leaseMs: this.#options.leaseMs };
  }

  /** Gives all units to the others, if one of them can read and this process cannot. */
  #giveUp(): void {
    const { log } = this.#options;
    if (!this.#ability.isBlind || !reachableOthers(this.#group()).some(canTake)) return;
    for (const state of this.#states.values())
      if (state.type === 'leading') {
        log.warn(`gives up ${state.lead.unit}: it cannot read the database, and another controller can`);
        this.#leave(state.lead, 'handed-over');
      }
  }

  #noteGroup(): void {
    const key = JSON.stringify(this.#live.map(({ name, version, isDraining }) => [name, version, isDraining]).sort());
    if (key !== this.#composition.key) this.#composition = { key, sinceMs: this.#options.clock.monotonic() };
  }

  /** Takes, hands over and gives up units. */
  #decide(rows: readonly UnitLeader[]): void {
    const { clock, leaseMs, observer, units: unitsOf, ...own } = this.#options;
    const now = clock.monotonic();
    // The database gives this process no unit until they all have ended. Once it starts again, it waits for that and is not ready.
    const rival = rows.find((row) => row.leftMs > 0 && areRivals(row, own));
    if (rival !== undefined && this.#states.size === 0) return this.#fail(otherSource(rival));
    const units = unitsOf();
    if (units.join('\n') !== this.#units.join('\n')) observer.units(units);
    this.#units = units;
    for (const state of this.#states.values())
      if (state.type === 'leading' && !units.includes(state.lead.unit)) this.#leave(state.lead, 'handed-over');
    const view = viewOf(this.#group(), units, rows, this.#states.keys());
    const { name } = this.#options.report();
    const assigned = assignFree(view);
    for (const unit of units) {
      // Another replica has taken it since this one lost it or handed it over.
      if ((view.leaders.get(unit) ?? name) !== name) this.#retryAt.delete(unit);
      if (view.leaders.has(unit)) this.#freeSince.delete(unit);
      else if (!this.#freeSince.has(unit)) this.#freeSince.set(unit, now);
      if (view.leaders.has(unit) || this.#ending.has(unit) || now < (this.#retryAt.get(unit) ?? 0)) continue;
      // The replica that should take it may not know the platform yet, or may hang.
      const isLate = now - (this.#freeSince.get(unit) ?? now) >= leaseMs;
      if ((assigned.get(unit) === name || isLate) && this.#taking() < TAKES_MAX)
        this.#begin(this.#take(unit, endOf(rows.find((row) => row.unit === unit))));
    }
    const move = this.#isSteady(now) ? nextMove(view) : undefined;
    const state = move?.from === name ? this.#states.get(move.unit) : undefined;
    const isHandingOver = [...this.#states.values()].some(({ type }) => type === 'leaving');
    if (state?.type === 'leading' && !isHandingOver) this.#leave(state.lead, 'handed-over');
  }

  #isSteady(now: MonotonicMs): boolean {
    const versions = new Set(this.#live.map(({ version }) => version));
    return versions.size === 1 && now - this.#composition.sinceMs >= STEADY_LEASES * this.#options.leaseMs;
  }

  #taking(): number {
    return [...this.#states.values()].filter(({ type }) => type === 'taking' || type === 'taken').length;
  }

  async #take(unit: LeaseUnit, from: LeaseFacts['from']): Promise<void> {
    const { shared, clock, log, observer, leaseMs } = this.#options;
    this.#states.set(unit, { type: 'taking' });
    let lead: HeldLead | undefined;
    try {
      const taken = await shared.lead(unit);
      lead = taken && new HeldLead(taken, (because) => observer.fenced(unit, because));
      if (lead === undefined) return;
      this.#states.set(unit, { type: 'taken', lead });
      await this.#notify({ type: 'taken', lead });
      if (lead.over.aborted || this.#isDraining) return;
      this.#ability.noteTake(true);
      this.#lead(lead, from);
      await this.#notify({ type: 'leading', lead });
    } catch (error) {
      if (!(error instanceof PortolanError) || isLedgerPast(error)) return this.#fail(error);
      this.#ability.noteTake(false);
      log.warn(`${unit} could not be taken: ${error.message}`, { code: error.code, remedy: error.remedy });
    } finally {
      if (this.#states.get(unit)?.type !== 'leading' && this.#states.get(unit)?.type !== 'leaving') {
        this.#retryAt.set(unit, clock.monotonic() + leaseMs / BEATS);
        this.#states.delete(unit);
        await lead?.ledger.close().catch(expected);
      }
      this.wake();
    }
  }

  #lead(lead: HeldLead, from: LeaseFacts['from']): void {
    const { log, observer, leaseMs, clock } = this.#options;
    const { unit } = lead;
    this.#states.set(unit, { type: 'leading', lead });
    this.#freeSince.delete(unit);
    this.#retryAt.delete(unit);
    log.info(`leads ${unit} (${from}), epoch ${lead.ledger.epoch}`);
    observer.led({ unit, from, validUntilMs: () => lead.validUntilMs() });
    const lost = (): void => {
      const state = this.#states.get(unit);
      if (state === undefined || state.type === 'taking' || state.lead !== lead || state.type === 'leaving') return;
      this.#retryAt.set(unit, clock.monotonic() + leaseMs / BEATS);
      logLost(lead, this.#options.log);
      this.#ended(lead, 'lost');
    };
    lead.over.addEventListener('abort', lost, { once: true });
  }

  #leave(lead: HeldLead, because: LeaseEnd): void {
    this.#states.set(lead.unit, { type: 'leaving', lead });
    this.#begin(this.#release(lead, because));
  }

  #begin(task: Promise<void>): void {
    const tracked = task.catch(this.#fail).finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  /** Releases a unit once its work has ended. */
  async #release(lead: HeldLead, because: LeaseEnd): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#notify({ type: 'leaving', lead });
      await this.#announced;
    } catch (error) {
      if (!(error instanceof PortolanError)) return this.#fail(error);
      log.warn(error.message, { code: error.code, remedy: error.remedy });
    }
    if (lead.refusal?.code === 'ledger/replaced') {
      logLost(lead, this.#options.log);
      return this.#ended(lead, 'lost');
    }
    const isLost = lead.over.aborted;
    await lead.ledger.close().catch(expected);
    lead.end();
    // Until the other replica has had the time to take it.
    this.#retryAt.set(lead.unit, this.#options.clock.monotonic() + this.#options.leaseMs);
    log.info(`released ${lead.unit}`);
    this.#ended(lead, isLost ? 'lost' : because);
  }

  #ended(lead: HeldLead, because: LeaseEnd): void {
    this.#states.delete(lead.unit);
    this.#options.observer.yielded(lead.unit, because);
    this.#ending.add(lead.unit);
    this.#notify({ type: 'ended', lead })
      .then(() => this.#ending.delete(lead.unit), this.#fail)
      .finally(() => this.wake());
  }

  async #notify(change: LeadChange): Promise<void> {
    for (const listener of this.#listeners) await listener(change);
  }
}

/** Returns how the last leader of a unit ended. */
function endOf(last: UnitLeader | undefined): LeaseFacts['from'] {
  if (last === undefined) return 'free';
  return last.isReleased ? 'released' : 'expired';
}

/** The lease ends by itself where the database cannot be reached. @throws any other error. */
function expected(error: unknown): void {
  if (!(error instanceof PortolanError)) throw error;
}
