import type { Log } from '../runtime/log.ts';
import { type Allowances, nothingAllowed } from './acceptance.ts';

const FLAGS = { empty: '--allow-empty', shrunk: '--allow-shrunk', rewind: '--allow-rewind' } as const;

/**
 * The overrides of the start. They are for the state of the source that the operator looked at: the first revision that this process
 * reads, also while it does not lead the source, as long as no replica accepts anything. Kept for longer, they would overrule the
 * guards on a later commit.
 */
export class StartAllowances {
  readonly #log: Log;
  #present: Allowances;
  /** The first revision that this process read. */
  #revision: string | undefined;
  /** The acceptance that was in force when this process first looked. */
  #acceptance: string | undefined;

  constructor({ allow, log }: { readonly allow: Allowances; readonly log: Log }) {
    this.#present = allow;
    this.#log = log;
  }

  /** Returns what is allowed about the revision that was read last. */
  get present(): Allowances {
    return this.#present;
  }

  /** Call with each revision before it is considered. */
  noteRead(revision: string): void {
    this.#revision ??= revision;
    if (revision !== this.#revision) this.#endUnused(`${revision} was read since`);
  }

  /** @param acceptance identifies the last acceptance in the ledger, whichever process made it. */
  noteAcceptance(acceptance: string): void {
    this.#acceptance ??= acceptance;
    if (acceptance !== this.#acceptance) this.#endUnused('a revision was accepted since');
  }

  /** Call when this process has accepted a revision. */
  end(): void {
    this.#present = nothingAllowed;
  }

  #endUnused(why: string): void {
    const flags = (['empty', 'shrunk', 'rewind'] as const).filter((one) => this.#present[one]).map((one) => FLAGS[one]);
    if (flags.length === 0) return;
    this.end();
    const revision = this.#revision ?? 'the first revision that is read';
    this.#log.warn(`${flags.join(', ')} has no effect any more: it was for ${revision}, and ${why}`);
  }
}
