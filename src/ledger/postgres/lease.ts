import { type Kysely, sql, type Transaction } from 'kysely';
import { fenced, type Holder, locked, replaced } from '../errors.ts';
import { PortolanError } from '../../model/errors.ts';
import type { MonotonicMs } from '../../model/time.ts';
import { type Moment, momentOf, TimeLimit } from '../../runtime/time-limit.ts';
import { whileBusy } from '../patience.ts';
import { sendMarginMs } from '../send-margin.ts';
import type { LedgerTables } from '../schema.ts';
import { CommitUnanswered, explainPostgres, isServerError, postgresFault } from './faults.ts';
import { leaseQueries } from './lease-queries.ts';
import { recordLoss, RecordsLost } from './records-lost.ts';
import type { Renewable } from './renewals.ts';
import { databaseNow, type LeaseTable, type PostgresTables } from './tables.ts';
import { type LeaseParts, type Taken, takeOver } from './takeover.ts';

/** Time after its last sign at which another process may take a lease over. */
export const LEASE_MS = 15_000;
/** Interval of checks while a lease may still expire. */
const POLL_MS_MAX = 500;
/** Waits between attempts to find out whether a commit took place: about 10 s in all. */
const ASKING_MS = [50, 150, 300, 500, 1_000, 2_000, 3_000, 3_000] as const;

/** Time within which a release is attempted again. It is short: a process that ends waits for it. */
const RELEASING_MS_MAX = 1_000;

/**
 * Takes the lease of a ledger. If its holder gives no sign, that is after a crash, it waits until the lease expires.
 * @throws PortolanError `ledger/locked` once the holder has renewed it.
 */
export async function acquireLease(parts: LeaseParts): Promise<Lease> {
  for (;;) {
    await whenExpired(parts);
    const lease = await tryLease(parts);
    if (lease !== undefined) return lease;
  }
}

/**
 * Takes a lease that no process has.
 * @returns undefined if another process has it, or one that excludes it.
 * @throws PortolanError `ledger/newer` once a newer version of Portolan has migrated the ledger.
 */
export async function tryLease(parts: LeaseParts): Promise<Lease | undefined> {
  const before = momentOf(parts.clock);
  const taken = await takeOver(parts);
  return taken && new Lease(parts, taken, before);
}

/** The last sign of life of a process. */
export interface Sign extends Pick<LeaseTable, 'actor' | 'since_ms' | 'expires_ms'> {
  /** Time until it expires. */
  readonly left_ms: number;
}

/**
 * Waits until the last sign of all processes expires: by default, until the last lease does.
 * @throws PortolanError `ledger/locked` once a process has given another sign.
 */
export async function whenExpired({
  db,
  location,
  clock,
  read = () => readLease(db),
}: Pick<LeaseParts, 'db' | 'location' | 'clock'> & { readonly read?: () => Promise<Sign | undefined> }): Promise<void> {
  let seenMs: number | undefined;
  for (;;) {
    const found = await read();
    if (found === undefined || found.left_ms <= 0) return;
    if (seenMs !== undefined && found.expires_ms !== seenMs) throw locked(location, holderIn(found));
    seenMs = found.expires_ms;
    await clock.sleep(Math.min(found.left_ms + 1, POLL_MS_MAX));
  }
}

/**
 * Keeps other processes from taking a lease that has expired, until the transaction ends.
 * @throws PortolanError `ledger/locked` if a process has it.
 */
export async function blockLease(transaction: Transaction<PostgresTables>, location: string): Promise<void> {
  await transaction.updateTable('meta').set({ v: sql`v` }).where('k', '=', 'epoch').execute();
  await transaction.selectFrom('lease').select('scope').forUpdate().execute();
  const found = await readLease(transaction);
  if (found.left_ms > 0) throw locked(location, holderIn(found));
}

/** Ends leases that have expired, in a transaction that blocks them: a process that wakes up would renew its own. */
export async function endLeases(transaction: Transaction<PostgresTables>): Promise<void> {
  await transaction.updateTable('lease').set({ holder: '' }).execute();
}

