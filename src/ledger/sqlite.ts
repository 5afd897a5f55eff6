import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { restoredFact } from './confirmation.ts';
import { epochFence } from './epoch-fence.ts';
import {
  corrupt,
  gone,
  type Holder,
  inputOutput,
  linked,
  locked,
  missing,
  networkFilesystem,
  newer,
  older,
  retiredLedger,
} from './errors.ts';
import { type FileGuard, guardFiles } from './file-guard.ts';
import {
  createDirectoryFor,
  createEmpty,
  fileBytes,
  fileExists,
  fileIdentity,
  moveInto,
  networkFilesystemOf,
  realPath,
  remove,
} from './files.ts';
import { acquireLock, holderOf, type LedgerLock } from './lock.ts';
import { fileSteps, type Migration, migrate, newestSchema, readStanding, type Standing } from './migrations.ts';
import { copyInto, explainedFile, inDatabase, inTransaction, openDatabase, sqliteFault } from './open-database.ts';
import type { LedgerTables } from './schema.ts';
import { commitQueries } from './queries.ts';
import type { OnRetired } from './retirement.ts';
import { SqlLedger } from './sql-ledger.ts';
import { nodeSqliteDialect } from './sqlite-dialect.ts';
import { isOlder, openSerialFile, readSerialMark, type SerialFile, type SerialMark } from './serial-file.ts';
import { contentFindings } from './verify.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';

export interface SqliteLedgerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Names the process that opens it, for errors of other processes: `portolan run on host-1, pid 4711`. */
  readonly actor: string;
  /** Needs no lock and works beside a writer. Never creates, migrates or writes. */
  readonly readOnly?: boolean;
  /** Most pages of 4 KiB that the file may have; commits beyond it fail with `ledger/full`. By default the disk decides. */
  readonly pagesMax?: number;
  /** Called when the ledger is older than the mark beside it: a copy replaced it, and installs wait for confirmation. */
  readonly onOlder?: (found: { readonly path: string; readonly serial: number; readonly expected: number }) => void;
  /** Called when a ledger that is only read was copied to another place. */
  readonly onRetired?: OnRetired;
  /** Called with the path of the saved ledger, when its file was removed or replaced before it was closed. */
  readonly onRescued?: (path: string) => void;
  /** The schema's steps; only tests of migration pass others. */
  readonly migrations?: readonly Migration[];
}

/** Number of faults of a damaged file that are named. */
const FINDINGS_MAX = 5;
/** Marks our files, as `file(1)` and SQLite know them: "Prtl". */
const applicationId = 0x5072746c;
/** Time for which a statement blocks the process on a lock. Longer waits happen between attempts, where other work runs. */
const statementWaitMs = 20;

/**
 * Opens the ledger in a file, or a fresh one in memory for `:memory:`. For writing it takes the lock of the ledger
 * (`<path>.lock`), creates or migrates the file (after a copy to `<path>.backup-<schema>-<serial>.db`), checks it, and raises
 * the epoch.
 * @throws PortolanError `ledger/locked`, `ledger/missing` (reading), `ledger/newer`, `ledger/older` (reading), `ledger/retired` (writing),
 * `ledger/corrupt`, `ledger/network-filesystem`, `ledger/full`, `ledger/io`.
 */
export async function openSqliteLedger(path: string, options: SqliteLedgerOptions): Promise<SqlLedger> {
  if (path === ':memory:') return openInMemory(options);
  try {
    return options.readOnly === true ? openForReading(path, options) : await openForWriting(path, options);
  } catch (error) {
    throw explainedFile(path, error);
  }
}

function openInMemory(options: SqliteLedgerOptions): SqlLedger {
  return openInDatabase(createInMemory(options), options);
}

/** A fresh database in memory with an empty ledger in it, which is open nowhere yet. */
export function createInMemory(options: SqliteLedgerOptions): DatabaseSync {
  const database = openDatabase(':memory:', { readOnly: false });
  initialise(database, options);
  return database;
}

