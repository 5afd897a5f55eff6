import { type Kysely, sql, type Transaction } from 'kysely';
import { fenced, type Holder, locked, newer, replaced, retiredLedger } from '../errors.ts';
import { PortolanError } from '../../model/errors.ts';
import type { MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Moment, momentOf, TimeLimit } from '../../runtime/time-limit.ts';
import { sendMarginMs } from '../send-margin.ts';
import { prepare } from '../queries.ts';
import { retired, retirementOf } from '../retirement.ts';
import type { LedgerTables } from '../schema.ts';
import { CommitUnanswered, explainPostgres, isServerError, postgresFault } from './faults.ts';
import type { Renewable, Renewals } from './renewals.ts';
import { databaseNow, type LeaseTable, type PostgresTables, WHOLE_LEDGER } from './tables.ts';

/** Time after its last sign at which another process may take a lease over. */
export const LEASE_MS = 15_000;
/** Interval of checks while a lease may still expire. */
const POLL_MS_MAX = 500;
/** Waits between attempts to find out whether a commit took place: about 10 s in all. */
const ASKING_MS = [50, 150, 300, 500, 1_000, 2_000, 3_000, 3_000] as const;

export interface LeaseParts {
  readonly db: Kysely<PostgresTables>;
  readonly renewals: Renewals;
  readonly location: string;
  readonly clock: Clock;
  /** Random id of this process. */
  readonly holder: string;
  readonly actor: string;
  readonly leaseMs: number;
  /** The part of the ledger that it covers: `WHOLE_LEDGER`, or a platform (`platformLease`). */
  readonly scope: string;
  /** The newest schema that this process knows. */
  readonly known: number;
}

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

class NotExpired extends Error {}

/** A row of a lease that this process has taken. */
interface Taken {
  readonly epoch: number;
  /** Serial of the last transaction of the former holder; 0: there was none. */
  readonly serial: number;
}

/** @returns undefined if another process was faster. */
async function takeOver({
  db,
  location,
  holder,
  actor,
  leaseMs,
  scope,
  known,
}: LeaseParts): Promise<Taken | undefined> {
  try {
    return await db.transaction().execute(async (transaction) => {
      // All takeovers of a ledger wait for this row, so that none of them misses the lease of another.
      const raised = await transaction
        .updateTable('meta')
        .set({ v: sql<string>`(v::bigint + 1)::text` })
        .where('k', '=', 'epoch')
        .returning((row) => [
          'v',
          row.selectFrom('meta as other').select('other.v').where('other.k', '=', 'schema').as('schema'),
        ])
        .executeTakeFirstOrThrow();
      const epoch = Number(raised.v);
      if (Number(raised.schema) > known) throw newer(location, Number(raised.schema), known);
      await endRivals(transaction, scope);
      const row = {
        holder,
        actor,
        epoch,
        since_ms: databaseNow,
        expires_ms: sql<number>`${databaseNow} + ${leaseMs}::bigint`,
      };
      // Waits for a transaction of the former holder, which holds the row until it ends.
      const taken = await transaction
        .insertInto('lease')
        .values({ scope, ...row, serial: 0 })
        .onConflict((on) => on.column('scope').doUpdateSet(row).where('lease.expires_ms', '<=', databaseNow))
        // This statement sees what happened while the first one waited, such as a copy of the ledger.
        .returning((row) => [
          'lease.serial',
          row.selectFrom('meta').select('meta.v').where('meta.k', '=', retired).as('retirement'),
        ])
        .executeTakeFirst();
      if (taken === undefined) throw new NotExpired();
      if (taken.retirement !== null) throw retiredLedger(location, retirementOf(taken.retirement));
      return { epoch, serial: taken.serial };
    });
  } catch (error) {
    if (error instanceof NotExpired) return undefined;
    throw error;
  }
}

/**
 * Ends the leases that a lease excludes. One that has expired stays valid until then. It is decided by one reading of the clock under the
 * locks of their rows: a lease that expired between two readings would be neither a rival nor ended.
 * @throws NotExpired if a process has one of them.
 */
