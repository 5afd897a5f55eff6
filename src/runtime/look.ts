import { type Clock, NOT_NEEDED } from './clock.ts';

/** Time that probes, scrapes and pages wait for the database. Prometheus gives up after 10 s, and probes sooner. */
const LOOK_MS = 2_000;

/**
 * Returns the result of a read, or undefined if it takes longer than two seconds: a database that does not answer must not hide what
 * else a process shows. The read continues. Rejects if the read does within this time.
 */
export async function soon<Result>(clock: Clock, reading: Promise<Result>): Promise<Result | undefined> {
  const stop = new AbortController();
  const tooLate = clock.sleep(LOOK_MS, stop.signal).then(
    () => undefined,
    () => undefined, // Ended below.
  );
  try {
    return await Promise.race([reading, tooLate]);
  } finally {
    stop.abort(NOT_NEEDED);
  }
}

/**
 * Returns a function that reads, and returns the result as `soon`. While a read that was too late is under way, no other one begins: the
 * function then returns its result.
 */
export function lookAt<Result>(clock: Clock, read: () => Promise<Result>): () => Promise<Result | undefined> {
  let late: Promise<Result> | undefined;
  return async () => {
    const reading = late ?? read();
    const result = await soon(clock, reading);
    if (result !== undefined || late !== undefined) return result;
    late = reading;
    const end = (): void => {
      late = undefined;
    };
    reading.then(end, end);
    return undefined;
  };
}
