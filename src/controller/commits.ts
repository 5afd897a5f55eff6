import type { LedgerOperation } from '../ledger/ledger.ts';
import type { ResourceId } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { SourceProblem, StatusError } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import type { SourceReading } from '../source/feed.ts';
import type { SourceLedger } from '../ledger/source-ledger.ts';
import { restoreFact } from './ledger-records.ts';

/** A commit that the controller read, and what it decided about it. */
export interface CommitRecord {
  readonly revision: string;
  /** Full id of the commit; for plain files, their digest. */
  readonly id: string;
  readonly author: string | null;
  readonly subject: string | null;
  readonly committedMs: EpochMs | null;
  readonly observedMs: EpochMs;
  /** null: it was rejected, or is still being parsed. */
  readonly acceptedMs: EpochMs | null;
  /** Why it was rejected. */
  readonly error: StatusError | null;
  readonly problems: readonly SourceProblem[];
  /** The number of applications that it changed and removed. null: a process ended before that was recorded. */
  readonly changed: number | null;
  readonly removed: number | null;
  /** The applications that it changed and removed. null or missing: that is not known, or they are too many. */
  readonly touched?: readonly ResourceId[] | null;
}

type Reading = Pick<SourceReading, 'revision' | 'commit' | 'observedMs'>;

/** The newest commits that are remembered. */
const KEPT_MAX = 50;
/** The applications of a commit that are remembered by name. */
const TOUCHED_MAX = 50;

/** Remembers the commits that the controller read. The ledger stores them together with what else a commit changes there. */
export class Commits {
  readonly #sourceLedger: SourceLedger;
  /** The newest last. */
  #list: readonly CommitRecord[] = [];
  #isRestored = false;
  /** The list as another replica stored it last. */
  #stored = '';
  /** A commit that is being accepted. */
  #accepting: { readonly revision: string; readonly atMs: EpochMs } | undefined;

  constructor(sourceLedger: SourceLedger) {
    this.#sourceLedger = sourceLedger;
  }

  /** The newest first. */
  list(): readonly CommitRecord[] {
    return this.#list.toReversed();
  }

  /** Takes over what the leader of the source stored. */
  replace(text: string): void {
    this.#isRestored = true;
    this.#list = JSON.parse(text) as readonly CommitRecord[];
    this.#stored = text;
  }

  /** Notes that other replicas can read the commits. */
  noteStored(text: string): void {
    this.#stored = text;
  }

  /** Returns the operation that stores the commits for other replicas; undefined if they are stored. */
  change(): ReturnType<Commits['operation']> | undefined {
    const operation = this.operation();
    return operation.value === this.#stored ? undefined : operation;
  }

  /** Reads what earlier processes stored, once. @throws PortolanError when the ledger fails. */
  async restore(): Promise<void> {
    if (this.#isRestored) return;
    const stored = (await restoreFact<Json>(this.#sourceLedger, 'commits')) ?? [];
    this.#isRestored = true;
    this.#list = stored as unknown as readonly CommitRecord[];
  }

  observe(reading: Reading): void {
    // A restart reads the newest commit again.
    if (this.#list.at(-1)?.revision === reading.revision) return;
    this.#put(freshRecord(reading));
  }

  /**
   * Returns the operation that stores the commits with one that is being accepted, for the same transaction: no accepted commit is
   * missing for the next process.
   */
  accepting(reading: Reading, nowMs: EpochMs): ReturnType<Commits['operation']> {
    const former = this.#list;
    this.#accept(reading, nowMs);
    const operation = this.operation();
    this.#list = former;
    this.#accepting = { revision: reading.revision, atMs: nowMs };
    return operation;
  }

  accept(reading: Reading, nowMs: EpochMs): void {
    const { revision, atMs } = this.#accepting ?? { revision: '', atMs: nowMs };
    this.#accepting = undefined;
    this.#accept(reading, revision === reading.revision ? atMs : nowMs);
  }

  #accept(reading: Reading, acceptedMs: EpochMs): void {
    const known = this.#of(reading);
    const isSame = known.acceptedMs !== null && known === this.#list.at(-1);
    // A restart accepts the same commit, and a rewind an earlier one, whose changes are made once more.
    if (isSame) return;
    const record = known.acceptedMs === null ? known : freshRecord(reading);
    this.#put({ ...record, acceptedMs, error: null, problems: [] });
  }

  /** Returns the time at which a revision was last accepted, which identifies this acceptance; null: it is not among the commits. */
  acceptedMs(revision: string): EpochMs | null {
    return this.#list.findLast((one) => one.revision === revision)?.acceptedMs ?? null;
  }

  /**
   * Returns the number of commits that changed an application after the one that was accepted then.
   * @returns undefined: that is not known.
   */
  changesSince(acceptedMs: EpochMs, id: ResourceId): number | undefined {
    const at = this.#list.findLastIndex((one) => one.acceptedMs === acceptedMs);
    if (at === -1) return undefined;
    let changes = 0;
    for (const { acceptedMs: laterMs, touched } of this.#list.slice(at + 1)) {
      if (laterMs === null) continue;
      if (touched === null || touched === undefined) return undefined;
      if (touched.includes(id)) changes += 1;
    }
    return changes;
  }

  reject(reading: Reading, error: StatusError, problems: readonly SourceProblem[]): void {
    const known = this.#of(reading);
    // The commit was accepted earlier, and another configuration rejects it now.
    this.#put({ ...known, acceptedMs: null, error, problems });
  }

  /** Notes what an accepted revision changed. The first process that follows a revision knows it. */
  follow(revision: string, changes: Pick<CommitRecord, 'changed' | 'removed'>, touched: readonly ResourceId[]): void {
    const known = this.#list.findLast((one) => one.revision === revision);
    const named = touched.length > TOUCHED_MAX ? null : touched;
    if (known !== undefined && known.changed === null) this.#put({ ...known, ...changes, touched: named });
  }

  /** Returns the operation that stores the commits. */
  operation(): Extract<LedgerOperation, { readonly op: 'set-fact' }> {
    return {
      op: 'set-fact',
      key: commitsFact(this.#sourceLedger.source),
      value: canonicalJson(this.#list as unknown as Json),
    };
  }

  #of(reading: Reading): CommitRecord {
    return this.#list.findLast(({ revision }) => revision === reading.revision) ?? freshRecord(reading);
  }

  /** Replaces the record of the same revision, or appends the record. */
  #put(record: CommitRecord): void {
    const others = this.#list.filter(({ revision }) => revision !== record.revision);
    this.#list = [...others, record].slice(-KEPT_MAX);
  }
}

function freshRecord({ revision, commit, observedMs }: Reading): CommitRecord {
  const facts = { author: commit?.author ?? null, subject: commit?.subject ?? null };
  return {
    revision,
    id: commit?.id ?? idOf(revision),
    ...facts,
    committedMs: commit?.committedMs ?? null,
    observedMs,
    acceptedMs: null,
    error: null,
    problems: [],
    changed: null,
    removed: null,
    touched: null,
  };
}

export function commitsFact(source: string): string {
  return `commits ${source}`;
}

/** Returns the id in a revision: `main@sha1:<id>`, `files@sha256:<digest>`. */
export function idOf(revision: string): string {
  return revision.slice(revision.lastIndexOf(':') + 1);
}
