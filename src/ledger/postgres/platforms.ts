import { type Kysely, sql } from 'kysely';
import { missing } from '../errors.ts';
import { migrations, newestSchema } from '../migrations.ts';
import type { Ledger, LedgerOperation, LedgerTransaction } from '../ledger.ts';
import type { Lead, LeaseUnit, UnitLeader } from '../shared.ts';
import type { SqlLedger } from '../sql-ledger.ts';
import { parseScopeKey } from '../../model/ids.ts';
import { older } from '../errors.ts';
import { explainPostgres } from './faults.ts';
import { type Lease, LEASE_MS, tryLease } from './lease.ts';
import { databaseOf, ensureTables, ledgerOf, mustBeDurable, type PostgresLedgerOptions } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { databaseNow, type PostgresTables, readPostgresStanding, WHOLE_LEDGER } from './tables.ts';

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

  /** Takes the lease of a unit. @returns undefined while another process has it, or has the whole ledger. */
  async lead(unit: LeaseUnit): Promise<Lead | undefined> {
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
        scope: unit,
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
    return { unit, ledger: ofUnit(ledger, unit), validUntilMs: () => held.validUntilMs, over: held.over };
  }

  /** Returns the last leader of each unit, by its name. */
  async leaders(): Promise<readonly UnitLeader[]> {
    try {
      const rows = await this.#db
        .selectFrom('lease')
        .selectAll()
        .select(sql<number>`expires_ms - ${databaseNow}`.as('left_ms'))
        .where('scope', '<>', WHOLE_LEDGER)
        .orderBy('scope')
        .execute();
      return rows.map(({ scope, actor, epoch, since_ms: sinceMs, left_ms: leftMs }) => {
        return { unit: scope as LeaseUnit, replica: actor, actor, epoch, sinceMs, leftMs };
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

/** Returns the ledger as the leader of a unit sees it. */
function ofUnit(ledger: SqlLedger, unit: LeaseUnit): Ledger {
  return {
    location: ledger.location,
    lineage: ledger.lineage,
    epoch: ledger.epoch,
    objects: (filter) => ledger.objects(filter),
    objectCount: (filter) => ledger.objectCount(filter),
    ownedScopes: (source) => ledger.ownedScopes(source),
    intents: (filter) => ledger.intents(filter),
    history: (filter) => ledger.history(filter),
    scopes: () => ledger.scopes(),
    fact: (key) => ledger.fact(key),
    lastSnapshot: (source) => ledger.lastSnapshot(source),
    close: () => ledger.close(),
    async commit(transaction: LedgerTransaction) {
      mustBelong(transaction, unit);
      await ledger.commit(transaction);
    },
  };
}

/** @throws RangeError for a transaction that the lease of the unit does not cover: see `Lead.ledger`. */
function mustBelong({ scope, operations }: LedgerTransaction, unit: LeaseUnit): void {
  if (scope === unit) return;
  const platform = /^platform:(.+)$/.exec(unit)?.[1];
  if (platform !== undefined) {
    if (parseScopeKey(scope)?.platform === platform) return;
    if (scope.startsWith('source:') && operations.every((operation) => isShared(operation, platform))) return;
  }
  throw new RangeError(`a transaction of ${scope} needs another lease than the one of ${unit}`);
}

/** Whether the leader of a platform may write it beside the leaders of other platforms and of the source. */
function isShared(operation: LedgerOperation, platform: string): boolean {
  if (operation.op === 'record') return true;
  return (
    operation.op === 'set-fact' && (operation.was !== undefined || operation.key.split(/[ /:]/).includes(platform))
  );
}
