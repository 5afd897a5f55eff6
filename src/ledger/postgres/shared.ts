import { type Kysely, sql } from 'kysely';
import { missing, otherSource } from '../errors.ts';
import { areRivals, holderText, readHolder } from '../lease-holder.ts';
import type { Ledger } from '../ledger.ts';
import { migrations, newestSchema } from '../migrations.ts';
import type {
  ChangedFacts,
  Lead,
  LeaseUnit,
  LiveReplica,
  ReplicaReport,
  SharedCommands,
  SharedEvents,
  SharedLedger,
  SharedSessions,
  SignalTopic,
  UnitLeader,
} from '../shared.ts';
import type { SqlLedger } from '../sql-ledger.ts';
import { explainPostgres } from './faults.ts';
import { tryLease, LEASE_MS } from './lease.ts';
import {
  databaseOf,
  idleWithin,
  ledgerOf,
  migrateBeside,
  mustBeWritable,
  ensureTables,
  type PostgresLedgerOptions,
  renewalsOf,
} from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { mustHavePrivileges, strongRole } from './privileges.ts';
import type { Renewals } from './renewals.ts';
import { changedFacts, SharedData } from './shared-data.ts';
import { sharedCommands } from './shared-commands.ts';
import { Signals } from './signals.ts';
import { databaseNow, type LeaseTable, type PostgresTables, readPostgresStanding, WHOLE_LEDGER } from './tables.ts';
import { ofUnit } from '../unit-ledger.ts';

export interface SharedLedgerOptions extends PostgresLedgerOptions {
  /** Name of this replica, without spaces. */
  readonly replica: string;
  /** The source that it works on; undefined: it works beside any other. */
  readonly source?: string | undefined;
  /**
   * Called when leases could not be renewed for half of their length, with the reason (a PortolanError, or an error of an unknown class),
   * and with undefined once they are renewed again.
   */
  readonly onRenewals?: (failure: unknown) => void;
  /** Called with what the database has lost of that which this process has read, once it is recorded: installs wait from then on. */
  readonly onLoss?: (what: string) => void;
  /** Called with the role of the connections if it may change or remove the history. */
  readonly onStrongRole?: (role: string) => void;
}

/**
 * Opens a ledger that several processes use at once. It creates the tables where there are none, and migrates older ones: beside
 * processes that lead units if every step allows that, otherwise once no process does.
 * @throws PortolanError as `openPostgresLedger`; `ledger/locked` only for a migration that excludes other processes;
 * `controller/other-source` (`retry`) while controllers of another source lead a unit, before anything is migrated.
 */
export async function openSharedLedger(access: PostgresAccess, options: SharedLedgerOptions): Promise<SharedLedger> {
  const { location, schema } = access.address;
  const { clock, random, leaseMs = LEASE_MS } = options;
  const db = await databaseOf(access, { idleMsMax: idleWithin(leaseMs) });
  try {
    await mustBeWritable(db, location);
    await mustHavePrivileges(db, access);
    await ensureTables(db, access, options);
    await mustHaveNoRival(db, options);
    await migrateBeside(db, access, options);
    const standing = await readPostgresStanding(db, schema);
    if (standing === undefined) throw missing(location);
    const role = options.onStrongRole && (await strongRole(db, access));
    if (role !== undefined) options.onStrongRole?.(role);
    const reader = ledgerOf(db, location, standing, options, undefined, async () => {});
    // The name in the holder shows who led a unit even when that process is gone.
    const holder = holderText({ ...options, id: random.hex(16) });
    const onFailing = (error: unknown): void => options.onRenewals?.(explainPostgres(error, location));
    const renewals = await renewalsOf(access, { clock, random, holder, leaseMs, onFailing });
    return new PostgresSharedLedger({ db, access, options: { ...options, leaseMs }, reader, holder, renewals });
  } catch (error) {
    await db.destroy();
    throw explainPostgres(error, location);
  }
}

/** A takeover finds a rival, too. This one finds it before the ledger is changed, and while nothing is free. */
async function mustHaveNoRival(db: Kysely<PostgresTables>, own: Pick<SharedLedgerOptions, 'source'>): Promise<void> {
  const leaders = await db.selectFrom('lease').select('holder').where('expires_ms', '>', databaseNow).execute();
  const rival = leaders.map(({ holder }) => readHolder(holder)).find((one) => areRivals(one, own));
  if (rival !== undefined) throw otherSource(rival);
}

interface Parts {
  readonly db: Kysely<PostgresTables>;
  readonly access: PostgresAccess;
  readonly options: SharedLedgerOptions & { readonly leaseMs: number };
  readonly reader: SqlLedger;
  readonly holder: string;
  readonly renewals: Renewals;
}

