import { hash } from 'node:crypto';
import PQueue from 'p-queue';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { type ErrorFacts, invalidInput, PortolanError } from '../model/errors.ts';
import type { EpochMs } from '../model/time.ts';
import type { CommitPlace, FolderPlace } from './contents.ts';

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
  /** Returns the ledger to write; undefined while another replica leads the source: only its leader writes what all remember. */
  writable(): Ledger | undefined;
}

/** One attempt: the same files, with the same limits and the same version. */
export interface Attempt {
  /** The name in messages: `main@sha1:<id>`. */
  readonly label: string;
  readonly key: string;
  /** Each step is counted by itself: files that are read say nothing about what happens when they are parsed. */
  readonly step: 'read' | 'load';
}

interface Stored {
  /** Failed attempts, the newest last. */
  readonly failed: readonly Failed[];
  /** Attempts that have not ended, the newest last. A process that dies during one leaves it here. */
  readonly attempts: readonly Begun[];
  /** The only attempt that earlier versions count; kept for those that run beside this one. */
  readonly begun?: unknown;
}

interface Begun extends Pick<Attempt, 'key' | 'step'> {
  /** Number of processes that began it. */
  readonly times: number;
}

interface Failed extends Pick<Attempt, 'label' | 'key'>, Pick<ErrorFacts, 'code' | 'message' | 'remedy'> {
  readonly atMs: EpochMs;
}

/** Number of failures to remember: enough for a branch that switches between a few commits. */
const FAILED_MAX = 16;
/** Number of attempts to count: one for each step of a commit, and for replicas with other limits or another version. */
const ATTEMPTS_MAX = 16;
/** Number of processes that may die during an attempt. A single one may have died for another reason, or have lost the lead. */
const TIMES_MAX = 2;

/**
 * Records in the ledger which sources ended their thread, so that neither a restarted process nor another replica retries them. They
 * are retried with other limits, another version, or when a sync requests it. A replica that does not lead the source remembers its
 * own failures until it ends or leads: then it tries once more, and records the result for all.
 */
export class Unreadable {
  readonly #options: UnreadableOptions;
  /** Attempts that this process has recorded, and whose end it has not. They do not count against it. */
  readonly #own = new Set<string>();
  /** Failures of this process while another one led the source. */
  #local: readonly Failed[] = [];
  /** A change reads the fact and writes it, so changes do not overlap. */
  readonly #changes = new PQueue({ concurrency: 1 });

  constructor(options: UnreadableOptions) {
    this.#options = options;
  }

  /** Returns the attempt to read a place. */
  attempt(place: CommitPlace | FolderPlace, label: string, limits: SourceLimits): Attempt {
    const { version } = this.#options;
    const parts = JSON.stringify([contentOf(place, label), limits, version]);
    return { label, key: hash('sha256', parts).slice(0, 32), step: 'read' };
  }

