import { expiryAt, type Tenure, CLOCK_MS } from './leases.ts';

/** A write that arrived at a platform. It arrived after `afterMs` and at `seenMs` at the latest: the test may have read it late. */
export interface Arrival {
  readonly unit: string;
  readonly request: string;
  /** As the journal has it, without secrets. */
  readonly hash: string;
  readonly afterMs: number;
  readonly seenMs: number;
}

/** An intent with the times at which the database recorded it, and that it was not open any more. */
export interface TimedIntent {
  readonly id: string;
  readonly unit: string;
  readonly epoch: number;
  readonly hash: string;
  readonly openedMs: number;
  /** undefined: it is open. */
  readonly closedMs: number | undefined;
}

/**
 * Returns the writes that arrived without an open intent of their own, or outside the lease of the epoch of their intent.
 *
 * Each write must find an intent of its platform with the same request that was open at some moment of its arrival and has no other write.
 * Of several, the newest one counts: an older one is one that was never sent, or whose write is too many. Its arrival must lie within the
 * lease: nothing may arrive once a higher epoch was granted, the lease was released, or its last extension before the arrival had expired.
 * No allowance for the network is due: the path to the platform is a loopback connection that no fault cuts, so that bytes arrive when they
 * are sent, also those of a process that is killed or stopped then. `afterMs` keeps a test that reads late from accusing the process.
 */
export function strayWrites(
  arrivals: readonly Arrival[],
  intents: readonly TimedIntent[],
  tenures: ReadonlyMap<string, readonly Tenure[]>,
): readonly string[] {
  const byRequest = Map.groupBy(intents, ({ unit, hash }) => `${unit} ${hash}`);
  const used = new Set<string>();
  return arrivals
    .toSorted((left, right) => left.seenMs - right.seenMs)
    .flatMap((arrival) => {
      const same = (byRequest.get(`${arrival.unit} ${arrival.hash}`) ?? []).toSorted((a, b) => a.openedMs - b.openedMs);
      const own = same.findLast((intent) => !used.has(intent.id) && isOpen(intent, arrival));
      if (own === undefined)
        return [`${arrival.unit}: ${arrival.request} arrived ${withoutIntent(arrival, same, used)}`];
      used.add(own.id);
      const late = lateness(
        arrival,
        tenures.get(own.unit)?.find(({ epoch }) => epoch === own.epoch),
      );
      return late === undefined ? [] : [`${own.unit}: ${arrival.request} of intent ${own.id} arrived ${late}`];
    });
}

function isOpen({ openedMs, closedMs = Number.POSITIVE_INFINITY }: TimedIntent, { afterMs, seenMs }: Arrival): boolean {
  return openedMs <= seenMs && closedMs >= afterMs;
}

function withoutIntent(arrival: Arrival, same: readonly TimedIntent[], used: ReadonlySet<string>): string {
  const last = same.findLast(({ openedMs }) => openedMs <= arrival.seenMs);
  if (last === undefined) return 'and no intent promised it';
  if (isOpen(last, arrival)) return `twice for intent ${last.id} of epoch ${last.epoch}`;
  const lateMs = Math.round(arrival.afterMs - (last.closedMs ?? arrival.afterMs));
  const standing = used.has(last.id) ? 'which had another write already' : 'which had no write';
  return `${lateMs} ms after intent ${last.id} of epoch ${last.epoch} was closed, ${standing}`;
}

/** Returns how an arrival lies outside a lease; undefined: it does not. */
function lateness({ afterMs, seenMs }: Arrival, tenure: Tenure | undefined): string | undefined {
  if (tenure === undefined) return 'and the database never granted its epoch';
  const { epoch, next, releasedMs } = tenure;
  if (next !== undefined && afterMs > next.grantedMs)
    return `${Math.round(afterMs - next.grantedMs)} ms after epoch ${next.epoch} was granted; it has epoch ${epoch}`;
  if (releasedMs !== undefined && afterMs > releasedMs)
    return `${Math.round(afterMs - releasedMs)} ms after the lease of epoch ${epoch} was released`;
  const lateMs = afterMs - expiryAt(tenure, seenMs);
  return lateMs > CLOCK_MS ? `${Math.round(lateMs)} ms after the lease of epoch ${epoch} expired` : undefined;
}
