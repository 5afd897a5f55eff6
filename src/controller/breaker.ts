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
  /** Time to ask again; while another one looks, a guess. */
  | { readonly type: 'wait'; readonly untilMs: EpochMs };

/** `other`: the pass ended before it learned anything of the platform, by its own fault or ours. */
export type PassResult = 'success' | 'platform-failure' | 'other';

export interface OpenCircuit {
  readonly untilMs: EpochMs;
  readonly sinceMs: EpochMs;
  /** For people: `5 failures in a row, by 5 applications`. */
  readonly because: string;
}

export const FAILURES_TO_OPEN = 5;
export const OPEN_MS_FIRST = 10_000;
export const OPEN_MS_MAX = 300_000;
/** Whoever looks for longer is not waited for: another one may look. */
export const LOOK_MS_MAX = 300_000;
const ASK_AGAIN_MS = 5_000;

/** A circuit that is open; half-open while `by`, an application, is sent to look. */
interface Open {
  /** When the next application may look. */
  readonly untilMs: MonotonicMs;
  readonly by: ResourceId | undefined;
  /** Looks that failed. */
  readonly looks: number;
}

interface Circuit {
  /** undefined: it is closed, and passes go. */
  open: Open | undefined;
  /** Failures in a row, and who failed. */
  failures: number;
  readonly failing: Set<ResourceId>;
  /** Failed while others succeeded, and has not succeeded since. */
  readonly broken: Set<ResourceId>;
  /** Everybody who was ever here and is not gone. */
  readonly known: Set<ResourceId>;
  openedMs: EpochMs;
  because: string;
}

/**
 * Leaves a region of a platform alone while nothing works there. Our own small one: cockatiel's circuit breaker reads
 * `Date.now` for when it opened, so it cannot run on a Clock; it sees calls and not applications, and so would let one
 * broken application shut out all others of its region; and one that half-opens refuses the others with an exception
 * where we need the time to come again.
 *
 * - Closed: passes go. It opens after `FAILURES_TO_OPEN` failures in a row that are the platform's fault, if they came
 *   from that many applications, or from all that there are. Whoever fails while others succeed is broken by itself:
 *   until it succeeds its failures do not count, and it is not sent to look.
 * - Open: nobody goes until a time, 10 s at first and twice that after each failed look, 5 minutes at most.
 * - Half-open: one pass goes to look. Its success closes the circuit, its failure opens it for longer.
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

  /** Asked before each pass; a `go` must be followed by `report`. */
  admit(place: RegionKey, application: ResourceId): CircuitAdmission {
    const circuit = this.#circuitOf(place);
    circuit.known.add(application);
    const { open } = circuit;
    if (open === undefined) return { type: 'go' };
    const nowMs = this.#clock.monotonic();
    if (nowMs < open.untilMs)
      return open.by === undefined ? { type: 'wait', untilMs: this.#onWallClock(open.untilMs) } : this.#askAgain();
    // From one that is broken by itself nothing can be learned, unless there is nobody else.
    if (circuit.broken.has(application) && circuit.known.size > circuit.broken.size) return this.#askAgain();
    circuit.open = { untilMs: nowMs + LOOK_MS_MAX, by: application, looks: open.looks };
    return { type: 'go' };
  }

  #askAgain(): CircuitAdmission {
    return { type: 'wait', untilMs: this.#clock.now() + ASK_AGAIN_MS };
  }

  /** @returns what changed for the place, for the event. */
  report(place: RegionKey, application: ResourceId, result: PassResult): 'opened' | 'closed' | undefined {
    const circuit = this.#circuitOf(place);
    switch (result) {
      case 'success':
        return this.#succeeded(circuit, application);
      case 'platform-failure':
        return this.#failed(circuit, application);
      case 'other':
        // It looked and saw nothing.
        this.#stopLooking(circuit, application);
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
    // A pass that began before the circuit opened proves as much as the one that was sent to look.
    const wasOpen = circuit.open !== undefined;
    circuit.open = undefined;
    return wasOpen ? 'closed' : undefined;
  }

  #failed(circuit: Circuit, application: ResourceId): 'opened' | undefined {
    const { open } = circuit;
    if (open === undefined) return this.#failedWhileClosed(circuit, application);
    if (open.by === application) this.#open(circuit, open.looks + 1);
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

  #open(circuit: Circuit, looks: number): void {
    const forMs = Math.min(OPEN_MS_MAX, OPEN_MS_FIRST * 2 ** looks);
    circuit.open = { untilMs: this.#clock.monotonic() + forMs, by: undefined, looks };
  }

  /** Why nobody goes there, and until when; undefined while the circuit is closed. */
  state(place: RegionKey): OpenCircuit | undefined {
    const { open, openedMs, because } = this.#circuitOf(place);
    if (open === undefined) return undefined;
    const untilMs = open.by === undefined ? this.#onWallClock(open.untilMs) : this.#clock.now() + ASK_AGAIN_MS;
    return { untilMs, sinceMs: openedMs, because };
  }

  /** The application is gone. */
  forget(place: RegionKey, application: ResourceId): void {
    const circuit = this.#circuitOf(place);
    for (const set of [circuit.known, circuit.failing, circuit.broken]) set.delete(application);
    this.#stopLooking(circuit, application);
  }

  /** The next one may look, at once. */
  #stopLooking(circuit: Circuit, application: ResourceId): void {
    const { open } = circuit;
    if (open?.by === application) circuit.open = { untilMs: this.#clock.monotonic(), by: undefined, looks: open.looks };
  }
}

const PLATFORM_FAILURES: ReadonlySet<string> = new Set(['platform/unreachable', 'platform/server-error']);

/**
 * Whether an error is the platform's fault (no answer, none in time, 5xx, a cluster that failed): what the circuit counts.
 * Refused credentials are the operator's, and "too much" is answered by asking for less.
 */
export function isPlatformFailure(error: PortolanError): boolean {
  return PLATFORM_FAILURES.has(error.code);
}