/** Returns the lease that expires last: while any process has one, no other may have the whole ledger. */
async function readLease(db: Kysely<PostgresTables>): Promise<Sign> {
  return db
    .selectFrom('lease')
    .selectAll()
    .select(sql<number>`expires_ms - ${databaseNow}`.as('left_ms'))
    .orderBy('expires_ms', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
}

/** Names the process that gave a sign, for errors. */
export function holderIn({ actor, since_ms: sinceMs }: Sign): Holder {
  return { actor, sinceMs };
}

/**
 * The right of one process to write a ledger. Each transaction proves it: it renews the row of the lease only if holder and epoch
 * are its own, and a takeover waits for that row. No clock of a machine decides anything.
 */
export class Lease implements Renewable {
  readonly scope: string;
  readonly epoch: number;
  readonly #parts: LeaseParts;
  readonly #queries: ReturnType<typeof leaseQueries>;
  readonly #over = new AbortController();
  /** Possible serials of this process's last transaction. There are several after commits that may or may not have taken place. */
  #serials: readonly number[];
  /** The serial of the transaction under way. */
  #pending: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #validity: TimeLimit;
  /** Whether installs wait, whichever process continues, because the database has lost records of this one. */
  #isLossRecorded = false;
  #isBeingChecked = false;

  /** Until then, no other process can have taken the lease: it counts from before the last renewal was sent. */
  get validUntilMs(): MonotonicMs {
    return this.#validity.untilMs();
  }

  /** Until then, a request may leave: its first byte arrives before another process can have taken the lease. */
  get sendUntilMs(): MonotonicMs {
    return this.#over.signal.aborted ? Number.NEGATIVE_INFINITY : this.validUntilMs - sendMarginMs(this.#parts.leaseMs);
  }

  /** Aborted once the lease was released or refused. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** @param from before the request for the lease was sent. */
  constructor(parts: LeaseParts, { epoch, serial }: Taken, from: Moment) {
    this.#parts = parts;
    this.scope = parts.scope;
    this.epoch = epoch;
    this.#serials = [serial];
    this.#validity = new TimeLimit(parts.clock, parts.leaseMs, from);
    this.#queries = leaseQueries(parts.db, { ...parts, epoch });
    parts.renewals.add(this);
  }

  /**
   * Raises the serial of the ledger in a transaction that renews the lease.
   * @throws PortolanError `ledger/fenced` if another process has the lease, `ledger/replaced` if the ledger has lost transactions of this
   * process, whatever others have recorded since.
   */
  async fence(executor: Transaction<LedgerTables>): Promise<number> {
    const [held] = (await this.#queries.fence(executor, this.#serials)).rows;
    if (held === undefined) throw await this.#refusal(executor);
    this.#pending = held.serial;
    return held.serial;
  }

  /** Returns why the row is not as this process left it. */
  async #refusal(executor: Transaction<LedgerTables>): Promise<PortolanError | RecordsLost> {
    const { holder, location, scope } = this.#parts;
    const found = (await this.#queries.current(executor)).rows[0];
    const isOwn = found !== undefined && found.holder === holder && found.epoch === this.epoch && found.expires_ms > 0;
    const last = this.#serials.at(-1);
    if (isOwn)
      return new RecordsLost(
        `the last record of ${scope} has the serial ${found.serial}, and ${last} was recorded`,
        false,
      );
    if (found === undefined || this.#isForgotten(found))
      return new RecordsLost(`it has no record of the lease of ${scope} from epoch ${this.epoch} on`, true);
    this.lose();
    return fenced(location, this.epoch, found.epoch);
  }

  /** Whether the database has lost the takeover by this process, or what followed: epochs and serials only rise. */
  #isForgotten({ holder, epoch, serial }: Pick<LeaseTable, 'holder' | 'epoch' | 'serial'>): boolean {
    if (epoch < this.epoch || serial < Math.min(...this.#serials)) return true;
    // Each takeover has an epoch of its own. A restore and a rival, which end leases, leave no holder.
    return epoch === this.epoch && holder !== this.#parts.holder && holder !== '';
  }

  /** Runs the transactions of this process one after another: all of them need the row of the lease. */
  async transact<Result>(work: (executor: Transaction<LedgerTables>) => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(() => this.#transact(work));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #transact<Result>(work: (executor: Transaction<LedgerTables>) => Promise<Result>): Promise<Result> {
    const { db } = this.#parts;
    let result: { readonly value: Result } | undefined;
    this.#pending = undefined;
    const before = momentOf(this.#parts.clock);
    try {
      await db.transaction().execute(async (executor) => {
        result = { value: await work(executor as unknown as Transaction<LedgerTables>) };
      });
    } catch (error) {
      if (error instanceof RecordsLost) throw await this.#reportLoss(error);
      if (!(error instanceof CommitUnanswered) || result === undefined) throw error;
      // The cause ended the connection: what was not committed may be repeated.
      if (this.#pending === undefined || !(await this.#wasCommitted(this.#pending, error))) throw error.cause;
    }
    if (this.#pending !== undefined) {
      this.#serials = [this.#pending];
      this.renewedFrom(before);
    }
    return (result as { readonly value: Result }).value;
  }

  renewedFrom(before: Moment): void {
    this.#validity.renewedFrom(before);
  }

  /** Reads whether a transaction took place. The lock of the row waits until the server has ended that transaction. */
  async #wasCommitted(serial: number, unanswered: CommitUnanswered): Promise<boolean> {
    const { db, clock, location, scope } = this.#parts;
    for (const waitMs of ASKING_MS) {
      let found: Pick<LeaseTable, 'epoch' | 'serial'> | undefined;
      try {
        found = await db
          .transaction()
          .execute((transaction) =>
            transaction
              .selectFrom('lease')
              .select(['epoch', 'serial'])
              .where('scope', '=', scope)
              .forUpdate()
              .executeTakeFirst(),
          );
      } catch (error) {
        unlessBug(error, location);
        // Also a refusal says nothing about the transaction: the address may lead to a standby for a while.
        await clock.sleep(waitMs);
        continue;
      }
      // The serial of a transaction that was rolled back may be that of a successor.
      if (found?.epoch !== this.epoch) {
        this.check();
        throw takenOverUnanswered(location);
      }
      return found.serial === serial;
    }
    this.#serials = [...this.#serials, serial];
    throw unanswered;
  }

  /**
   * Keeps the lease, because a successor would not know what is lost, and makes installs wait in case this process ends.
   * @returns the error of the transaction that noticed the loss.
   */
  async #reportLoss({ message: what, isLeaseLost }: RecordsLost): Promise<PortolanError> {
    const { location, renewals } = this.#parts;
    if (isLeaseLost) {
      renewals.remove(this);
      await tryLease(this.#parts).catch((error: unknown) => unlessBug(error, location));
    }
    this.#isLossRecorded ||= await recordLoss(this.#parts, what).then(
      () => true,
      (error: unknown) => unlessBug(error, location),
    );
    const error = replaced(location, what, this.#isLossRecorded ? 'lost' : 'restored');
    if (isLeaseLost) this.lose(error);
    return error;
  }

  /** Finds out why its row is not that of this lease any more: another process took it, or the database lost it. */
  check(): void {
    if (this.#isBeingChecked) return;
    this.#isBeingChecked = true;
    const checked = this.transact((executor) => this.fence(executor))
      .catch((error: unknown) => unlessBug(error, this.#parts.location))
      .finally(() => (this.#isBeingChecked = false));
    this.#parts.renewals.track(checked);
  }

  /** Ends the leadership. @param reason undefined: another process has the lease. */
  lose(reason?: PortolanError): void {
    this.#parts.renewals.remove(this);
    this.#over.abort(reason);
  }

  /**
   * Gives the lease up, so that the next process has it at once. While the lease is valid, it tries again for a moment if the database is
   * out of reach. Other errors do not matter: the lease expires. So does one whose records the database has lost, which a process that
   * ends may notice only here.
   */
  async release(): Promise<void> {
    const { renewals, location, clock } = this.#parts;
    renewals.remove(this);
    this.#over.abort();
    const untilMs = Math.min(this.validUntilMs, clock.monotonic() + RELEASING_MS_MAX);
    try {
      if (await whileBusy(() => this.#release(), postgresFault, clock, untilMs)) return;
      await this.transact((executor) => this.fence(executor));
      // Nothing is lost: more than one transaction was under way.
      await this.#release();
    } catch (error) {
      unlessBug(error, location);
    }
  }

  /** @returns whether the row was as this process left it, also by a transaction under way. */
  async #release(): Promise<boolean> {
    const serials = this.#pending === undefined ? this.#serials : [...this.#serials, this.#pending];
    return (await this.#queries.release(this.#parts.db, serials)).rows.length > 0;
  }
}

/** @throws an error that is none of the database. */
function unlessBug(error: unknown, location: string): false {
  if (!isServerError(error) && !(explainPostgres(error, location) instanceof PortolanError)) throw error;
  return false;
}

function takenOverUnanswered(location: string): PortolanError {
  return new PortolanError({
    code: 'ledger/fenced',
    disposition: 'locked',
    message: `Another process took the ledger ${location} over while a commit was not answered. The transaction is recorded as a whole or not at all.`,
    remedy: 'Stop this process. The process that holds the ledger now resolves what was in flight.',
  });
}
