import { Allowance } from '../runtime/allowance.ts';
import { type Clock, NOT_NEEDED } from '../runtime/clock.ts';
import type { ServerLimits } from './limits.ts';
import * as refusals from './refusals.ts';

/** After this time the next piece may begin, even if the present one still waits for something. */
const PIECE_MAX_MS = 250;

/** Runs a piece of work when its turn comes. */
export type RunPiece = <Result>(piece: () => Result | Promise<Result>) => Promise<Result>;

export type Pace = ReturnType<typeof createPace>;

/**
 * Limits the share of the event loop that answers take, so that reconciliation keeps the rest however many clients send requests.
 * Answers are made in small pieces, one at a time. Callers take turns, so that none of them can block the others.
 */
export function createPace(
  clock: Clock,
  { readBurstMs, readShare, readsWaiting }: Pick<ServerLimits, 'readBurstMs' | 'readShare' | 'readsWaiting'>,
) {
  /** Time of the event loop that answers may use. */
  const allowance = new Allowance(clock, readBurstMs, readShare);
  const queue = createQueue(readsWaiting);
  let isTaken = false;

  /** Ends the turn of a piece when the piece is done, or after `PIECE_MAX_MS`, and begins the next one. */
  const endTurn = async (begun: Promise<unknown>, beganMs: number): Promise<void> => {
    const done = new AbortController();
    const end = (): void => done.abort(NOT_NEEDED);
    const overdue = clock.sleep(PIECE_MAX_MS, done.signal).catch(() => {}); // The piece ended in time.
    await Promise.race([begun.then(end, end), overdue]);
    allowance.use(clock.monotonic() - beganMs);
    // Lets other due work run, and waits as long as the share requires.
    const { debtMs } = allowance;
    if (queue.size > 0 || debtMs > 0) await clock.sleep(debtMs);
    isTaken = queue.beginNext();
  };

  return {
    /**
     * Runs one piece of an answer when the caller's turn comes.
     * @param piece takes a few milliseconds and waits for nothing outside this process.
     * @throws the signal's reason when it is aborted first; RequestProblem 503 when too many pieces wait.
     */
    run: async <Result>(
      caller: string,
      signal: AbortSignal,
      piece: () => Result | Promise<Result>,
    ): Promise<Result> => {
      signal.throwIfAborted();
      if (isTaken) await queue.turnOf(caller, signal);
      isTaken = true;
      const beganMs = clock.monotonic();
      const begun = new Promise<Result>((resolve) => resolve(piece()));
      void endTurn(begun, beganMs);
      return begun;
    },
    /** Counts time of the event loop that an answer takes outside its pieces. */
    charge: (ms: number): void => allowance.use(ms),
  };
}

/** Creates a queue of pieces: callers take turns, and the pieces of one caller run in order. */
function createQueue(max: number) {
  /** Pieces by caller. The caller whose turn is next comes first. */
  const waiting = new Map<string, Set<() => void>>();
  let size = 0;
  const remove = (caller: string, line: Set<() => void>, begin: () => void): void => {
    line.delete(begin);
    size -= 1;
    if (line.size === 0) waiting.delete(caller);
  };
  return {
    get size() {
      return size;
    },
    turnOf(caller: string, signal: AbortSignal): Promise<void> {
      if (size >= max) throw refusals.tooManyReads(max);
      return new Promise((resolve, reject) => {
        const line = waiting.get(caller) ?? new Set();
        waiting.set(caller, line);
        const leave = (): void => {
          remove(caller, line, begin);
          reject(signal.reason as Error);
        };
        const begin = (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        line.add(begin);
        size += 1;
        signal.addEventListener('abort', leave, { once: true });
      });
    },
    /** Begins the next piece. @returns false when none waits. */
    beginNext(): boolean {
      for (const [caller, line] of waiting)
        for (const begin of line) {
          // The other pieces of this caller wait behind all other callers.
          waiting.delete(caller);
          waiting.set(caller, line);
          remove(caller, line, begin);
          begin();
          return true;
        }
      return false;
    },
  };
}
