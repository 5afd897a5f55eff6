import { createHash } from 'node:crypto';
import { coveredSince } from './inventory.ts';
import { historyColumns, intentColumns, type LedgerTables, objectColumns, snapshotColumns } from './schema.ts';
import type { Standing } from './migrations.ts';

/** The tables whose rows make a ledger; `meta` has its standing. */
export type ContentTable = Exclude<keyof LedgerTables, 'meta'>;

/** The columns of each table, and the order in which its rows are read. */
export const CONTENT_TABLES: Readonly<
  Record<ContentTable, { readonly columns: readonly string[]; readonly order: readonly string[] }>
> = {
  snapshot: { columns: [...Object.keys(snapshotColumns), 'serial'], order: ['serial', 'source', 'id'] },
  fact: { columns: ['key', 'value'], order: ['key'] },
  object: { columns: [...Object.keys(objectColumns), 'serial'], order: ['uid'] },
  intent: { columns: [...Object.keys(intentColumns), 'serial'], order: ['serial', 'id'] },
  chain: { columns: ['scope', 'lines', 'hash'], order: ['scope'] },
  history: { columns: [...Object.keys(historyColumns), 'line', 'objects'], order: ['serial', 'scope', 'line'] },
};

export const contentTables = Object.keys(CONTENT_TABLES) as readonly ContentTable[];

/** A whole ledger as of one moment, in whatever database it is. One reader at a time. */
export interface LedgerContents {
  readonly location: string;
  readonly standing: Standing;
  /** The serial since when the history covers the objects. */
  readonly coveredSince: number | undefined;
  /** Yields the rows of a table. @param order by default that of `CONTENT_TABLES`. */
  rows<Table extends ContentTable>(table: Table, order?: readonly string[]): AsyncIterable<LedgerTables[Table]>;
}

/** Returns the serial since when the history covers the objects, from the rows of the `meta` table. */
export function coveredSinceIn(rows: readonly { readonly k: string; readonly v: string }[]): number | undefined {
  const row = rows.find(({ k }) => k === coveredSince);
  return row === undefined ? undefined : Number(row.v);
}

/** Number and hash of the rows of a table. Two tables with equal ones have the same content, in the same order. */
export interface TableDigest {
  readonly rows: number;
  readonly sha256: string;
}

export type ContentDigest = Readonly<Record<ContentTable, TableDigest>>;

/** Builds the digest of one table, row by row. */
export class TableDigester {
  readonly #columns: readonly string[];
  readonly #hash = createHash('sha256');
  #rows = 0;

  constructor(table: ContentTable) {
    this.#columns = CONTENT_TABLES[table].columns;
  }

  add(row: object): void {
    const values = row as Readonly<Record<string, unknown>>;
    this.#hash.update(`${JSON.stringify(this.#columns.map((column) => values[column] ?? null))}\n`);
    this.#rows += 1;
  }

  digest(): TableDigest {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') };
  }
}

/** Reads all rows for their digest. */
export async function digestOf(contents: LedgerContents): Promise<ContentDigest> {
  const digests: Partial<Record<ContentTable, TableDigest>> = {};
  for (const table of contentTables) {
    const digester = new TableDigester(table);
    for await (const row of contents.rows(table)) digester.add(row);
    digests[table] = digester.digest();
  }
  return digests as ContentDigest;
}
