import { PortolanError } from '../model/errors.ts';
import type { DesiredState } from '../model/resource.ts';
import type { Thread, ThreadEnd } from '../runtime/thread.ts';
import { type CallName, type Calls, CONTENTS_MAX, type Reply, type Stream } from './thread-messages.ts';

/** Thrown when the thread ended before it answered. */
export class ThreadEnded extends Error {
  readonly end: ThreadEnd;

  constructor(end: ThreadEnd) {
    super(`the thread ended: ${end.type}`);
    this.end = end;
  }
}

type Waiting = PromiseWithResolvers<unknown>;

/** One thread from its start to its end, as the main thread sees it. */
export class ThreadSession {
  /** The set that both threads have. The next load sends only its changes. */
  base: DesiredState = new Map();
  isGone = false;
  readonly #thread: Thread;
  readonly #waiting = new Map<number, Waiting>();
  #questions = 0;
  #readings = 0;

  constructor(thread: Thread) {
    this.#thread = thread;
    thread.onMessage((message) => this.#hear(message as Reply));
    void thread.ended.then((end) => {
      this.isGone = true;
      for (const { reject } of this.#waiting.values()) reject(new ThreadEnded(end));
      this.#waiting.clear();
    });
  }

  /** Calls the thread. @throws PortolanError that the thread threw. @throws ThreadEnded when it ends before it answers. */
  async call<Name extends CallName>(call: Name, input: Calls[Name]['input']): Promise<Calls[Name]['output']> {
    if (this.isGone) throw new ThreadEnded(await this.#thread.ended);
    this.#questions += 1;
    const waiting: Waiting = Promise.withResolvers();
    this.#waiting.set(this.#questions, waiting);
    this.#thread.send({ id: this.#questions, call, input });
    return (await waiting.promise) as Calls[Name]['output'];
  }

  /** Calls the thread to read files, which it then keeps. */
  async open<Name extends 'commit' | 'folder' | 'files' | 'unpack'>(
    call: Name,
    input: Calls[Name]['input'],
  ): Promise<Calls[Name]['output']> {
    const output = await this.call(call, input);
    this.#readings = output.contents;
    return output;
  }

  /** Returns whether the thread still has these files. */
  holds(contents: number): boolean {
    return !this.isGone && contents > this.#readings - CONTENTS_MAX;
  }

  /** Yields the items of an answer. */
  async *items<Item>(first: Stream): AsyncGenerator<Item> {
    for (let { piece, rest } = first; piece !== undefined; ) {
      yield* JSON.parse(piece) as readonly Item[];
      if (rest === undefined) return;
      ({ piece, rest } = await this.call('next', { rest }));
    }
  }

  /** Ends the thread at once, and resolves when it has ended. It takes no calls from now on. */
  end(): Promise<void> {
    this.isGone = true;
    return this.#thread.end();
  }

  #hear(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === 'answer') waiting?.resolve(reply.output);
    else if (reply.type === 'error') waiting?.reject(new PortolanError(reply.error));
    else waiting?.reject(new Error(`in the thread of a source: ${reply.reason}`));
  }
}
