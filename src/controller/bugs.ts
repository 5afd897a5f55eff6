import type { Log } from '../runtime/log.ts';

/** Returns the text of an error that no code expects, with its stack. */
export function bugText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Logs the bugs of a loop that continues after them: if it ended, this process would keep its leases without doing the work. A bug that
 * repeats is logged once, until the loop works again.
 */
export class LoopBugs {
  readonly #log: Pick<Log, 'error'>;
  #last: string | undefined;

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log;
  }

  note(error: unknown): void {
    const text = bugText(error);
    if (text !== this.#last) this.#log.error(`a bug in Portolan: ${text}`);
    this.#last = text;
  }

  /** Notes that the loop works. */
  clear(): void {
    this.#last = undefined;
  }
}
