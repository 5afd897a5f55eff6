import { type Kysely, sql } from 'kysely';
import { missing } from '../errors.ts';
import { migrations, newestSchema } from '../migrations.ts';
import type { Ledger, LedgerTransaction } from '../ledger.ts';
import type { SqlLedger } from '../sql-ledger.ts';
import { parseScopeKey } from '../../model/ids.ts';
import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import { older } from '../errors.ts';
import { explainPostgres } from './faults.ts';
import { type Lease, LEASE_MS, tryLease } from './lease.ts';
import { databaseOf, ensureTables, ledgerOf, mustBeDurable, type PostgresLedgerOptions } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { databaseNow, platformLease, type PostgresTables, readPostgresStanding, WHOLE_LEDGER } from './tables.ts';

/** A platform that this process leads: it alone writes the records of that platform. */
export interface LedPlatform {
  readonly platform: string;
  /** Takes only transactions of the platform. Closing it gives the platform to other processes at once. */
  readonly ledger: Ledger;
  /** Until then, no other process can lead the platform, on the monotonic clock of this process. */
  validUntilMs(): MonotonicMs;
}

/** A process that leads a platform, as every process sees it. Times are of the database. */
export interface PlatformLeader {
  readonly platform: string;
  readonly actor: string;
  readonly epoch: number;
  readonly sinceMs: EpochMs;
  /** Not positive: it gave no sign for the length of a lease, or has released the platform. */
  readonly leftMs: number;
}

/**
 * A ledger that several processes write, each of them the platforms that it leads. Each change of a leader raises the epoch of the
 * ledger; a process whose lease another process took over is fenced in its next transaction.
 */
export class SharedLedger {
  /** Reads the records of all platforms. */
  readonly reader: SqlLedger;
  readonly #db: Kysely<PostgresTables>;
  readonly #access: PostgresAccess;
  readonly #options: PostgresLedgerOptions;
  readonly #led = new Set<SqlLedger>();

  private constructor(
    db: Kysely<PostgresTables>,
    access: PostgresAccess,
    options: PostgresLedgerOptions,
    reader: SqlLedger,
  ) {
    this.#db = db;
    this.#access = access;
    this.#options = options;
    this.reader = reader;
  }

  /**
   * Creates the tables where there are none; a ledger of an older schema is migrated by `ledger migrate` before.
   * @throws PortolanError as `openPostgresLedger`, but never `ledger/locked`.
   */
  static async open(access: PostgresAccess, options: PostgresLedgerOptions): Promise<SharedLedger> {
    const { location, schema } = access.address;
    const db = await databaseOf(access);
    try {
      await mustBeDurable(db, location);
      await ensureTables(db, access, options);
      const standing = await readPostgresStanding(db, schema);
      if (standing === undefined) throw missing(location);
      const known = newestSchema(migrations);
      if (standing.schema < known) throw older(location, standing.schema, known);
      const reader = ledgerOf(db, location, standing, options, undefined, async () => {});
      return new SharedLedger(db, access, options, reader);
    } catch (error) {
      await db.destroy();
      throw explainPostgres(error, location);
    }
  }

  /** Takes the lease of a platform. @returns undefined while another process has it, or has the whole ledger. */
  async lead(platform: string): Promise<LedPlatform | undefined> {
    const { location } = this.#access.address;
    const { clock, random, actor, leaseMs = LEASE_MS } = this.#options;
    let lease: Lease | undefined;
    try {
      lease = await tryLease({
        db: this.#db,
        openControl: () => databaseOf(this.#access, { connections: 1 }),
        location,
        clock,
        holder: random.hex(16),
        actor,
        leaseMs,
        scope: platformLease(platform),
      });
    } catch (error) {
      throw explainPostgres(error, location);
    }
    if (lease === undefined) return undefined;
    const held = lease;
    const { lineage } = this.reader;
    const ledger: SqlLedger = ledgerOf(
      this.#db,
      location,
      { lineage, epoch: held.epoch },
      { clock },
      held,
      async () => {
        this.#led.delete(ledger);
      },
    );
    this.#led.add(ledger);
    return { platform, ledger: ofPlatform(ledger, platform), validUntilMs: () => held.validUntilMs };
  }

  /** Returns the last leader of each platform, by name. */
  async leaders(): Promise<readonly PlatformLeader[]> {
    try {
      const rows = await this.#db
        .selectFrom('lease')
        .selectAll()
        .select(sql<number>`expires_ms - ${databaseNow}`.as('left_ms'))
        .where('scope', '<>', WHOLE_LEDGER)
        .orderBy('scope')
        .execute();
      return rows.map(({ scope, actor, epoch, since_ms: sinceMs, left_ms: leftMs }) => {
        return { platform: scope.replace(/^platform:/, ''), actor, epoch, sinceMs, leftMs };
      });
    } catch (error) {
      throw explainPostgres(error, this.#access.address.location);
    }
  }

  /** Gives up every platform. */
  async close(): Promise<void> {
    try {
      await Promise.all([...this.#led].map((ledger) => ledger.close()));
    } finally {
      await this.reader.close();
      await this.#db.destroy();
    }
  }
}

/** Returns the ledger as its platform's leader sees it. */
function ofPlatform(ledger: SqlLedger, platform: string): Ledger {
  return {
    location: ledger.location,
    lineage: ledger.lineage,
    epoch: ledger.epoch,
    objects: (filter) => ledger.objects(filter),
    objectCount: (filter) => ledger.objectCount(filter),
    intents: (filter) => ledger.intents(filter),
    history: (filter) => ledger.history(filter),
    scopes: () => ledger.scopes(),
    fact: (key) => ledger.fact(key),
    lastSnapshot: (source) => ledger.lastSnapshot(source),
    close: () => ledger.close(),
    async commit(transaction: LedgerTransaction) {
      if (platformOf(transaction.scope) !== platform)
        throw new RangeError(
          `a transaction of ${transaction.scope} needs the lease of its own platform, not of ${platform}`,
        );
      await ledger.commit(transaction);
    },
  };
}

function platformOf(scope: string): string | undefined {
  return parseScopeKey(scope)?.platform ?? /^platform:(.+)$/.exec(scope)?.[1];
}
