import { CLOCK_MS, expiryAt, type Tenure } from './leases.ts';

/** A process said that it leads a unit. It said so of some moment between the request for its metrics and their arrival. */
export interface Claim {
  readonly replica: string;
  readonly pid: number;
  readonly unit: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Time for which it believed to lead the unit yet, unless it renewed the lease. */
  readonly leftMs: number;
}

/**
 * Returns the claims that the database never allowed, so that two processes could believe to lead one unit.
 *
 * A process may believe in a lease until the database lets another one take it, and no longer: it counts the time from before it sent the
 * renewal. So some moment between `fromMs` and `toMs` must lie within a leadership of the process, with at least `leftMs` to go. A stopped
 * process makes no claim, and the answer of one that was stopped in between has a long span, which is judged by its beginning. After its
 * release of a lease, a process may claim it until it would have expired: the answer of the database can be on its way for that long, and
 * the process sends nothing meanwhile.
 */
export function falseClaims(
  claims: readonly Claim[],
  tenures: ReadonlyMap<string, readonly Tenure[]>,
): readonly string[] {
  return claims.flatMap((claim) => {
    const ofUnit = tenures.get(claim.unit) ?? [];
    if (ofUnit.some((tenure) => allows(tenure, claim))) return [];
    const own = ofUnit.findLast((one) => one.pid === claim.pid && one.grantedMs <= claim.toMs);
    const leader = ofUnit.findLast((one) => one.grantedMs <= claim.fromMs);
    const who = `${claim.replica} (pid ${claim.pid}) believed to lead ${claim.unit} for ${Math.round(claim.leftMs)} ms`;
    const others = leader === undefined ? 'no process led it' : `epoch ${leader.epoch} of pid ${leader.pid} did`;
    return [
      own === undefined ? `${who} and never had its lease; ${others}` : `${who}, ${overdue(own, claim)}; ${others}`,
    ];
  });
}

function allows(tenure: Tenure, { pid, fromMs, toMs, leftMs }: Claim): boolean {
  const { next, releasedMs, grantedMs } = tenure;
  if (tenure.pid !== pid || grantedMs > toMs || fromMs + leftMs > expiryAt(tenure, toMs) + CLOCK_MS) return false;
  return next === undefined || releasedMs !== undefined || next.grantedMs >= fromMs;
}

function overdue(own: Tenure, { fromMs, toMs, leftMs }: Claim): string {
  const beyondMs = Math.round(fromMs + leftMs - expiryAt(own, toMs));
  if (beyondMs > CLOCK_MS) return `${beyondMs} ms more than the lease of epoch ${own.epoch} allowed`;
  return `${Math.round(fromMs - (own.next?.grantedMs ?? fromMs))} ms after epoch ${own.next?.epoch} was granted`;
}
