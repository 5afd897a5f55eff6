/** One row written: what stood there before, and what stands there now. Enough to persist it, and to take it back. */
export interface Change {
  readonly table: string;
  readonly key: string;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

/** The keys and indexes of one table. */
export interface TableShape<Row extends object> {
  readonly name: string;
  key(row: Row): string;
  /** Name of a group → the value by which its rows are found. */
  readonly groups: Readonly<Record<string, (row: Row) => string>>;
}

/** Collects the changes of one request; emptied when the next request starts. */
export interface ChangeLog {
  changes: Change[];
}

/**
 * Rows by key, in order of insertion, with groups kept up to date. Rows are never changed in place: `put` replaces
 * them, so that an older row stays what it was and a clone costs no more than its maps.
 */
export class Table<Row extends object> {
  readonly #shape: TableShape<Row>;
  readonly #log: ChangeLog;
  readonly #rows: Map<string, Row>;
  readonly #groups: Map<string, Map<string, Map<string, Row>>>;

  constructor(shape: TableShape<Row>, log: ChangeLog, copyOf?: Table<Row>) {
    this.#shape = shape;
    this.#log = log;
    this.#rows = new Map(copyOf?.rows());
    this.#groups = new Map(Object.keys(shape.groups).map((name) => [name, new Map<string, Map<string, Row>>()]));
    if (copyOf === undefined) return;
    for (const [name, values] of copyOf.groupMaps()) {
      const mine = this.#groups.get(name);
      for (const [value, members] of values) mine?.set(value, new Map(members));
    }
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  all(): IterableIterator<Row> {
    return this.#rows.values();
  }

  rows(): ReadonlyMap<string, Row> {
    return this.#rows;
  }

  groupMaps(): ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, Row>>> {
    return this.#groups;
  }

  /** The rows of a group that have this value, in order of insertion. */
  in(group: string, value: string): Row[] {
    const members = this.#groups.get(group)?.get(value);
    return members === undefined ? [] : [...members.values()];
  }

  put(row: Row): void {
    const key = this.#shape.key(row);
    this.#log.changes.push({ table: this.#shape.name, key, before: this.#rows.get(key), after: row });
    this.restore(key, row);
  }

  delete(key: string): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#log.changes.push({ table: this.#shape.name, key, before, after: undefined });
    this.restore(key, undefined);
  }

  /** Sets or removes a row without recording it: for loading, and for going back to an older version. */
  restore(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key);
    for (const [name, valueOf] of Object.entries(this.#shape.groups)) {
      const group = this.#groups.get(name);
      if (group === undefined) continue;
      const old = before === undefined ? undefined : valueOf(before);
      const value = row === undefined ? undefined : valueOf(row);
      if (old !== undefined && old !== value) removeFrom(group, old, key);
      if (value !== undefined && row !== undefined) addTo(group, value, key, row);
    }
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row);
  }
}

function addTo<Row>(group: Map<string, Map<string, Row>>, value: string, key: string, row: Row): void {
  const members = group.get(value);
  if (members === undefined) group.set(value, new Map([[key, row]]));
  else members.set(key, row);
}

function removeFrom<Row>(group: Map<string, Map<string, Row>>, value: string, key: string): void {
  const members = group.get(value);
  members?.delete(key);
  if (members?.size === 0) group.delete(value);
}
