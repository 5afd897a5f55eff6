import type { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Clock } from '../runtime/clock.ts';

/** One region of one platform. */
export interface RegionKey {
  /** Name of the operator's `Platform` document. */
  readonly platform: string;
  readonly region: string;
}

export type CircuitAdmission =
  | { readonly type: 'go' }
  /** When to ask again. While another application probes, this is an estimate. */
  | { readonly type: 'wait'; readonly untilMs: EpochMs };

/** Result of a pass for the circuit. `other`: it says nothing about the platform, because something else ended it. */
export type PassResult = 'success' | 'platform-failure' | 'other';

export interface OpenCircuit {
  readonly untilMs: EpochMs;
  readonly sinceMs: EpochMs;
  /** For messages: `5 failures in a row, by 5 applications`. */
  readonly because: string;
}

export const FAILURES_TO_OPEN = 5;
export const OPEN_MS_FIRST = 10_000;
export const OPEN_MS_MAX = 300_000;
/** After this time, a probe that has not ended is ignored, and another application may probe. */
export const PROBE_MS_MAX = 300_000;
const PROBE_CHECK_MS = 5_000;

/** State of an open circuit. It is half-open while the application `by` probes. */
interface Open {
  /** When the next application may probe. */
  readonly untilMs: MonotonicMs;
  readonly by: ResourceId | undefined;
  /** Number of failed probes. */
  readonly failedProbes: number;
}

interface Circuit {
  /** `undefined` while the circuit is closed. */
  open: Open | undefined;
  /** Number of failures in a row, and the applications that failed. */
  failures: number;
  readonly failing: Set<ResourceId>;
  /** Applications that failed while others succeeded, and have not succeeded since. */
  readonly broken: Set<ResourceId>;
  /** All applications of the region. */
  readonly known: Set<ResourceId>;
  openedMs: EpochMs;
  because: string;
}

