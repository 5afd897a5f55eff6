import type { Ledger, LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { PortolanError } from '../model/errors.ts';
import { canonicalJson } from '../model/json.ts';
import { type Counted, type GuardLimits, guardToll, type Refusal, tollOf } from '../plan/guard.ts';

/** Spent part of a snapshot's allowance. Stored as JSON. */
export type AccountState = {
  readonly snapshot: string;
  /** Objects in the ledger when the snapshot was accepted. Shares are shares of this number. */
  readonly owned: number;
  readonly changed: number;
  readonly removed: number;
};

export const noAccount: AccountState = { snapshot: '', owned: 0, changed: 0, removed: 0 };

/** Returns the key of the account in the ledger. Several leaders write it, so each write names the value that it replaces. */
export function accountFact(source: string): string {
  return `account ${source}`;
}

/** Returns the operation that opens the account of an accepted snapshot, unless it is open. */
export async function openingOperations(
  { ledger, source }: SourceLedger,
  snapshot: string,
  owned: number,
): Promise<readonly LedgerOperation[]> {
  const open = await storedAccount(ledger, source);
  if (open.snapshot === snapshot) return [];
  const value = canonicalJson({ snapshot, owned, changed: 0, removed: 0 } satisfies AccountState);
  return [{ op: 'set-fact', key: accountFact(source), value }];
}

async function storedAccount(ledger: Ledger, source: string): Promise<AccountState> {
  const text = await ledger.fact(accountFact(source));
  return text === undefined ? noAccount : (JSON.parse(text) as AccountState);
}

/** The part of the allowance that a plan takes. This process has counted it since `reserve`. */
export interface Reserved {
  /**
   * Stores the count before anything is sent. Refuses it if another process has spent the rest of the allowance meanwhile; then
   * nothing is counted.
   * @param ledger of the platform.
   * @throws PortolanError `source/newer` when a newer revision was accepted.
   */
  save(ledger: SourceLedger): Promise<readonly Refusal[]>;
  /** Counts only what was sent, and frees the rest. */
  confirm(sent: ReadonlySet<string>, ledger: SourceLedger): Promise<void>;
  /** Frees everything, if `save` did not store it. */
  abandon(): void;
}

interface Sizes {
  readonly changed: number;
  readonly removed: number;
}

/**
 * The allowance of one accepted snapshot: what it may change and remove over all applications together. A command sees all
 * plans of a run at once. The daemon sees them one by one, so it counts what it permitted before. The ledger has the count of
 * all processes.
 */
export class Account {
  /** The count of all processes, as it was last read or written. */
  #stored: AccountState;
  // Objects that this process has counted, so that a retry does not count them twice.
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  /** The number of them that `#stored` contains. */
  #saved: Sizes = { changed: 0, removed: 0 };
  #turn: Promise<unknown> = Promise.resolve();

  /** @param stored what all processes have spent of the same snapshot. */
  constructor(stored: AccountState) {
    this.#stored = stored;
  }

  get snapshot(): string {
    return this.#stored.snapshot;
  }

  /** Returns the count of all processes, with what this one has not stored yet. */
  get state(): AccountState {
    const { changed, removed } = this.#stored;
    return {
      ...this.#stored,
      changed: changed + this.#changed.size - this.#saved.changed,
      removed: removed + this.#removed.size - this.#saved.removed,
    };
  }

  /**
   * Counts the actions against the allowance, if they fit.
   * @returns refusals if the actions do not fit; then none of them may be sent.
   */
  reserve(plan: Counted, limits: GuardLimits): Reserved | readonly Refusal[] {
    const toll = tollOf([plan]);
    const news = { changed: fresh(toll.changed, this.#changed), removed: fresh(toll.removed, this.#removed) };
    const guard = (): readonly Refusal[] => {
      const { owned, ...spent } = this.state;
      return guardToll({ ...toll, ...news }, { of: 'this revision of the source', owned, spent }, limits);
    };
    const refusals = guard();
    if (refusals.length > 0) return refusals;
    this.#count(news);
    let isSaved = false;
    return {
      save: (ledger) =>
        this.#inTurn(async () => {
          do {
            // The count of other processes may have been read since the actions were counted.
            this.#discount(news);
            const late = guard();
            if (late.length > 0) return late;
            this.#count(news);
          } while (!(await this.#add(ledger, { changed: news.changed.size, removed: news.removed.size })));
          isSaved = true;
          return [];
        }),
      confirm: (sent, ledger) => {
        const kept = tollOf([{ ...plan, actions: plan.actions.filter((action) => sent.has(action.id)) }]);
        const unused = { changed: fresh(news.changed, kept.changed), removed: fresh(news.removed, kept.removed) };
        this.#discount(unused);
        if (!isSaved) return Promise.resolve();
        const freed = { changed: -unused.changed.size, removed: -unused.removed.size };
        return this.#inTurn(async () => {
          try {
            while (!(await this.#add(ledger, freed))) {
              // Another process has written the account. The next attempt starts from its value.
            }
          } catch (error) {
            // It may be recorded all the same: until the account is read, it counts too much, and never too little.
            const { changed, removed } = this.#saved;
            this.#saved = { changed: changed + freed.changed, removed: removed + freed.removed };
            // The account of a newer revision does not contain it.
            if (!isNewer(error)) throw error;
          }
        });
      },
      abandon: () => {
        if (!isSaved) this.#discount(news);
      },
    };
  }

  /** Reads what other processes have spent. @throws PortolanError as `Reserved.save`. */
  refresh(ledger: SourceLedger): Promise<void> {
    return this.#inTurn(() => this.#read(ledger));
  }

  #count({ changed, removed }: Counts): void {
    for (const key of changed) this.#changed.add(key);
    for (const key of removed) this.#removed.add(key);
  }

  #discount({ changed, removed }: Counts): void {
    for (const key of changed) this.#changed.delete(key);
    for (const key of removed) this.#removed.delete(key);
  }

  /** Adds to the count in the ledger. @returns false if another process has changed it; it was read then. */
  async #add(ledger: SourceLedger, { changed, removed }: Sizes): Promise<boolean> {
    if (changed === 0 && removed === 0) return true;
    const before = this.#stored;
    const next = { ...before, changed: before.changed + changed, removed: before.removed + removed };
    const key = accountFact(ledger.source);
    try {
      await recordOfSource(ledger, [
        { op: 'set-fact', key, value: canonicalJson(next), was: canonicalJson(before) } as const,
      ]);
    } catch (error) {
      if (!(error instanceof PortolanError) || error.code !== 'ledger/conflict') throw error;
      await this.#read(ledger);
      return false;
    }
    this.#stored = next;
    this.#saved = { changed: this.#saved.changed + changed, removed: this.#saved.removed + removed };
    return true;
  }

  async #read({ ledger, source }: SourceLedger): Promise<void> {
    const found = await storedAccount(ledger, source);
    if (found.snapshot !== this.#stored.snapshot) throw newer();
    this.#stored = found;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

interface Counts {
  readonly changed: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

function fresh(keys: ReadonlySet<string>, known: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...keys].filter((key) => !known.has(key)));
}

/** The error for work by a revision after which another one was accepted. */
export function newer(): PortolanError {
  return new PortolanError({
    code: 'source/newer',
    disposition: 'retry',
    message: 'A newer revision of the source was accepted meanwhile. Nothing was sent.',
    remedy: 'Do nothing: the next pass applies the newer revision.',
  });
}

/** Returns whether an error says that a newer revision was accepted. */
export function isNewer(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'source/newer';
}
