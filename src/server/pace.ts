import { Allowance } from '../runtime/allowance.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ServerLimits } from './limits.ts';
import * as refusals from './refusals.ts';

interface Waiter {
  begin(): void;
}

/** So long a piece has the loop for itself. */
const PIECE_MAX_MS = 250;

/** Runs one piece of work when it is its turn. */
export type RunPiece = <Result>(piece: () => Result | Promise<Result>) => Promise<Result>;

/**
 * Limits the share of the event loop that answers take, so that reconciliation keeps the rest however many clients ask. Answers are
 * made in small pieces, one at a time; callers take turns, so that one of them cannot keep the others waiting.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #waitersMax: number;
  /** Time of the loop. */
  readonly #allowance: Allowance;
  /** Those that wait, by caller; the caller whose turn is next stands first. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #waiters = 0;
  #isTaken = false;

  constructor(
    clock: Clock,
    { readBurstMs, readShare, readsWaiting }: Pick<ServerLimits, 'readBurstMs' | 'readShare' | 'readsWaiting'>,
  ) {
    this.#clock = clock;
    this.#waitersMax = readsWaiting;
    this.#allowance = new Allowance(clock, readBurstMs, readShare);
  }

  /**
   * Runs one piece of an answer when it is the caller's turn.
   * @param piece takes a few milliseconds; waits for nothing outside this process.
   * @throws the signal's reason when it is aborted first; RequestProblem 503 when too many pieces wait.
   */
  async run<Result>(caller: string, signal: AbortSignal, piece: () => Result | Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    if (this.#isTaken) await this.#turnOf(caller, signal);
    this.#isTaken = true;
    const beganMs = this.#clock.monotonic();
    const begun = new Promise<Result>((resolve) => resolve(piece()));
    void this.#endOf(begun, beganMs);
    return begun;
  }

  /** Counts time of the loop that an answer takes outside its pieces. */
  charge(ms: number): void {
    this.#allowance.use(ms);
  }

  /** Ends the turn of a piece when it is done. A piece that waits for something after all does not keep the others waiting. */
  async #endOf(begun: Promise<unknown>, beganMs: number): Promise<void> {
    const done = new AbortController();
    const settled = begun.then(
      () => done.abort(),
      () => done.abort(),
    );
    const overdue = this.#clock.sleep(PIECE_MAX_MS, done.signal).catch(() => {}); // It ended in time.
    await Promise.race([settled, overdue]);
    this.charge(this.#clock.monotonic() - beganMs);
    await this.#passOn();
  }

  #turnOf(caller: string, signal: AbortSignal): Promise<void> {
    if (this.#waiters >= this.#waitersMax) throw refusals.tooManyReads(this.#waitersMax);
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(caller) ?? new Set();
      this.#waiting.set(caller, line);
      const leave = (): void => {
        line.delete(waiter);
        this.#waiters -= 1;
        if (line.size === 0) this.#waiting.delete(caller);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        begin: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      line.add(waiter);
      this.#waiters += 1;
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Lets everything else that is due run, rests as long as the share asks for, and begins the next piece. */
  async #passOn(): Promise<void> {
    const { debtMs } = this.#allowance;
    if (this.#waiters > 0 || debtMs > 0) await this.#clock.sleep(debtMs);
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isTaken = false;
      return;
    }
    const [caller, line] = first;
    const [waiter] = line;
    if (waiter === undefined) throw new Error('a caller without a piece stays in line');
    line.delete(waiter);
    this.#waiters -= 1;
    this.#waiting.delete(caller);
    if (line.size > 0) this.#waiting.set(caller, line);
    waiter.begin();
  }
}
