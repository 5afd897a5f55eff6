import type { ServerResponse } from 'node:http';
import type { ControllerApi } from '../controller/api.ts';
import type { ControllerEvent } from '../model/status.ts';
import type { Clock } from '../runtime/clock.ts';
import { linkedAbort } from './linked-abort.ts';
import type { ServerLimits } from './limits.ts';
import type { Pace } from './pace.ts';
import { positionAt } from './paging.ts';
import { refusal } from './problem.ts';

/** The start of a stream and the events it carries. */
export interface StreamRequest {
  /** The controller as the caller may see it. */
  readonly api: ControllerApi;
  /** The stream begins after the event with this sequence number. */
  readonly sequence: number;
  /** Events are missing between the last one that the client received and this start. */
  readonly hasGap: boolean;
  readonly wants: (event: ControllerEvent) => boolean;
  /** The name of the caller. */
  readonly by: string;
}

interface Around {
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly pace: Pace;
  readonly redact: (text: string) => string;
}

/** Events that are read from the controller between two writes. */
const BATCH = 100;

export type Streams = ReturnType<typeof createStreams>;

/** Creates the server-sent event streams. Events are read as fast as the client receives them; none are kept for a client. */
export function createStreams(around: Around, maxAtFirst: number) {
  let max = maxAtFirst;
  let open = 0;
  const ends = new Set<() => void>();
  return {
    /** Sets how many streams may be open. */
    setMax: (next: number): void => {
      max = next;
    },
    /** Takes a slot for a stream. @returns a function that frees it. @throws RequestProblem 503 when none is free. */
    enter: (): (() => void) => {
      if (open >= max)
        throw refusal(503, 'server/too-many-streams', {
          detail: `All ${max} event streams are in use, so this one was not opened.`,
          remedy: 'Close one, or raise spec.server.maxStreams of Settings; GET /api/v1/events needs no stream.',
          retryAfter: 30,
        });
      open += 1;
      let isFree = false;
      return () => {
        if (!isFree) open -= 1;
        isFree = true;
      };
    },
    /** Sends events, and resolves when either side has ended the stream. @param headers sent before the first event. */
    serve: async (
      response: ServerResponse,
      headers: Readonly<Record<string, string>>,
      request: StreamRequest,
    ): Promise<void> => {
      const stop = new AbortController();
      const end = (): void => stop.abort(new Error('the stream was ended'));
      ends.add(end);
      response.once('close', end);
      try {
        response.writeHead(200, headers);
        await pump(response, around, stop.signal, request);
        response.end();
      } catch (error) {
        // The client is too slow, or one of the two sides ended the stream.
        if (error === SLOW) response.destroy();
        else if (stop.signal.aborted) response.end();
        else throw error;
      } finally {
        stop.abort(new Error('the stream has ended'));
        ends.delete(end);
        response.off('close', end);
      }
    },
    /** Ends all streams. Clients may reconnect with their last position. */
    endAll: (): void => {
      for (const end of ends) end();
    },
  };
}

const SLOW = new Error('the reader is too slow');

/** Sends events until `signal` is aborted. @throws the signal's reason, or SLOW. */
async function pump(
  response: ServerResponse,
  { clock, limits, pace, redact }: Around,
  signal: AbortSignal,
  { api, sequence: start, hasGap, wants, by }: StreamRequest,
): Promise<void> {
  const write = async (text: string): Promise<void> => {
    signal.throwIfAborted();
    if (response.write(text)) return;
    const drained = new Bell();
    const ring = (): void => drained.ring();
    response.once('drain', ring);
    const isDrained = await drained.wait(clock, limits.slowReaderMs, signal);
    response.off('drain', ring);
    signal.throwIfAborted();
    if (!isDrained) throw SLOW;
  };
  const textOf = (event: ControllerEvent): string =>
    `id: ${positionAt(api, event.sequence)}\ndata: ${redact(JSON.stringify(event))}\n\n`;
  const bell = new Bell();
  const unsubscribe = api.events.subscribe(() => bell.ring());
  try {
    await write('retry: 2000\n\n');
    if (hasGap) await write(GAP);
    let sequence = start;
    while (!signal.aborted) {
      const { events, isComplete, through } = api.events.since(sequence, BATCH);
      if (!isComplete) await write(GAP);
      const texts = (): string[] => events.filter(wants).map(textOf);
      if (events.length > 0) for (const text of await pace.run(by, signal, texts)) await write(text);
      sequence = through;
      if (events.length > 0) continue;
      if (await bell.wait(clock, limits.heartbeatMs, signal)) continue;
      await write(': still here\n\n');
    }
  } finally {
    unsubscribe();
  }
}

const GAP = `event: gap\ndata: ${JSON.stringify({
  message: 'Earlier events are no longer available. GET /api/v1/history lists all changes.',
})}\n\n`;

/** Wakes a waiter. Remembers a ring that comes while none waits. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Waits for a ring. @returns false when none came in time, or the signal was aborted. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#rung) {
      const enough = linkedAbort(signal);
      this.#wake = () => enough.abort(new Error('it rang'));
      try {
        await clock.sleep(ms, enough.signal);
      } catch {
        // It rang, or the signal was aborted: the caller checks which.
      }
      enough.unlink();
      this.#wake = undefined;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }
}
