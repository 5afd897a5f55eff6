import type { Dispatcher } from 'undici';
import type { Deadlines, Expiring } from './deadlines.ts';
import { IncomingAnswer, type Progress, transportError } from './http-answer.ts';
import { type PlatformRequest, type PlatformResponse, RECORD_BYTES_MAX } from './transport.ts';

type ResponseHeaders = Dispatcher.ResponseData['headers'];

/** What reads share. */
export interface ReadWorld {
  readonly pool: Dispatcher;
  readonly deadlines: Deadlines;
  /** Is it the error of a connection that never opened? */
  readonly isNeverConnected: (error: Error) => boolean;
}

/**
 * Sends a read over the pool and gathers its answer. The words of undici's dispatcher are listened to directly: as a
 * stream to iterate, a small answer costs more than to ask for it.
 */
export function sendRead(
  request: PlatformRequest,
  options: Dispatcher.DispatchOptions,
  world: ReadWorld,
): Promise<PlatformResponse> {
  return new Promise((resolve, reject) => {
    const read = new ReadUnderWay(request, world, resolve, reject);
    if (read.begin()) world.pool.dispatch(options, read);
  });
}

/** Whatever a method of undici's throws ends the request: the connection is closed, and the error comes back to us. */
class ReadUnderWay implements Dispatcher.DispatchHandler, Expiring {
  readonly #request: PlatformRequest;
  readonly #world: ReadWorld;
  readonly #resolve: (response: PlatformResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #answer: IncomingAnswer;
  readonly #progress: Progress = { hasHeaders: false };
  #controller: Dispatcher.DispatchController | undefined;
  #isLate = false;
  #isOver = false;

  constructor(
    request: PlatformRequest,
    world: ReadWorld,
    resolve: (response: PlatformResponse) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#world = world;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#answer = new IncomingAnswer(request.answerBytesMax ?? RECORD_BYTES_MAX);
  }

  /** @returns false where it was given up before it began. */
  begin(): boolean {
    const { signal, timeoutMs } = this.#request;
    this.#world.deadlines.add(this, timeoutMs);
    signal?.addEventListener('abort', this, { once: true });
    if (signal?.aborted === true) this.handleEvent();
    return !this.#isOver;
  }

  /** The signal of the request fires. */
  handleEvent(): void {
    this.#giveUp();
  }

  expire(): void {
    this.#isLate = true;
    this.#giveUp();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while its socket opened: this is the last moment at which nothing of it has left.
    if (this.#isOver) controller.abort(givenUp());
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return; // the answer proper is still to come
    this.#progress.hasHeaders = true;
    this.#answer.begin(status, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#answer.add(chunk);
  }

  onResponseEnd(): void {
    const response = this.#answer.whole();
    if (this.#end()) this.#resolve(response);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #giveUp(): void {
    const error = givenUp();
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #fail(error: Error): void {
    if (!this.#end()) return;
    const isUnsent = this.#world.isNeverConnected(error);
    this.#reject(transportError(error, isUnsent, this.#progress, this.#isLate, this.#request));
  }

  /** @returns false where it was over before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#world.deadlines.remove(this);
    this.#request.signal?.removeEventListener('abort', this);
    return true;
  }
}

/** Never seen: what is said in its place names the signal or the time. */
function givenUp(): Error {
  return new Error('given up');
}
