/** One request as it was answered. No header, no body: nothing secret can be in it. */
export interface LoggedRequest {
  /** Counts from 1. */
  readonly seq: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Name of the operation, or `unknown`. */
  readonly operation: string;
  /** null: no answer was sent, or none that was whole. */
  readonly status: number | null;
  readonly isWrite: boolean;
  readonly effectApplied: boolean;
  /** Type of the fault that struck. */
  readonly fault: string | null;
  readonly atMs: number;
}

const KEPT_MAX = 100_000;

/** The latest requests, oldest first, and how many there were in all. */
export class RequestLog {
  #entries: LoggedRequest[] = [];
  #seq = 0;

  add(entry: Omit<LoggedRequest, 'seq'>): void {
    this.#seq += 1;
    this.#entries.push({ seq: this.#seq, ...entry });
    if (this.#entries.length > KEPT_MAX * 1.1) this.#entries = this.#entries.slice(-KEPT_MAX);
  }

  entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** Forgets the entries; numbers continue. */
  clear(): void {
    this.#entries = [];
  }
}
