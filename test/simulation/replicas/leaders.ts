import type { LedgerTransaction } from '../../../src/ledger/ledger.ts';
import { type Commit, descendsFrom } from '../drivers/git.ts';
import { defaultSettings } from '../../../src/configuration/configuration.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import { coveredMs } from '../spans.ts';
import { CLOCK_ERROR, type ReplicaSurroundings } from './surroundings.ts';

/** Time after which a process that hands over waits no longer for its work, by its clock. */
const DRAIN_MS = defaultSettings().controller.drainTimeoutMs / (1 + CLOCK_ERROR);

interface Term {
  readonly replica: string;
  readonly fromMs: number;
  untilMs: number | undefined;
}

/** Who leads what in truth, and what follows from that. */
export class Leaders {
  readonly #world: ReplicaSurroundings;
  readonly #units = new Map<string, { readonly epoch: number; readonly replica: string }>();
  /** When each unit was led under a lease that had not ended, by a process that may have died meanwhile. */
  readonly #terms = new Map<string, Term[]>();
  #accepted: { readonly commit: Commit; readonly at: number } | undefined;
  takeovers = 0;

  constructor(world: ReplicaSurroundings) {
    this.#world = world;
  }

  /** @param expiresMs when the lease before this one would have ended or did, by the clock of the database; 0: it was given up. */
  took(unit: string, epoch: number, replica: string, expiresMs: number): void {
    const { timeline, database } = this.#world;
    this.#endTerm(unit, timeline.nowMs - Math.max(0, database.nowMs() - expiresMs));
    this.#termsOf(unit).push({ replica, fromMs: timeline.nowMs, untilMs: undefined });
    const former = this.#units.get(unit);
    if (former !== undefined) {
      if (epoch <= former.epoch) this.#world.violate('I-MONO', `${unit} got epoch ${epoch} after ${former.epoch}`);
      if (former.replica !== replica) this.takeovers += 1;
    }
    for (const other of this.#world.alive)
      if (other.name !== replica && other.mayWrite(unit as LeaseUnit))
        this.#world.violate('I-LEAD', `${other.name} still takes its lease of ${unit} for valid`);
    this.#units.set(unit, { epoch, replica });
    this.#world.named(replica)?.takes(epoch);
    this.#world.note(`${replica} takes ${unit} under epoch ${epoch}`);
  }

  /** A lease is given up only when nothing is in flight under it, or when that took too long. */
  released(unit: string, epoch: number): void {
    const { timeline, truth, alive } = this.#world;
    this.#endTerm(unit, timeline.nowMs);
    for (const { intent, isAnswered, sentMs, controller } of truth.sent) {
      if (intent.epoch !== epoch || isAnswered || timeline.nowMs - sentMs >= DRAIN_MS) continue;
      if (alive.some(({ number }) => number === controller))
        this.#world.violate('I-HAND', `${unit} was given up with ${intent.operation} ${intent.id} in flight`);
    }
  }

  #termsOf(unit: string): Term[] {
    const terms = this.#terms.get(unit) ?? [];
    this.#terms.set(unit, terms);
    return terms;
  }

  #endTerm(unit: string, atMs: number): void {
    const term = this.#termsOf(unit).at(-1);
    if (term !== undefined) term.untilMs ??= atMs;
  }

  /** Returns how much of the time between two moments a living process led the unit. */
  ledMs(unit: string, fromMs: number, toMs: number): number {
    const spans = this.#termsOf(unit).map(({ replica, fromMs: beganMs, untilMs }) => {
      const diedMs = this.#world.named(replica)?.life.untilMs ?? toMs;
      return { fromMs: beganMs, untilMs: Math.min(untilMs ?? toMs, diedMs) };
    });
    return coveredMs(spans, fromMs, toMs);
  }

  /** The database takes a transaction: only from who took the lease last. */
  committed(
    { operations }: LedgerTransaction,
    { unit, epoch }: { readonly unit: string; readonly epoch: number },
    replica: string,
  ): void {
    const now = this.#units.get(unit);
    if (now?.epoch !== epoch || now.replica !== replica)
      this.#world.violate(
        'I-FENCE',
        `${replica} wrote ${unit} under epoch ${epoch}, which ${now?.replica} has under epoch ${now?.epoch}`,
      );
    for (const operation of operations)
      if (operation.op === 'accept-snapshot') this.#accepts(operation.snapshot.commit, replica);
  }

  /** What is accepted never goes back to what the branch showed before. */
  #accepts(id: string, replica: string): void {
    const { git } = this.#world;
    const commit = git.commitOf(id);
    if (commit === undefined) return;
    const former = this.#accepted;
    const at = git.lastShown(id);
    if (former !== undefined && former.commit !== commit && at < former.at && descendsFrom(former.commit, id))
      this.#world.violate('I-BACK', `${replica} accepted ${id.slice(-4)} after ${former.commit.id.slice(-4)}`);
    this.#accepted = { commit, at: git.firstShown(id) };
  }

  /** A write leaves: its sender leads the platform, by the clock of the database. */
  sends(platform: string, replica: string, epoch: number): void {
    const unit = `platform:${platform}`;
    const now = this.#units.get(unit);
    const { leases, nowMs } = this.#world.database;
    if (now?.replica !== replica || now.epoch !== epoch)
      this.#world.violate(
        'I-LEAD',
        `${replica} sends to ${platform} under epoch ${epoch}, which ${now?.replica} leads`,
      );
    else if ((leases.rows.get(unit)?.expiresMs ?? 0) <= nowMs())
      this.#world.violate('I-LEAD', `${replica} sends to ${platform} after the end of its lease`);
  }

  /** Once all is well, every unit has exactly one leader. */
  compare(units: readonly LeaseUnit[]): void {
    for (const fault of this.#faults(units)) this.#world.violate('L-LEAD', fault);
  }

  areClear(units: readonly LeaseUnit[]): boolean {
    return this.#faults(units).length === 0;
  }

  #faults(units: readonly LeaseUnit[]): string[] {
    const { database, alive } = this.#world;
    const faults: string[] = [];
    for (const unit of units) {
      const row = database.leases.rows.get(unit);
      const holder = database.holders.get(unit)?.replica;
      if (row === undefined || row.expiresMs <= database.nowMs()) faults.push(`${unit} has no leader`);
      const leading = alive.filter((replica) => replica.leads(unit)).map(({ name }) => name);
      if (leading.length !== 1 || leading[0] !== holder)
        faults.push(`${unit} is led by ${leading.join(', ') || 'none'}, and its lease has ${holder}`);
    }
    return faults;
  }
}
