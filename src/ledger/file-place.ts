import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { CONTENT_TABLES, type ContentTable } from './contents.ts';
import type { ContentStanding, Filling, LedgerPlace } from './copy.ts';
import { missing, networkFilesystem, notEmpty, notRetired, olderCopy, retiredLedger } from './errors.ts';
import {
  createDirectoryFor,
  createEmpty,
  fileExists,
  moveInto,
  networkFilesystemOf,
  realPath,
  remove,
} from './files.ts';
import { coveredSince } from './inventory.ts';
import type { LedgerLock } from './lock.ts';
import { explainedFile, inDatabase, inTransaction, openDatabase } from './open-database.ts';
import { type Retirement, retired, retirementText } from './retirement.ts';
import { isOlder, readSerialMark } from './serial-file.ts';
import { initialise, lockOf } from './sqlite.ts';
import { contentsOf, withSqliteContents } from './sqlite-contents.ts';
import type { Random } from '../runtime/random.ts';

/** A file as the source or target of a copy. */
export function filePlace(path: string, random: Random): LedgerPlace {
  return {
    location: path,
    async retiring(retirement, work) {
      if (!fileExists(path)) throw missing(path);
      const lock = lockOf(realPath(path));
      try {
        const mark = readSerialMark(realPath(path));
        const result = await withSqliteContents(path, (contents) => {
          const { standing } = contents;
          if (standing.retired !== undefined) throw retiredLedger(path, standing.retired);
          if (isOlder(standing, mark)) throw olderCopy(path, standing.serial, mark.serial);
          return work(contents);
        });
        retire(path, retirement);
        return result;
      } finally {
        lock.release();
      }
    },
    filling: (standing, fill) => fillFile(path, { random, isBackup: false }, standing, fill),
  };
}

function retire(path: string, retirement: Retirement): void {
  try {
    inDatabase(path, { readOnly: false }, (database) => {
      database.exec('PRAGMA synchronous = FULL');
      database.prepare('INSERT INTO meta (k, v) VALUES (?, ?)').run(retired, retirementText(retirement));
    });
  } catch (error) {
    throw notRetired(path, retirement.copy, error);
  }
}

/** A file that nothing opens as a ledger before it is restored: it has no lock, and replaces another one. */
export function backupPlace(path: string, random: Random): Pick<LedgerPlace, 'location' | 'filling'> {
  return { location: path, filling: (standing, fill) => fillFile(path, { random, isBackup: true }, standing, fill) };
}

async function fillFile<Result>(
  given: string,
  { random, isBackup }: { readonly random: Random; readonly isBackup: boolean },
  standing: ContentStanding,
  fill: (filling: Filling) => Promise<Result>,
): Promise<Result> {
  let lock: LedgerLock | undefined;
  const path = placeOf(given);
  const unfinished = `${path}.copying`;
  try {
    if (!isBackup) {
      const network = networkFilesystemOf(dirname(path));
      if (network !== undefined) throw networkFilesystem(dirname(path), network);
      lock = lockOf(path);
      mustBeFree(path, standing);
    }
    for (const leftover of [unfinished, `${unfinished}-journal`]) remove(leftover);
    createEmpty(unfinished);
    const result = await fillDatabase(unfinished, random, standing, fill);
    moveInto(unfinished, path);
    return result;
  } catch (error) {
    throw explainedFile(given, error);
  } finally {
    remove(unfinished);
    lock?.release();
  }
}

function placeOf(given: string): string {
  createDirectoryFor(given);
  return realPath(given);
}

function mustBeFree(path: string, { lineage, serial }: ContentStanding): void {
  if (fileExists(path)) throw notEmpty(path, 'the file exists');
  if (fileExists(`${path}-wal`)) throw notEmpty(path, `${path}-wal is left of another ledger`);
  const mark = readSerialMark(path);
  if (mark !== undefined && (mark.lineage !== lineage || mark.serial > serial))
    throw notEmpty(path, `${path}.serial is left of another ledger, or of a later state of this one`);
}

async function fillDatabase<Result>(
  path: string,
  random: Random,
  standing: ContentStanding,
  fill: (filling: Filling) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(path, { readOnly: false });
  try {
    // The whole file becomes durable before it gets its name.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    initialise(database, { random });
    setStanding(database, standing);
    return await fill({
      add: async (table, rows) => insert(database, table, rows),
      contents: async () => contentsOf(database, path),
    });
  } finally {
    database.close();
  }
}

function setStanding(database: DatabaseSync, { lineage, serial, epoch, coveredSince: since }: ContentStanding): void {
  const set = database.prepare('INSERT INTO meta (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v');
  set.run('lineage', lineage);
  set.run('serial', String(serial));
  set.run('epoch', String(epoch));
  if (since !== undefined) set.run(coveredSince, String(since));
}

function insert(database: DatabaseSync, table: ContentTable, rows: readonly object[]): void {
  const { columns } = CONTENT_TABLES[table];
  const places = columns.map(() => '?').join(', ');
  const statement = database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
  inTransaction(database, () => {
    for (const row of rows) {
      const values = row as Readonly<Record<string, SQLInputValue>>;
      statement.run(...columns.map((column) => values[column] ?? null));
    }
  });
}
