import type { Dispatcher } from 'undici';
import type { Deadlines, Expiring } from './deadlines.ts';
import { IncomingAnswer, type Progress, transportError } from './http-answer.ts';
import { type PlatformRequest, type PlatformResponse, RECORD_BYTES_MAX } from './transport.ts';

type ResponseHeaders = Dispatcher.ResponseData['headers'];

/** The parts that all reads share. */
export interface ReadWorld {
  readonly pool: Dispatcher;
  readonly deadlines: Deadlines;
  /** Returns whether an error is that of a connection that never opened. */
  readonly isNeverConnected: (error: Error) => boolean;
}

/**
 * Sends a read over the pool and collects its answer. It uses undici's dispatcher directly: for a small answer, a stream would
 * cost more than the request.
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

/** A read in flight. If a method throws, undici closes the connection and passes the error to `onResponseError`. */
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

  /** Returns false if the read was cancelled before it began. */
  begin(): boolean {
    const { signal, timeoutMs } = this.#request;
    this.#world.deadlines.add(this, timeoutMs);
    signal?.addEventListener('abort', this, { once: true });
    if (signal?.aborted === true) this.handleEvent();
    return !this.#isOver;
  }

  /** Called when the signal of the request fires. */
  handleEvent(): void {
    this.#giveUp();
  }

  expire(): void {
    this.#isLate = true;
    this.#giveUp();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Cancelled while its socket opened: no byte of it has left yet.
    if (this.#isOver) controller.abort(givenUp());
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return; // the final answer follows
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

  /** Returns false if the read had ended before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#world.deadlines.remove(this);
    this.#request.signal?.removeEventListener('abort', this);
    return true;
  }
}

/** Returns an error that is never shown: the message names the signal or the timeout instead. */
function givenUp(): Error {
  return new Error('given up');
}
