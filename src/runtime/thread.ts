import { Worker } from 'node:worker_threads';

/** Another thread of this process, with its own heap. Messages are cloned; nothing else is shared. */
export interface Thread {
  send(message: unknown): void;
  /** Calls `listener` with each message that the thread sends from now on. */
  onMessage(listener: (message: unknown) => void): void;
  /** Resolves when the thread has ended, for any reason. */
  readonly ended: Promise<ThreadEnd>;
  /** Ends the thread at once, and resolves when it has ended. */
  end(): Promise<void>;
}

export type ThreadEnd =
  | { readonly type: 'out-of-memory' }
  /** The thread threw an error that it did not catch. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'exited' };

export interface ThreadLimits {
  /** MiB of heap for objects that survive garbage collection; new objects take up to 16 MiB more. */
  readonly heapMib: number;
}

/** Starts a thread. @throws Error when the system cannot start one. */
export type OpenThread = (limits: ThreadLimits) => Promise<Thread>;

/** MiB of heap for new objects. The default of V8 is three times as much. */
const YOUNG_MIB = 16;

/**
 * Returns a function that starts threads which run this file. They get `data` and no environment, because that holds
 * tokens.
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
