import type { ControllerObserver, RequestFacts } from '../controller/api.ts';
import type { MinuteTraffic, OperationTraffic, PlatformTraffic } from '../model/platform-status.ts';
import type { Clock } from '../runtime/clock.ts';

const MINUTE_MS = 60_000;
/** Minutes of the chart. */
const MINUTES = 60;
/** Minutes of the sums by operation. */
const RECENT_MINUTES = 5;
/** Intervals of response times per doubling: quantiles are within 5 %. */
const PER_DOUBLING = 8;
/** About nine minutes; longer times count as this. */
const INTERVALS = 20 * PER_DOUBLING;
const FAILED: ReadonlySet<RequestFacts['outcome']> = new Set(['5xx', 'timeout', 'network']);

export type Traffic = ReturnType<typeof createTraffic>;

/** Counts the requests to platforms of the last hour by minute, and those of the last minutes by operation, in bounded memory. */
export function createTraffic(clock: Clock) {
  const platforms = new Map<string, Minute[]>();
  const minuteNow = (): number => Math.floor(clock.now() / MINUTE_MS);

  const request: ControllerObserver['request'] = (facts) => {
    const minutes = platforms.get(facts.platform) ?? [];
    platforms.set(facts.platform, minutes);
    const at = minuteNow();
    // The wall clock may be set back: then the newest minute stays.
    if (minutes.at(-1) === undefined || (minutes.at(-1)?.at ?? 0) < at) minutes.push(new Minute(at));
    if (minutes.length > MINUTES) minutes.shift();
    const old = minutes.at(-RECENT_MINUTES - 1);
    if (old !== undefined) old.operations.clear();
    minutes.at(-1)?.add(facts);
  };

  return {
    request,
    /** Returns the requests to one platform. */
    of: (platform: string): PlatformTraffic => {
      const now = minuteNow();
      const byTime = new Map((platforms.get(platform) ?? []).map((minute) => [minute.at, minute]));
      const at = (minute: number): Minute => byTime.get(minute) ?? new Minute(minute);
      const recent = range(now, RECENT_MINUTES).map(at);
      const all = sum(recent.map(({ all: one }) => one));
      const operations = new Set(recent.flatMap((minute) => [...minute.operations.keys()]));
      return {
        recent: { ...factsOf(all), p99Ms: all.quantile(0.99), perSecond: all.requests / (RECENT_MINUTES * 60) },
        operations: [...operations]
          .map((name) => operationOf(name, sum(recent.flatMap((minute) => minute.operations.get(name) ?? []))))
          .sort((left, right) => right.requests - left.requests),
        minutes: range(now, MINUTES).map(
          (minute): MinuteTraffic => ({ atMs: minute * MINUTE_MS, ...factsOf(at(minute).all) }),
        ),
      };
    },
  };
}

/** Returns this many minutes up to `last`, oldest first. */
function range(last: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => last - count + 1 + index);
}

function operationOf(operation: string, counts: Counts): OperationTraffic {
  const outcomes = Object.fromEntries(counts.outcomes);
  return { operation, isRead: counts.isRead, ...factsOf(counts), p99Ms: counts.quantile(0.99), outcomes };
}

function factsOf(counts: Counts) {
  const of = (is: (outcome: RequestFacts['outcome']) => boolean): number =>
    [...counts.outcomes].reduce((total, [outcome, count]) => total + (is(outcome) ? count : 0), 0);
  return {
    requests: counts.requests,
    failed: of((outcome) => FAILED.has(outcome)),
    throttled: of((outcome) => outcome === 'throttled'),
    p50Ms: counts.quantile(0.5),
    p95Ms: counts.quantile(0.95),
  };
}

class Minute {
  readonly all = new Counts();
  readonly operations = new Map<string, Counts>();
  readonly at: number;

  /** @param at minutes since 1970. */
  constructor(at: number) {
    this.at = at;
  }

  add(facts: RequestFacts): void {
    this.all.add(facts);
    const one = this.operations.get(facts.operation) ?? new Counts();
    this.operations.set(facts.operation, one);
    one.add(facts);
  }
}

function sum(counts: readonly Counts[]): Counts {
  const total = new Counts();
  for (const one of counts) total.merge(one);
  return total;
}

/** Counts of outcomes and a histogram of response times. */
class Counts {
  requests = 0;
  isRead = true;
  readonly outcomes = new Map<RequestFacts['outcome'], number>();
  readonly #times = new Map<number, number>();

  add({ outcome, tookMs, isRead }: RequestFacts): void {
    this.requests += 1;
    this.isRead = isRead;
    increase(this.outcomes, outcome, 1);
    increase(this.#times, intervalOf(tookMs), 1);
  }

  merge(other: Counts): void {
    this.requests += other.requests;
    if (other.requests > 0) this.isRead = other.isRead;
    for (const [outcome, count] of other.outcomes) increase(this.outcomes, outcome, count);
    for (const [interval, count] of other.#times) increase(this.#times, interval, count);
  }

  /** @param share 0 to 1. @returns milliseconds; null: no request. */
  quantile(share: number): number | null {
    let left = Math.ceil(share * this.requests);
    for (const [interval, count] of [...this.#times].sort(([one], [other]) => one - other)) {
      left -= count;
      if (left <= 0) return middleOf(interval);
    }
    return null;
  }
}

function increase<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Returns the interval of a response time. Times below a millisecond have the first one. */
function intervalOf(ms: number): number {
  return Math.max(0, Math.min(INTERVALS, Math.round(Math.log2(Math.max(1, ms)) * PER_DOUBLING)));
}

function middleOf(interval: number): number {
  return Math.round(2 ** (interval / PER_DOUBLING) * 10) / 10;
}