/**
 * Opens the ledger in such a database for writing, as a new process would: the epoch rises, and every ledger opened on
 * it before is fenced. Closing the ledger closes the database.
 * @param db of an earlier opening, whose statements are prepared already.
 */
export function openInDatabase(
  database: DatabaseSync,
  options: SqliteLedgerOptions,
  db: Kysely<LedgerTables> = kyselyOn(database),
): SqlLedger {
  return ledgerOf(database, ':memory:', options, { writable: true }, db);
}

/** The database as queries see it. */
export function kyselyOn(database: DatabaseSync): Kysely<LedgerTables> {
  return new Kysely<LedgerTables>({ dialect: nodeSqliteDialect(database) });
}

function openForReading(path: string, options: SqliteLedgerOptions): SqlLedger {
  if (!fileExists(path)) throw missing(path);
  mustHaveOneName(path);
  // The mark is read first: a writer that continues meanwhile raises the ledger before the mark.
  const mark = readSerialMark(realPath(path));
  const database = openDatabase(path, { readOnly: true });
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    const steps = fileSteps(options.migrations);
    const known = newestSchema(steps);
    const standing = standingOf(database, path);
    if (standing.schema > known) throw newer(path, standing.schema, known);
    const isReadable = steps.every(({ to, readsBefore }) => to <= standing.schema || readsBefore === true);
    if (!isReadable) throw older(path, standing.schema, known);
    if (standing.retired !== undefined) options.onRetired?.(path, standing.retired);
    const behind = isOlder(standing, mark) ? mark : undefined;
    if (behind !== undefined) options.onOlder?.({ path, serial: standing.serial, expected: behind.serial });
    // As it will be once it is opened for writing.
    const facts = new Map(behind === undefined ? [] : [[restoredFact, String(behind.epoch + 1)]]);
    return ledgerOf(database, path, options, { writable: false, facts });
  } catch (error) {
    database.close();
    throw error;
  }
}