async function endRivals(transaction: Transaction<PostgresTables>, scope: string): Promise<void> {
  const rivals = await transaction
    .selectFrom('lease')
    .select(['scope', sql<number>`expires_ms - ${databaseNow}`.as('left_ms')])
    .where('scope', scope === WHOLE_LEDGER ? '<>' : '=', WHOLE_LEDGER)
    .where('scope', '<>', scope)
    .where('holder', '<>', '')
    .forUpdate()
    .execute();
  if (rivals.some(({ left_ms: leftMs }) => leftMs > 0)) throw new NotExpired();
  if (rivals.length === 0) return;
  const scopes = rivals.map((rival) => rival.scope);
  await transaction.updateTable('lease').set({ holder: '' }).where('scope', 'in', scopes).execute();
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
    this.#queries = leaseQueries(parts.db);
    parts.renewals.add(this);
  }

  /**
   * Raises the serial of the ledger in a transaction that renews the lease.
   * @throws PortolanError `ledger/fenced` if another process has the lease, `ledger/replaced` if the ledger has lost transactions of this
   * process, whatever others have recorded since.
   */
  async fence(executor: Transaction<LedgerTables>): Promise<number> {
    const { holder, leaseMs, scope } = this.#parts;
    const raised = await this.#queries.raiseSerial(executor, {});
    const serial = Number(raised.rows[0]?.v ?? Number.NaN);
    const held = { scope, holder, epoch: this.epoch, serial, leaseMs, serials: this.#serials };
    if ((await this.#queries.hold(executor, held)).rows.length !== 1) throw await this.#refusal(executor);
    this.#pending = serial;
    return serial;
  }

  /** Returns why the row is not as this process left it. */
  async #refusal(executor: Transaction<LedgerTables>): Promise<PortolanError> {
    const { holder, location, scope } = this.#parts;
    const found = (await this.#queries.current(executor, { scope })).rows[0];
    const isOwn = found !== undefined && found.holder === holder && found.epoch === this.epoch && found.expires_ms > 0;
    if (!isOwn) {
      this.lose();
      return fenced(location, this.epoch, found?.epoch ?? 0);
    }
    const last = this.#serials.at(-1);
    return replaced(
      location,
      `the last record of ${scope} has the serial ${found.serial}, and ${last} was recorded`,
      'restored',
    );
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
      try {
        const found = await db
          .transaction()
          .execute((transaction) =>
            transaction
              .selectFrom('lease')
              .select(['epoch', 'serial'])
              .where('scope', '=', scope)
              .forUpdate()
              .executeTakeFirst(),
          );
        // The serial of a transaction that was rolled back may be that of a successor.
        if (found?.epoch !== this.epoch) throw takenOverUnanswered(location);
        return found.serial === serial;
      } catch (error) {
        const fault = error instanceof CommitUnanswered ? 'lost' : postgresFault(error);
        if (fault !== 'lost' && fault !== 'busy') throw error;
        await clock.sleep(waitMs);
      }
    }
    this.#serials = [...this.#serials, serial];
    throw unanswered;
  }

  /** Ends the leadership: another process has the lease. */
  lose(): void {
    this.#parts.renewals.remove(this);
    this.#over.abort();
  }

  /** Gives the lease up, so that the next process has it at once. Errors do not matter: the lease expires. */
  async release(): Promise<void> {
    const { db, holder, location, scope } = this.#parts;
    this.#parts.renewals.remove(this);
    this.#over.abort();
    try {
      await this.#queries.release(db, { scope, holder, epoch: this.epoch });
    } catch (error) {
      if (!isServerError(error) && !(explainPostgres(error, location) instanceof PortolanError)) throw error;
    }
  }
}

interface Holding {
  readonly serial: number;
  readonly leaseMs: number;
  /** The serials that the row may have: with any other one, the database has lost transactions of this process. */
  readonly serials: readonly number[];
}

function leaseQueries(db: Kysely<PostgresTables>) {
  type Held = Pick<LeaseTable, 'scope' | 'holder' | 'epoch'>;
  const own = ({ scope, holder, epoch }: Held) =>
    db
      .updateTable('lease')
      .where('scope', '=', scope)
      .where('holder', '=', holder)
      .where('epoch', '=', epoch)
      // A statement that arrives after the release must not bring the lease back.
      .where('expires_ms', '>', 0);
  const expiry = (leaseMs: number) => sql<number>`${databaseNow} + ${leaseMs}::bigint`;
  return {
    raiseSerial: prepare((_: object) =>
      db.updateTable('meta').set({ v: sql<string>`(v::bigint + 1)::text` }).where('k', '=', 'serial').returning('v'),
    ),
    hold: prepare((holes: Held & Holding) =>
      own(holes)
        .where('serial', '=', sql<number>`any(${holes.serials}::bigint[])`)
        .set({ serial: holes.serial, expires_ms: expiry(holes.leaseMs) })
        .returning('scope'),
    ),
    release: prepare((holes: Held) => own(holes).set({ expires_ms: 0 }).returning('scope')),
    current: prepare(({ scope }: Pick<LeaseTable, 'scope'>) =>
      db.selectFrom('lease').select(['holder', 'epoch', 'serial', 'expires_ms']).where('scope', '=', scope),
    ),
  };
}

function takenOverUnanswered(location: string): PortolanError {
  return new PortolanError({
    code: 'ledger/fenced',
    disposition: 'locked',
    message: `Another process took the ledger ${location} over while a commit was not answered. The transaction is recorded as a whole or not at all.`,
    remedy: 'Stop this process. The process that holds the ledger now resolves what was in flight.',
  });
}
