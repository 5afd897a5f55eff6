import { hash } from 'node:crypto';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { type ErrorFacts, PortolanError } from '../model/errors.ts';
import type { EpochMs } from '../model/time.ts';

/** Codes of errors that end the thread of a source: what was read is not read again until somebody asks for it. */
const CODES: ReadonlySet<string> = new Set([
  'source/out-of-memory',
  'source/too-slow',
  'source/thread-failed',
  'source/process-ended',
]);

/** Whether reading or parsing exceeded the limits of its thread. */
export function isUnreadable(error: unknown): error is PortolanError {
  return error instanceof PortolanError && CODES.has(error.code);
}

export interface UnreadableOptions extends SourceLedger {
  /** Of Portolan: another one may cope. */
  readonly version: string;
}

/** What was tried: the same files within the same limits by the same program. */
export interface Attempt {
  /** What messages call it: `main@sha1:<id>`. */
  readonly label: string;
  readonly key: string;
}

interface Stored {
  /** The newest last. */
  readonly failed: readonly Failed[];
  /** Begun and not ended: a process that dies on the way leaves it. */
  readonly begun: { readonly key: string; readonly times: number } | null;
}

interface Failed extends Attempt, Pick<ErrorFacts, 'code' | 'message' | 'remedy'> {
  readonly atMs: EpochMs;
}

/** A branch that goes to and fro between a few commits; older ones are forgotten. */
const FAILED_MAX = 16;
/** One process may have been ended for another reason. */
const TIMES_MAX = 2;

/**
 * The commits that a thread could not cope with, in the ledger: a process that starts again does not try them again.
 * They are tried with other limits, another version, or when somebody asks for it.
 */
export class Unreadable {
  readonly #options: UnreadableOptions;
  /** Attempts that this process began. */
  readonly #own = new Set<string>();

  constructor(options: UnreadableOptions) {
    this.#options = options;
  }

  /** @param place plain data that says where files are, and which. */
  attempt(place: unknown, label: string, limits: SourceLimits): Attempt {
    const { version } = this.#options;
    return { label, key: hash('sha256', JSON.stringify([place, label, limits, version])).slice(0, 32) };
  }

  /** @throws PortolanError the error of before, if this was tried and failed. */
  async check({ key, label }: Attempt): Promise<void> {
    const { failed, begun } = await this.#stored();
    const known = failed.find((one) => one.key === key);
    if (known !== undefined) throw new PortolanError({ ...known, disposition: 'invalid' } satisfies ErrorFacts);
    if (begun?.key !== key || this.#own.has(key) || begun.times < TIMES_MAX) return;
    const error = processEnded(label);
    await this.remember({ key, label }, error);
    throw error;
  }

  /** Before something that takes long: a process that dies meanwhile has tried it. */
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

  /** @returns whether there was anything to forget. */
  async forget(): Promise<boolean> {
    const { failed } = await this.#stored();
    if (failed.length > 0) await this.#write({ failed: [], begun: null });
    return failed.length > 0;
  }

  async #stored(): Promise<Stored> {
    const { ledger, source } = this.#options;
    const text = await ledger.fact(factOf(source));
    return text === undefined || text === '' ? { failed: [], begun: null } : (JSON.parse(text) as Stored);
  }

  async #write(stored: Stored): Promise<void> {
    const value = JSON.stringify(stored);
    await recordOfSource(this.#options, [{ op: 'set-fact', key: factOf(this.#options.source), value }]);
  }
}

function factOf(source: string): string {
  return `unreadable ${source}`;
}

/** What to do about a source that its thread cannot cope with. */
export const UNREADABLE_REMEDY =
  'Correct the commit. It is read again on `portolan sync`, with other limits, or with another version of Portolan.';

function processEnded(label: string): PortolanError {
  return new PortolanError({
    code: 'source/process-ended',
    disposition: 'invalid',
    message: `The daemon ended ${TIMES_MAX} times while it read ${label}, so it is not read again. What was accepted before stays in force.`,
    remedy: `Look whether the machine ended it for want of memory, and lower spec.source.limits. ${UNREADABLE_REMEDY}`,
  });
}