function leaderOf(row: LeaseTable & { readonly left_ms: number }): UnitLeader {
  const { scope, holder, actor, epoch, since_ms: sinceMs, left_ms: leftMs, expires_ms: expiresMs } = row;
  const { replica = '', source } = readHolder(holder);
  return {
    unit: scope as LeaseUnit,
    holder,
    replica,
    source,
    actor,
    epoch,
    sinceMs,
    leftMs,
    isReleased: expiresMs === 0,
  };
}

/**
 * A ledger that several processes write, each of them the units that it leads. Each change of a leader raises the epoch of the
 * ledger; a process whose lease another process took over is fenced in its next transaction.
 */
class PostgresSharedLedger implements SharedLedger {
  readonly reader: Ledger;
  readonly events: SharedEvents;
  readonly commands: SharedCommands;
  readonly sessions: SharedSessions;
  readonly #parts: Parts;
  readonly #data: SharedData;
  readonly #signals: Signals;
  readonly #led = new Set<SqlLedger>();

  constructor(parts: Parts) {
    const { access, db, options, holder } = parts;
    const { location, schema } = access.address;
    this.#parts = parts;
    this.reader = parts.reader;
    const { clock, random, actor, onLoss = () => {} } = options;
    this.#data = new SharedData({ db, location, schema, clock, random, actor, onLoss });
    this.events = this.#data.events;
    this.sessions = this.#data.sessions;
    this.commands = sharedCommands(this.#data, holder);
    this.#signals = new Signals(access, this.#data);
  }

  async lead(unit: LeaseUnit): Promise<Lead | undefined> {
    const { db, access, options, reader, holder, renewals } = this.#parts;
    const { location } = access.address;
    const { clock, actor, leaseMs } = options;
    const known = newestSchema(options.migrations ?? migrations);
    const lease = await tryLease({
      db,
      renewals,
      location,
      clock,
      holder,
      actor,
      leaseMs,
      scope: unit,
      known,
    }).catch((error: unknown) => {
      throw explainPostgres(error, location);
    });
    if (lease === undefined) return undefined;
    const standing = { lineage: reader.lineage, epoch: lease.epoch };
    const ledger: SqlLedger = ledgerOf(db, location, standing, options, lease, async () => {
      this.#led.delete(ledger);
    });
    this.#led.add(ledger);
    // One that another process took needs no release.
    lease.over.addEventListener('abort', () => this.#led.delete(ledger), { once: true });
    return { unit, ledger: ofUnit(ledger, unit), validUntilMs: () => lease.validUntilMs, over: lease.over };
  }

  async leaders(): Promise<readonly UnitLeader[]> {
    const read = (db: Kysely<PostgresTables>) =>
      db
        .selectFrom('lease')
        .selectAll()
        .select(sql<number>`expires_ms - ${databaseNow}`.as('left_ms'))
        .select((row) =>
          row.selectFrom('meta').select(sql<number>`v::bigint`.as('v')).where('k', '=', 'serial').as('newest'),
        )
        .orderBy('scope')
        .execute();
    const rows = await this.#data.losses.during(
      () => this.#data.patiently(read),
      (leases) => ({ serial: leases[0]?.newest ?? 0, leases }),
    );
    return rows.filter(({ scope }) => scope !== WHOLE_LEDGER).map(leaderOf);
  }

  async beat(report: ReplicaReport, isDraining: boolean): Promise<readonly LiveReplica[]> {
    const { holder, options, renewals, access } = this.#parts;
    return renewals
      .control((control) => this.#data.beat(control, { holder, report, isDraining, leaseMs: options.leaseMs }))
      .catch((error: unknown) => {
        throw explainPostgres(error, access.address.location);
      });
  }

  async leave(): Promise<void> {
    const { holder } = this.#parts;
    await this.#data.patiently((db) => db.deleteFrom('replica').where('holder', '=', holder).execute());
  }

  async factsSince(serial: number, prefixes: readonly string[]): Promise<ChangedFacts> {
    return changedFacts(this.#data, serial, prefixes);
  }

  onSignal(listener: (topic: SignalTopic) => void): () => void {
    return this.#signals.on(listener);
  }

  async close(): Promise<void> {
    const { db, reader, renewals } = this.#parts;
    try {
      await this.#signals.close();
      await Promise.all([...this.#led].map((ledger) => ledger.close()));
    } finally {
      await renewals.close();
      await reader.close();
      await db.destroy();
    }
  }
}