  /** @throws PortolanError the previous error, if this attempt has failed before. */
  async check(attempt: Attempt): Promise<void> {
    const { key, label } = attempt;
    const isLeader = this.#options.writable() !== undefined;
    const { failed, attempts } = await this.#stored();
    const known = [...failed, ...(isLeader ? [] : this.#local)].find((one) => one.key === key);
    if (known !== undefined) throw new PortolanError({ ...known, disposition: 'invalid' } satisfies ErrorFacts);
    if (!attempts.some((one) => one.key === key && this.#deaths(one) >= TIMES_MAX)) return;
    const error = invalidInput(
      'source/process-ended',
      `The daemon ended ${TIMES_MAX} times while it read ${label}, so it was rejected.`,
      `Check whether the machine killed it for lack of memory, and lower spec.source.limits. ${UNREADABLE_REMEDY}`,
    );
    // The last of the attempts may be in progress, at the leader. Another replica waits for its end.
    if (isLeader) await this.remember(attempt, error);
    throw error;
  }

  /**
   * Records the begin of a long attempt, so that it counts even if the process dies.
   * @returns false while another replica leads the source: then the attempt is not recorded.
   */
  begin({ key, step }: Attempt): Promise<boolean> {
    const id = idOf({ key, step });
    return this.#change((stored) => {
      const times = stored.attempts.find((one) => idOf(one) === id)?.times ?? 0;
      const begun = { key, step, times: this.#own.has(id) ? Math.max(times, 1) : times + 1 };
      this.#own.add(id);
      return { ...stored, attempts: [...without(stored.attempts, id), begun].slice(-ATTEMPTS_MAX) };
    });
  }

  /** Records the end of an attempt: it counts for nothing, whichever processes died during it. */
  async end(attempt: Attempt): Promise<void> {
    const id = idOf(attempt);
    await this.#change((stored) => {
      this.#own.delete(id);
      const attempts = without(stored.attempts, id);
      return attempts.length === stored.attempts.length ? stored : { ...stored, attempts };
    });
  }

  async remember({ key, label }: Attempt, { code, message, remedy }: PortolanError): Promise<void> {
    const failure = { key, label, code, message, remedy, atMs: this.#options.clock.now() };
    const isRecorded = await this.#change(({ failed, attempts }) => ({
      failed: withFailure(failed, failure),
      attempts: attempts.filter((one) => one.key !== key),
    }));
    if (!isRecorded) this.#local = withFailure(this.#local, failure);
  }

  /** Forgets all failures. @returns whether there were any. */
  async forget(): Promise<boolean> {
    let isAny = this.#local.length > 0;
    this.#local = [];
    await this.#change((stored) => {
      if (stored.failed.length === 0) return stored;
      isAny = true;
      return { failed: [], attempts: [] };
    });
    return isAny;
  }

  #deaths(begun: Begun): number {
    return begun.times - (this.#own.has(idOf(begun)) ? 1 : 0);
  }

  async #stored(): Promise<Stored> {
    const { ledger, source } = this.#options;
    const text = await ledger.fact(factOf(source));
    const empty: Stored = { failed: [], attempts: [] };
    return text === undefined || text === '' ? empty : { ...empty, ...(JSON.parse(text) as Partial<Stored>) };
  }

  /** Changes what all processes remember. @returns false, without a change, while another replica leads the source. */
  #change(changed: (stored: Stored) => Stored): Promise<boolean> {
    return this.#changes.add(async () => {
      const ledger = this.#options.writable();
      if (ledger === undefined) return false;
      const before = await this.#stored();
      const after = changed(before);
      if (after === before) return true;
      const operation = { op: 'set-fact', key: factOf(this.#options.source), value: JSON.stringify(after) } as const;
      await recordOfSource({ ...this.#options, ledger }, [operation]);
      return true;
    });
  }
}

/** Returns the attempt to parse what another attempt has read. */
export function loadingOf(reading: Attempt): Attempt {
  return { ...reading, step: 'load' };
}

/**
 * Identifies the files. A commit is the same in each clone, so its place does not count: replicas remember it together. Only the
 * place and the times of plain files identify them before they are read, and no other replica has the same ones.
 */
function contentOf(place: CommitPlace | FolderPlace, label: string): unknown {
  if (!('commit' in place)) return [place, label];
  return [place.commit, place.paths.map(({ within }) => within), place.exclude];
}

function idOf({ key, step }: Pick<Attempt, 'key' | 'step'>): string {
  return `${step} ${key}`;
}

function without(attempts: readonly Begun[], id: string): readonly Begun[] {
  return attempts.filter((one) => idOf(one) !== id);
}

function withFailure(failed: readonly Failed[], failure: Failed): readonly Failed[] {
  return [...failed.filter(({ key }) => key !== failure.key), failure].slice(-FAILED_MAX);
}

function factOf(source: string): string {
  return `unreadable ${source}`;
}

/** Remedy for a source that ends its thread. */
export const UNREADABLE_REMEDY =
  'Correct the commit. Portolan retries it on `portolan sync`, with other limits, or with another version.';
