/** One state of a lease, in the order in which the database committed them. Times are of its clock, which is that of the whole test. */
export interface LeaseChange {
  readonly atMs: number;
  readonly unit: string;
  readonly epoch: number;
  /** Of the process that holds it. */
  readonly pid: number;
  /** 0: it was released. */
  readonly expiresMs: number;
}

/** What the database promised to the holder of an epoch. */
export interface Tenure {
  readonly unit: string;
  readonly epoch: number;
  readonly pid: number;
  readonly grantedMs: number;
  readonly releasedMs: number | undefined;
  /** Each extension: when it was written, and the expiry that it set. */
  readonly extensions: readonly { readonly atMs: number; readonly expiresMs: number }[];
  /** The first leadership of the same unit with a higher epoch. */
  readonly next: { readonly epoch: number; readonly grantedMs: number } | undefined;
}

/** Returns the leaderships of all units, by unit and ascending epoch. */
export function tenuresOf(changes: readonly LeaseChange[]): ReadonlyMap<string, readonly Tenure[]> {
  const units = new Map<string, readonly Tenure[]>();
  for (const [unit, ofUnit] of Map.groupBy(changes, (change) => change.unit)) {
    const epochs = [...Map.groupBy(ofUnit, ({ epoch }) => epoch)].sort(([left], [right]) => left - right);
    const grants = epochs.map(([epoch, rows]) => ({ epoch, grantedMs: rows[0]?.atMs ?? 0 }));
    const tenures = epochs.map(([epoch, rows], at): Tenure => {
      const extensions = rows.filter(({ expiresMs }) => expiresMs > 0);
      return {
        unit,
        epoch,
        pid: rows[0]?.pid ?? 0,
        grantedMs: rows[0]?.atMs ?? 0,
        releasedMs: rows.find(({ expiresMs }) => expiresMs === 0)?.atMs,
        extensions: extensions.map(({ atMs, expiresMs }) => ({ atMs, expiresMs })),
        next: grants[at + 1],
      };
    });
    units.set(unit, tenures);
  }
  return units;
}

/** Returns the last expiry that was written until then, and negative infinity before the first one. */
export function expiryAt({ extensions }: Tenure, atMs: number): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...extensions.flatMap((one) => (one.atMs <= atMs ? [one.expiresMs] : [])));
}

/** Returns the leaderships that the database granted while the one before was neither released nor expired. */
export function earlyGrants(tenures: ReadonlyMap<string, readonly Tenure[]>): readonly string[] {
  return [...tenures.values()].flat().flatMap((tenure) => {
    const { unit, epoch, releasedMs, next } = tenure;
    if (next === undefined || (releasedMs !== undefined && releasedMs <= next.grantedMs)) return [];
    const leftMs = expiryAt(tenure, next.grantedMs) - next.grantedMs;
    return leftMs > CLOCK_MS
      ? [`${unit}: epoch ${next.epoch} was granted ${Math.round(leftMs)} ms before epoch ${epoch} expired`]
      : [];
  });
}

/** Expiries are whole milliseconds, and the other times are not. */
export const CLOCK_MS = 1;