async function openForWriting(given: string, options: SqliteLedgerOptions): Promise<SqlLedger> {
  createDirectoryFor(given);
  const path = realPath(given);
  const network = networkFilesystemOf(dirname(path));
  if (network !== undefined) throw networkFilesystem(dirname(path), network);
  const lock = lockOf(path);
  try {
    mustHaveOneName(`${path}.lock`);
    mustHaveOneName(path);
    if (!fileExists(path)) createLedger(path, options);
    return await openLocked(path, options, lock, given);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** @throws PortolanError `ledger/linked` */
function mustHaveOneName(path: string): void {
  if ((fileIdentity(path)?.links ?? 0n) > 1n) throw linked(path);
}

async function openLocked(
  path: string,
  options: SqliteLedgerOptions,
  lock: LedgerLock,
  given: string,
): Promise<SqlLedger> {
  const database = openChecked(path, options);
  let serials: SerialFile | undefined;
  try {
    const found = standingOf(database, path);
    const mark = readSerialMark(path);
    const after = isOlder(found, mark) ? mark : undefined;
    raiseEpoch(database, { actor: options.actor, sinceMs: options.clock.now() }, after);
    serials = openSerialFile(path, standingOf(database, path));
    const guard = guardFiles({ given, path, database });
    const parts = { writable: true, serials, guard, release: () => lock.release() };
    const ledger = ledgerOf(database, path, options, parts);
    if (after !== undefined) await recordOlder(ledger, found, after, options);
    return ledger;
  } catch (error) {
    serials?.close();
    database.close();
    throw error;
  }
}

/** A copy was put in the place of the ledger: every scope hears of it, as when a backup is restored. */
async function recordOlder(
  ledger: SqlLedger,
  { serial }: Standing,
  { serial: expected }: SerialMark,
  { actor, clock, onOlder }: SqliteLedgerOptions,
): Promise<void> {
  onOlder?.({ path: ledger.location, serial, expected });
  const detail = { older: true, serial, expected, epoch: ledger.epoch };
  for (const scope of await ledger.scopes()) {
    const record = { op: 'record', event: 'ledger.restored', detail } as const;
    await ledger.commit({ scope, actor, atMs: clock.now(), operations: [record] });
  }
}

/** @throws PortolanError `ledger/locked` that names the holder. */
export function lockOf(path: string): LedgerLock {
  const lock = acquireLock(`${path}.lock`);
  if (lock === undefined) throw locked(path, holderOf(path));
  return lock;
}

/** Built beside its place and then moved there, so that a crash leaves a whole ledger or none. */
function createLedger(path: string, options: SqliteLedgerOptions): void {
  const mark = readSerialMark(path);
  if (mark !== undefined) throw gone(path, mark.serial);
  const log = `${path}-wal`;
  if (fileExists(log) && fileBytes(log) > 0) {
    throw corrupt(path, `the file is gone, while ${log} with its last transactions still exists`);
  }
  const unfinished = `${path}.creating`;
  for (const leftover of [unfinished, `${unfinished}-journal`, log, `${path}-shm`]) remove(leftover);
  createEmpty(unfinished);
  inDatabase(unfinished, { readOnly: false }, (database) => {
    // `moveInto` makes the whole file durable before it gets its name. A crash before that leaves a file that is removed above.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    initialise(database, options);
  });
  moveInto(unfinished, path);
}

/** Makes an empty ledger in an empty database. */
export function initialise(database: DatabaseSync, options: Pick<SqliteLedgerOptions, 'random' | 'migrations'>): void {
  database.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${applicationId}`);
  database.exec('CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID');
  const insert = database.prepare('INSERT INTO meta (k, v) VALUES (?, ?)');
  insert.run('lineage', options.random.hex(16));
  for (const counter of ['schema', 'serial', 'epoch']) insert.run(counter, '0');
  migrate(database, 0, fileSteps(options.migrations));
}

function openChecked(path: string, options: SqliteLedgerOptions): DatabaseSync {
  if (fileBytes(path) === 0) throw corrupt(path, 'the file is empty');
  const hasLog = fileExists(`${path}-wal`) && fileBytes(`${path}-wal`) > 0;
  const database = openDatabase(path, { readOnly: false });
  try {
    const steps = fileSteps(options.migrations);
    const known = newestSchema(steps);
    const standing = standingOf(database, path);
    if (standing.schema > known) throw newer(path, standing.schema, known);
    if (standing.retired !== undefined) throw retiredLedger(path, standing.retired);
    const findings = quickCheck(database);
    // A process was killed. If another file took the ledger's place since, its pages and those of the log do not fit.
    if (hasLog && findings.length === 0) findings.push(...contentFindings(database).map(({ message }) => message));
    if (findings.length > 0) throw corrupt(path, findings.slice(0, FINDINGS_MAX).join('; '));
    setPragmas(database, path);
    if (standing.schema < known) {
      backUp(database, migrationBackup(path, standing));
      migrate(database, standing.schema, steps);
    }
    if (options.pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${options.pagesMax}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Durable before a commit returns, whole after a crash or a power cut, and nothing readable left of deleted rows.
 * A checkpoint at 3,000 pages (12 MiB of log) falls on fewer than 1 in 100 commits; at SQLite's 1,000 it was their p99.
 */
function setPragmas(database: DatabaseSync, path: string): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string };
  if (mode.journal_mode !== 'wal')
    throw inputOutput(path, new Error(`no write-ahead log on this disk: ${mode.journal_mode}`));
  database.exec(
    'PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 3000; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON',
  );
}

interface Opening {
  readonly writable: boolean;
  /** Serial file of a ledger that is written. Its epoch was already raised above the mark. */
  readonly serials?: SerialFile;
  /** Guard of a file that is written. */
  readonly guard?: FileGuard;
  readonly facts?: ReadonlyMap<string, string>;
  readonly release?: () => void;
}

function ledgerOf(
  database: DatabaseSync,
  location: string,
  options: SqliteLedgerOptions,
  { writable, serials, guard, facts = new Map(), release = () => {} }: Opening,
  db: Kysely<LedgerTables> = kyselyOn(database),
): SqlLedger {
  if (writable && serials === undefined)
    raiseEpoch(database, { actor: options.actor, sinceMs: options.clock.now() }, undefined);
  const { lineage, epoch } = standingOf(database, location);
  database.exec(`PRAGMA busy_timeout = ${statementWaitMs}`);
  return new SqlLedger({
    db,
    location,
    lineage,
    epoch,
    writable,
    clock: options.clock,
    faultOf: sqliteFault,
    explain: (error) => explainedFile(location, error),
    fence: epochFence({ queries: commitQueries(db), location, epoch }),
    transact: (work) => db.transaction().execute(work),
    shrink: () => database.exec('PRAGMA incremental_vacuum'),
    committed: (serial, isAhead) => serials?.write(serial, isAhead),
    guard,
    facts,
    release: async () => {
      if (guard !== undefined) guard.close(() => rescue(database, location, options));
      else await db.destroy();
      // Kysely closes only what was asked something.
      if (guard === undefined && database.isOpen) database.close();
      serials?.close();
      release();
    },
  });
}

/** Saves a ledger whose file is no longer in its place. If the disk refuses, there is nothing else to be done. */
function rescue(database: DatabaseSync, path: string, { clock, onRescued }: SqliteLedgerOptions): void {
  const kept = `${path}.rescued-${clock.now()}`;
  try {
    backUp(database, kept);
    onRescued?.(kept);
  } catch (error) {
    if (sqliteFault(error) === 'unknown') throw error;
  }
}

/**
 * A new process has the ledger.
 * @param after the mark of a ledger that was replaced with an older copy: serial and epoch rise above it, and installs wait.
 */
function raiseEpoch(database: DatabaseSync, holder: Holder, after: SerialMark | undefined): void {
  inTransaction(database, () => {
    if (after !== undefined) {
      const raise = database.prepare('UPDATE meta SET v = MAX(CAST(v AS INTEGER), ?) WHERE k = ?');
      raise.run(after.epoch, 'epoch');
      raise.run(after.serial, 'serial');
    }
    database.exec("UPDATE meta SET v = CAST(v AS INTEGER) + 1 WHERE k = 'epoch'");
    if (after !== undefined) {
      const mark =
        "INSERT INTO fact (key, value) SELECT ?, v FROM meta WHERE k = 'epoch' ON CONFLICT (key) DO UPDATE SET value = excluded.value";
      database.prepare(mark).run(restoredFact);
    }
    const remember = database.prepare(
      "INSERT INTO meta (k, v) VALUES ('holder', ?) ON CONFLICT (k) DO UPDATE SET v = ?1",
    );
    remember.run(JSON.stringify(holder));
  });
}

/** @throws PortolanError `ledger/corrupt` for a database that is not a ledger. */
function standingOf(database: DatabaseSync, path: string): Standing {
  const { application_id: id } = database.prepare('PRAGMA application_id').get() as { application_id: number };
  const standing = path !== ':memory:' && id !== applicationId ? undefined : readStanding(database);
  if (standing === undefined) throw corrupt(path, 'it is a database, but not one of Portolan');
  return standing;
}

/** Returns the path of the copy that is made before a migration. */
export function migrationBackup(path: string, { schema, serial }: Pick<Standing, 'schema' | 'serial'>): string {
  return `${path}.backup-${schema}-${serial}.db`;
}

/** Returns the faults that SQLite finds in the file's structure. */
function quickCheck(database: DatabaseSync): string[] {
  const rows = database.prepare('PRAGMA quick_check(5)').all() as { quick_check: string }[];
  return rows.map((row) => row.quick_check).filter((text) => text !== 'ok');
}

/** Copies the database, as one transaction sees it, to a file that only its owner may read. Replaces an older copy of that name. */
function backUp(database: DatabaseSync, destination: string): void {
  const unfinished = `${destination}.partial`;
  copyInto(database, unfinished);
  moveInto(unfinished, destination);
}
