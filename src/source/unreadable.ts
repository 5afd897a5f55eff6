import { hash } from 'node:crypto';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { type ErrorFacts, invalidInput, PortolanError } from '../model/errors.ts';
import type { EpochMs } from '../model/time.ts';

/** Codes of errors that end the thread of a source. Such a source is not retried until a sync requests it. */
const CODES: ReadonlySet<string> = new Set([
  'source/out-of-memory',
  'source/too-slow',
  'source/thread-failed',
  'source/process-ended',
]);

/** Returns whether reading or parsing exceeded the limits of its thread. */
export function isUnreadable(error: unknown): error is PortolanError {
  return error instanceof PortolanError && CODES.has(error.code);
}

export interface UnreadableOptions extends SourceLedger {
  /** Version of Portolan. Another version may succeed. */
  readonly version: string;
  /**
   * Returns the ledger to write; undefined while another replica leads the source: then this process remembers for itself.
   * Default: `ledger`.
   */
  writable?(): Ledger | undefined;
}

/** One attempt: the same files, with the same limits and the same version. */
export interface Attempt {
  /** The name in messages: `main@sha1:<id>`. */
  readonly label: string;
  readonly key: string;
}

interface Stored {
  /** Failed attempts, the newest last. */
  readonly failed: readonly Failed[];
  /** An attempt that has not ended. A process that dies during it leaves it here. */
  readonly begun: { readonly key: string; readonly times: number } | null;
}

interface Failed extends Attempt, Pick<ErrorFacts, 'code' | 'message' | 'remedy'> {
  readonly atMs: EpochMs;
}

/** Number of failures to remember: enough for a branch that switches between a few commits. */
const FAILED_MAX = 16;
/** Number of processes that may die during an attempt. A single one may have died for another reason. */
const TIMES_MAX = 2;

/**
 * Records in the ledger which sources ended their thread, so that a restarted process does not retry them. They are retried with
 * other limits, another version, or when a sync requests it.
 */
export class Unreadable {
  readonly #options: UnreadableOptions;
  /** Attempts that this process began. */
  readonly #own = new Set<string>();
  /** Failures that only this process remembers. */
  #local: Stored | undefined;

  constructor(options: UnreadableOptions) {
    this.#options = options;
  }

  /** Returns the attempt to read a place. @param place plain data that identifies the files. */
  attempt(place: unknown, label: string, limits: SourceLimits): Attempt {
    const { version } = this.#options;
    return { label, key: hash('sha256', JSON.stringify([place, label, limits, version])).slice(0, 32) };
  }

  /** @throws PortolanError the previous error, if this attempt has failed before. */
  async check({ key, label }: Attempt): Promise<void> {
    const { failed, begun } = await this.#stored();
    const known = failed.find((one) => one.key === key);
    if (known !== undefined) throw new PortolanError({ ...known, disposition: 'invalid' } satisfies ErrorFacts);
    if (begun?.key !== key || this.#own.has(key) || begun.times < TIMES_MAX) return;
    const error = invalidInput(
      'source/process-ended',
      `The daemon ended ${TIMES_MAX} times while it read ${label}, so it was rejected.`,
      `Check whether the machine killed it for lack of memory, and lower spec.source.limits. ${UNREADABLE_REMEDY}`,
    );
    await this.remember({ key, label }, error);
    throw error;
  }

  /** Records the begin of a long attempt, so that it counts even if the process dies. */
  async begin({ key }: Attempt): Promise<void> {
    const stored = await this.#stored();
    const times = stored.begun?.key === key ? stored.begun.times + 1 : 1;
    this.#own.add(key);
    await this.#write({ ...stored, begun: { key, times } });
  }

  async end({ key }: Attempt): Promise<void> {
    const stored = await this.#stored();
    if (stored.begun?.key === key) await this.#write({ ...stored, begun: null });
  }

  async remember({ key, label }: Attempt, { code, message, remedy }: PortolanError): Promise<void> {
    const { failed } = await this.#stored();
    const atMs = this.#options.clock.now();
    const others = failed.filter((one) => one.key !== key).slice(1 - FAILED_MAX);
    await this.#write({ failed: [...others, { key, label, code, message, remedy, atMs }], begun: null });
  }

  /** Forgets all failures. @returns whether there were any. */
  async forget(): Promise<boolean> {
    const { failed } = await this.#stored();
    if (failed.length > 0) await this.#write({ failed: [], begun: null });
    return failed.length > 0;
  }

  #ledger(): Ledger | undefined {
    const { writable, ledger } = this.#options;
    return writable === undefined ? ledger : writable();
  }

  async #stored(): Promise<Stored> {
    const { ledger, source } = this.#options;
    if (this.#local !== undefined && this.#ledger() === undefined) return this.#local;
    const text = await ledger.fact(factOf(source));
    return text === undefined || text === '' ? { failed: [], begun: null } : (JSON.parse(text) as Stored);
  }

  async #write(stored: Stored): Promise<void> {
    const value = JSON.stringify(stored);
    const ledger = this.#ledger();
    this.#local = ledger === undefined ? stored : undefined;
    if (ledger === undefined) return;
    await recordOfSource({ ...this.#options, ledger }, [{ op: 'set-fact', key: factOf(this.#options.source), value }]);
  }
}

function factOf(source: string): string {
  return `unreadable ${source}`;
}

/** Remedy for a source that ends its thread. */
export const UNREADABLE_REMEDY =
  'Correct the commit. Portolan retries it on `portolan sync`, with other limits, or with another version.';
