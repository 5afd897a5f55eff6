import { recordOfSource, type SourceLedger } from '../../ledger/source-ledger.ts';
import { canonicalJson, type Json } from '../../model/json.ts';
import type { StatusError } from '../../model/status.ts';
import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import type { LoadedSource } from '../../source/contents.ts';
import type { SourceReading } from '../../source/feed.ts';
import {
  accept,
  type Acceptance,
  type AcceptedReading,
  type AcceptedSource,
  type Allowances,
  type Decision,
  refusalsBy,
} from '../acceptance.ts';
import { draftEvent, draftProblem } from '../events.ts';
import type { CoreBase } from '../options.ts';
import {
  type AcceptanceRecord,
  loadSaved,
  restoreSource,
  type SavedRevision,
  type SavedSource,
  savingOperations,
} from '../saved-source.ts';
import { sourceUnit } from './leadership.ts';
import { noStanding, type SourceStanding, standingFact } from './source-standing.ts';
import { ledgerFor } from './unit-ledgers.ts';

/** Interval of attempts to load a revision that could not be loaded: each costs as much as a large commit. */
const RETRY_MS = 30_000;

/**
 * The reason of loading a revision. `changed`: it may be another one; `failed`: the last attempt did not succeed; `reloaded`: the
 * configuration may give it another meaning.
 */
export type FollowReason = 'changed' | 'failed' | 'reloaded';

interface Former {
  readonly sourceLedger: SourceLedger;
  readonly allow: Allowances;
  /** The revision that this process accepted or followed last. */
  readonly former: AcceptedSource | undefined;
}

/**
 * The accepted revision that all replicas follow. Its leader stores it in one transaction: the snapshot, the files, what the
 * guards decided, and the allowance. So no replica can apply a part of it, and nothing is decided twice.
 */
export class FollowedSource {
  readonly #core: CoreBase;
  /**
   * The accepted revision in the ledger, as it was last read or written; after a failure, the one that may have been stored. undefined:
   * none was found.
   */
  #newest: string | undefined;
  /** The decisions about the revision that this process has. */
  #record: AcceptanceRecord | undefined;
  #error: StatusError | null = null;
  /** The revision that could not be loaded, and when. */
  #failed: { readonly key: string; readonly atMs: MonotonicMs } | undefined;
  /** The standing in the ledger. */
  #standing = '';
  /** Identifies the last acceptance in the ledger, as it was last read. */
  #stored = '';

  constructor(core: CoreBase) {
    this.#core = core;
  }

  /** Returns an identification of the last acceptance in the ledger, as it was last read: of each one another. */
  get stored(): string {
    return this.#stored;
  }

  /** When the revision of this process was accepted; undefined: it is not known. */
  get acceptedMs(): EpochMs | undefined {
    return this.#record?.acceptedMs;
  }

  /** Returns why this process cannot follow; null: it can. */
  get error(): StatusError | null {
    return this.#error;
  }

  isBehind(accepted: AcceptedSource | undefined): boolean {
    return this.#newest !== undefined && this.#newest !== keyOf(accepted);
  }

  /** Returns whether it is known what the guards decided about the revision of this process, and it is the accepted one. */
  isDecided(accepted: AcceptedSource | undefined): boolean {
    return this.#record !== undefined && !this.isBehind(accepted);
  }

  /** Returns what the leader stored. */
  read(text: string): SourceStanding {
    this.#standing = text;
    return { ...noStanding, ...(JSON.parse(text) as Partial<SourceStanding>) };
  }

