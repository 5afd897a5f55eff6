import { Worker } from 'node:worker_threads';

/** Another thread of this process, with a heap of its own. Messages are cloned; nothing else is shared. */
export interface Thread {
  send(message: unknown): void;
  /** Calls back with each message of the thread, from now on. */
  onMessage(listener: (message: unknown) => void): void;
  /** Resolves when the thread is gone, whatever ended it. */
  readonly ended: Promise<ThreadEnd>;
  /** Ends it wherever it is, and resolves when it is gone. */
  end(): Promise<void>;
}

export type ThreadEnd =
  | { readonly type: 'out-of-memory' }
  /** An error that nothing in it caught. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'exited' };

export interface ThreadLimits {
  /** MiB of objects that last; what is new takes up to 16 more. */
  readonly heapMib: number;
}

/** Starts a thread. @throws Error when the system has no room for one. */
export type OpenThread = (limits: ThreadLimits) => Promise<Thread>;

/** MiB for objects that are new. V8 would take three times as much. */
const YOUNG_MIB = 16;

/**
 * Threads that run this file. They get no environment, because it holds tokens, and nothing else but `data`.
 * @param data cloned; must hold no secret.
 */
export function threadsOf(file: URL, data: unknown): OpenThread {
  return async ({ heapMib }) => {
    const worker = new Worker(file, {
      env: {},
      argv: [],
      execArgv: [],
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    const ended = new Promise<ThreadEnd>((resolve) => {
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ type: 'out-of-memory' });
        else resolve({ type: 'failed', reason: error.stack ?? String(error) });
      });
      worker.on('exit', () => resolve({ type: 'exited' }));
    });
    return {
      send: (message) => worker.postMessage(message),
      onMessage: (listener) => void worker.on('message', listener),
      ended,
      end: async () => void (await worker.terminate()),
    };
  };
}