/**
 * Pauses a region of a platform while it fails. We do not use cockatiel's circuit breaker: it reads `Date.now`, so it
 * cannot run on a Clock. It counts calls instead of applications, so one broken application could block its whole
 * region. While half-open it rejects calls, where we need the time of the next attempt.
 *
 * - Closed: passes run. It opens after `FAILURES_TO_OPEN` failures in a row that are the platform's fault, if they come
 *   from that many applications, or from all of the region. An application that fails while others succeed is broken:
 *   until it succeeds, its failures do not count and it does not probe.
 * - Open: no pass runs for 10 s at first, and twice as long after each failed probe, up to 5 minutes.
 * - Half-open: one pass probes. Success closes the circuit, failure opens it for longer.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  #circuitOf({ platform, region }: RegionKey): Circuit {
    const key = `${platform}/${region}`;
    const present = this.#circuits.get(key);
    if (present !== undefined) return present;
    const fresh: Circuit = {
      open: undefined,
      failures: 0,
      failing: new Set(),
      broken: new Set(),
      known: new Set(),
      openedMs: 0,
      because: '',
    };
    this.#circuits.set(key, fresh);
    return fresh;
  }

  #onWallClock(atMs: MonotonicMs): EpochMs {
    return this.#clock.now() + (atMs - this.#clock.monotonic());
  }

  /** Returns whether a pass may start. The caller must call `report` after a `go`. */
  admit(region: RegionKey, application: ResourceId): CircuitAdmission {
    const circuit = this.#circuitOf(region);
    circuit.known.add(application);
    const { open } = circuit;
    if (open === undefined) return { type: 'go' };
    const nowMs = this.#clock.monotonic();
    if (nowMs < open.untilMs)
      return open.by === undefined ? { type: 'wait', untilMs: this.#onWallClock(open.untilMs) } : this.#waitForProbe();
    // A broken application proves nothing about the region, unless all are broken.
    if (circuit.broken.has(application) && circuit.known.size > circuit.broken.size) return this.#waitForProbe();
    circuit.open = { untilMs: nowMs + PROBE_MS_MAX, by: application, failedProbes: open.failedProbes };
    return { type: 'go' };
  }

  #waitForProbe(): CircuitAdmission {
    return { type: 'wait', untilMs: this.#clock.now() + PROBE_CHECK_MS };
  }

  /**
   * Notes how a pass ended.
   * @returns how the circuit of the region changed.
   */
  report(region: RegionKey, application: ResourceId, result: PassResult): 'opened' | 'closed' | undefined {
    const circuit = this.#circuitOf(region);
    switch (result) {
      case 'success':
        return this.#succeeded(circuit, application);
      case 'platform-failure':
        return this.#failed(circuit, application);
      case 'other':
        // The probe proved nothing.
        this.#endProbe(circuit, application);
        return undefined;
      default:
        return unreachable(result);
    }
  }

  #succeeded(circuit: Circuit, application: ResourceId): 'closed' | undefined {
    circuit.failing.delete(application);
    for (const other of circuit.failing) circuit.broken.add(other);
    circuit.broken.delete(application);
    circuit.failing.clear();
    circuit.failures = 0;
    // A pass that began before the circuit opened proves as much as a probe.
    const wasOpen = circuit.open !== undefined;
    circuit.open = undefined;
    return wasOpen ? 'closed' : undefined;
  }

  #failed(circuit: Circuit, application: ResourceId): 'opened' | undefined {
    const { open } = circuit;
    if (open === undefined) return this.#failedWhileClosed(circuit, application);
    if (open.by === application) this.#open(circuit, open.failedProbes + 1);
    return undefined;
  }

  #failedWhileClosed(circuit: Circuit, application: ResourceId): 'opened' | undefined {
    if (circuit.broken.has(application)) return undefined;
    circuit.failures += 1;
    circuit.failing.add(application);
    const others = circuit.known.size - circuit.broken.size;
    const isWidespread = circuit.failing.size >= Math.min(FAILURES_TO_OPEN, others);
    if (circuit.failures < FAILURES_TO_OPEN || !isWidespread) return undefined;
    circuit.openedMs = this.#clock.now();
    const applications = circuit.failing.size === 1 ? 'one application' : `${circuit.failing.size} applications`;
    circuit.because = `${circuit.failures} failures in a row, by ${applications}`;
    this.#open(circuit, 0);
    return 'opened';
  }

  #open(circuit: Circuit, failedProbes: number): void {
    const forMs = Math.min(OPEN_MS_MAX, OPEN_MS_FIRST * 2 ** failedProbes);
    circuit.open = { untilMs: this.#clock.monotonic() + forMs, by: undefined, failedProbes };
  }

  /** Returns why the region is paused, and until when; `undefined` while the circuit is closed. */
  state(region: RegionKey): OpenCircuit | undefined {
    const { open, openedMs, because } = this.#circuitOf(region);
    if (open === undefined) return undefined;
    const untilMs = open.by === undefined ? this.#onWallClock(open.untilMs) : this.#clock.now() + PROBE_CHECK_MS;
    return { untilMs, sinceMs: openedMs, because };
  }

  /** Forgets an application that was removed or changed. */
  forget(region: RegionKey, application: ResourceId): void {
    const circuit = this.#circuitOf(region);
    for (const set of [circuit.known, circuit.failing, circuit.broken]) set.delete(application);
    this.#endProbe(circuit, application);
  }

  /** Ends the probe of an application, so that the next one may probe at once. */
  #endProbe(circuit: Circuit, application: ResourceId): void {
    const { open } = circuit;
    if (open?.by === application)
      circuit.open = { untilMs: this.#clock.monotonic(), by: undefined, failedProbes: open.failedProbes };
  }
}

const PLATFORM_FAILURES: ReadonlySet<string> = new Set(['platform/unreachable', 'platform/server-error']);

/**
 * Returns whether an error is the platform's fault: no answer, a late one, 5xx, a cluster that failed. Only such errors
 * count for the circuit. Rejected credentials are the operator's fault, and throttling has its own remedy.
 */
export function isPlatformFailure(error: PortolanError): boolean {
  return PLATFORM_FAILURES.has(error.code);
}
