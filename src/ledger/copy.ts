import { resolve } from 'node:path';
import { isPostgres } from './address.ts';
import {
  type ContentDigest,
  type ContentTable,
  contentTables,
  digestOf,
  type LedgerContents,
  TableDigester,
} from './contents.ts';
import { contentsFindings } from './contents-findings.ts';
import { badCopy, newer, notEmpty, older } from './errors.ts';
import { newestSchemaAt, type Standing } from './migrations.ts';
import type { Retirement } from './retirement.ts';
import type { Clock } from '../runtime/clock.ts';

/** A database that a ledger is copied from or to. */
export interface LedgerPlace {
  readonly location: string;
  /**
   * Reads the ledger while no process can write to it. Once `work` has made a copy, no process ever can, and leases that have expired
   * end, because a process that wakes up would renew its own.
   * @throws PortolanError `ledger/locked`, `ledger/missing`, `ledger/retired`, `ledger/older-copy`,
   * `ledger/open-commands`, `ledger/not-retired`.
   */
  retiring<Result>(retirement: Retirement, work: (contents: LedgerContents) => Promise<Result>): Promise<Result>;
  /**
   * Makes a ledger of the content, as a whole or not at all. `fill` gets a function that adds rows, and must have called
   * `check` with the new ledger before it ends.
   * @throws PortolanError `ledger/not-empty`, `ledger/locked`.
   */
  filling<Result>(standing: ContentStanding, fill: (filling: Filling) => Promise<Result>): Promise<Result>;
}

export type ContentStanding = Omit<Standing, 'retired'> & Pick<LedgerContents, 'coveredSince'>;

export interface Filling {
  add(table: ContentTable, rows: readonly object[]): Promise<void>;
  /** Returns what is there now, before it is committed. */
  contents(): Promise<LedgerContents>;
}

/** Describes a copy. */
export interface CopyReport {
  readonly from: string;
  readonly to: string;
  readonly lineage: string;
  /** The schema of the copy. */
  readonly schema: number;
  readonly serial: number;
  readonly epoch: number;
  /** Number of rows and their hash, by table; equal on both sides. */
  readonly tables: ContentDigest;
}

/** Rows that are added at once. */
const BATCH = 250;

/**
 * Copies a ledger to a place without one, verifies both (the history and the objects of the source, and that every row of the copy is
 * the same), and retires the source. Until the last step but one, nothing is at the target. A process that dies between these two leaves
 * both as they are, and has not said that it was done.
 * @throws PortolanError `ledger/locked` while a process holds either, `ledger/retired`, `ledger/older-copy`, `ledger/open-commands`,
 * `ledger/not-empty`, `ledger/bad-copy`, `ledger/not-retired`, and those of the databases.
 * @param host the name of this machine.
 */
export async function copyLedger(
  from: LedgerPlace,
  to: LedgerPlace,
  clock: Pick<Clock, 'now'>,
  host?: string,
): Promise<CopyReport> {
  // A database would wait for the locks that this process itself holds.
  if (from.location === to.location) throw notEmpty(to.location, 'it is the ledger that is copied');
  const copy = isPostgres(to.location) ? { copy: to.location } : { copy: resolve(to.location), host };
  return from.retiring({ ...copy, atMs: clock.now() }, (contents) => copyContents(contents, to));
}

/** Copies what a reader sees. @param as `damaged` keeps a ledger as it is, even if its history was changed. */
export async function copyContents(
  contents: LedgerContents,
  to: Pick<LedgerPlace, 'location' | 'filling'>,
  as: 'intact' | 'damaged' = 'intact',
): Promise<CopyReport> {
  const { standing, coveredSince, location } = contents;
  mustBeNewest(location, standing);
  const findings = as === 'intact' ? await contentsFindings(contents) : [];
  if (findings[0] !== undefined)
    throw badCopy(location, `it is damaged (${findings.map(({ message }) => message).join('; ')})`);
  return to.filling({ ...standing, coveredSince }, async (filling): Promise<CopyReport> => {
    const tables = await addAll(contents, filling);
    const copy = await filling.contents();
    await mustBeEqual(location, { standing, tables }, copy);
    const { lineage, serial, epoch } = standing;
    const { schema } = copy.standing;
    return { from: location, to: to.location, lineage, schema, serial, epoch, tables };
  });
}

/** Refuses a ledger whose tables are not those of this version. @throws PortolanError `ledger/newer`, `ledger/older`. */
export function mustBeNewest(location: string, { schema }: Standing): void {
  const known = newestSchemaAt(location);
  if (schema > known) throw newer(location, schema, known);
  if (schema < known) throw older(location, schema, known);
}

async function addAll(contents: LedgerContents, filling: Filling): Promise<ContentDigest> {
  const digests: Partial<Record<ContentTable, ReturnType<TableDigester['digest']>>> = {};
  for (const table of contentTables) {
    const digester = new TableDigester(table);
    let batch: object[] = [];
    for await (const row of contents.rows(table)) {
      digester.add(row);
      batch.push(row);
      if (batch.length < BATCH) continue;
      await filling.add(table, batch);
      batch = [];
    }
    if (batch.length > 0) await filling.add(table, batch);
    digests[table] = digester.digest();
  }
  return digests as ContentDigest;
}

async function mustBeEqual(
  location: string,
  source: { readonly standing: Standing; readonly tables: ContentDigest },
  copy: LedgerContents,
): Promise<void> {
  for (const key of ['lineage', 'serial', 'epoch'] as const)
    if (copy.standing[key] !== source.standing[key])
      throw badCopy(location, `the copy has the ${key} ${copy.standing[key]}, not ${source.standing[key]}`);
  const tables = await digestOf(copy);
  for (const table of contentTables) {
    const [expected, found] = [source.tables[table], tables[table]];
    if (expected.rows !== found.rows)
      throw badCopy(location, `table ${table} has ${found.rows} rows, not ${expected.rows}`);
    if (expected.sha256 !== found.sha256) throw badCopy(location, `rows of table ${table} differ`);
  }
}