  /** Stores what the leader knows, if it has changed. */
  async share(standing: SourceStanding): Promise<void> {
    const text = canonicalJson(standing as unknown as Json);
    if (text === this.#standing) return;
    const { options } = this.#core;
    const ledger = ledgerFor(this.#core, sourceUnit(options.source));
    await recordOfSource(ledger, [{ op: 'set-fact', key: standingFact(options.source), value: text }]);
    this.#standing = text;
  }

  /** Accepts a reading for all replicas. A reading of the revision that is accepted changes no decision. */
  async accept(
    reading: SourceReading,
    loaded: LoadedSource,
    { sourceLedger, allow, former }: Former,
  ): Promise<Acceptance> {
    const { snapshot, desired, problems } = loaded;
    const key = keyOf({ snapshot, revision: reading.revision });
    const isPlain = !allow.empty && !allow.shrunk && !allow.rewind;
    const record = this.#record;
    const isKnown = isPlain && problems.length === 0 && key === this.#newest && key === keyOf(former);
    if (isKnown && former !== undefined && record !== undefined)
      return { type: 'accepted', accepted: { ...former, desired }, decision: record };
    let next: AcceptanceRecord | undefined;
    const acceptance = await accept(reading, loaded, sourceLedger, allow, async (id, decision) => {
      next = recordOf(reading, decision, sourceLedger);
      const saved = { snapshot: id, revision: reading.revision, accepted: next };
      return [
        this.#core.commits.accepting(reading, next.acceptedMs),
        ...(await savingOperations(sourceLedger, saved, reading.contents)),
      ];
    }).catch((error: unknown) => {
      // The answer may be what was lost: until the ledger is read, nothing may be written by the former revision.
      if (next !== undefined) this.#newest = key;
      throw error;
    });
    if (acceptance.type === 'refused') return acceptance;
    this.#newest = keyOf(acceptance.accepted);
    this.#record = next;
    this.#noteFollowed(reading.revision);
    return acceptance;
  }

  /** Loads the accepted revision of the ledger. */
  async load(former: AcceptedSource | undefined, why: FollowReason): Promise<AcceptedReading | undefined> {
    const { sourceLedger } = this.#core;
    const saved = await restoreSource(sourceLedger);
    const last = await sourceLedger.ledger.lastSnapshot(sourceLedger.source);
    this.#stored = `${last?.id} ${last?.commit} ${last?.acceptedMs} ${saved?.revision} ${textOf(saved?.accepted)}`;
    if (saved === undefined && last === undefined) return undefined;
    if (saved === undefined || last?.id !== saved.snapshot) {
      // A command accepted it. The leader of the source reads it from git, and stores its files.
      this.#newest = keyOf({ snapshot: last?.id ?? '', revision: '' });
      return undefined;
    }
    const { revision, snapshot, accepted: record } = saved;
    const isReloaded = why === 'reloaded';
    const isSame = keyOf(former) === keyOf(saved) && textOf(record) === textOf(this.#record);
    this.#newest = keyOf(saved);
    if (isSame && why === 'changed') return undefined;
    const desired =
      !isReloaded && former?.snapshot === snapshot ? former.desired : await this.#desiredOf(saved, isReloaded);
    if (desired === undefined) return undefined;
    this.#record = record;
    const decided = record ?? { owned: 0, commit: null, observedMs: last.acceptedMs };
    const removalRefusals = record === undefined ? () => [] : refusalsBy(record.facts);
    return {
      accepted: { desired, revision, snapshot, owned: decided.owned, removalRefusals },
      reading: { observedMs: decided.observedMs, commit: decided.commit },
    };
  }

  async #desiredOf(saved: SavedSource, isReloaded: boolean): Promise<AcceptedSource['desired'] | undefined> {
    const { clock } = this.#core.options;
    const failed = this.#failed;
    const isFailed = failed?.key === keyOf(saved) && clock.monotonic() - failed.atMs < RETRY_MS;
    if (isFailed && !isReloaded) return undefined;
    const loaded = await loadSaved(this.#core, saved);
    // The next read of what others share finds the later revision.
    if (loaded.type === 'outdated') return undefined;
    if (loaded.type === 'loaded') {
      this.#noteFollowed(saved.revision);
      return loaded.desired;
    }
    this.#failed = { key: keyOf(saved), atMs: clock.monotonic() };
    const why = loaded.type === 'failed' ? loaded.error.message : (loaded.why ?? 'its meaning is another one here');
    const remedy = 'Give all replicas the same version, configuration and variables. Portolan retries automatically.';
    const error: StatusError = {
      code: 'source/not-followed',
      message: `This replica cannot load ${saved.revision}, which was accepted, so it writes nothing: ${why}`,
      remedy: loaded.type === 'failed' ? loaded.error.remedy : remedy,
      atMs: clock.now(),
    };
    if (this.#error?.message === error.message) return undefined;
    this.#error = error;
    const message = error.message.replace('This replica', `Replica ${this.#name}`);
    const facts = { revision: saved.revision, detail: { replica: this.#name } };
    // All replicas show the event, and the log of this one.
    this.#core.events.publish(draftProblem('source.not-followed', 'error', message, error, facts));
    return undefined;
  }

  #noteFollowed(revision: string): void {
    if (this.#error === null) return;
    this.#error = null;
    const message = `Replica ${this.#name} follows the accepted commits again`;
    this.#core.events.publish(draftEvent('source.followed', message, { revision, detail: { replica: this.#name } }));
  }

  get #name(): string {
    const { replicas, actor } = this.#core.options;
    return replicas?.name ?? actor;
  }
}

function recordOf(
  { commit, observedMs }: SourceReading,
  decision: Decision,
  { clock }: SourceLedger,
): AcceptanceRecord {
  return { ...decision, commit, observedMs, acceptedMs: clock.now() };
}

function keyOf(accepted: Pick<SavedRevision, 'snapshot' | 'revision'> | undefined): string {
  return accepted === undefined ? '' : `${accepted.snapshot} ${accepted.revision}`;
}

function textOf(record: AcceptanceRecord | undefined): string {
  return record === undefined ? '' : JSON.stringify(record);
}
