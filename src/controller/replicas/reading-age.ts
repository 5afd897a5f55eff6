import { PortolanError } from '../../model/errors.ts';
import type { Snapshot } from '../../model/owned.ts';
import type { SourceReading } from '../../source/feed.ts';
import { isOfCommit } from '../../source/snapshot.ts';
import { idOf } from '../commits.ts';
import type { CoreBase } from '../options.ts';
import { restoreSource } from '../saved-source.ts';

/** Code of the error while a reading waits. */
export const BEHIND = 'source/behind';

/** Revisions that are remembered as read by this process. */
const READ_MAX = 100;

/**
 * Compares what this process reads with the accepted revision, which another process may have read from another checkout or another copy
 * of the files. A reading that may be older does not count as a rewound branch: it waits, and the accepted revision stays in force.
 */
export class ReadingAge {
  readonly #core: CoreBase;
  /** A revision that this process has read itself, and that its source went back from, was rewound. */
  readonly #read = new Set<string>();
  /** The revision that was accepted when this process started. */
  #first: { readonly id: string | undefined } | undefined;
  /** The revision that this process accepted last, since it began to lead. */
  #own: string | undefined;
  /** The files that this process found when it began to lead, and did not accept. */
  #found: string | undefined;

  constructor(core: CoreBase) {
    this.#core = core;
  }

  /** Returns the id of the revision that this process read last. */
  get lastRead(): string | undefined {
    return [...this.#read].at(-1);
  }

  /** Notes the revision that other processes accepted before this one started. Later calls change nothing. */
  async begin(): Promise<void> {
    this.#first ??= { id: await this.#acceptedId(await this.#last()) };
  }

  /** Remembers what this process has read, also while it does not lead the source. */
  note({ revision }: SourceReading): void {
    const id = idOf(revision);
    this.#read.delete(id);
    this.#read.add(id);
    const [oldest] = this.#read;
    if (this.#read.size > READ_MAX && oldest !== undefined) this.#read.delete(oldest);
  }

  beginLeading(): void {
    this.#own = undefined;
    this.#found = undefined;
  }

  noteAccepted({ revision }: SourceReading): void {
    this.#own = idOf(revision);
  }

  /** Returns why a reading must wait; undefined: it may be accepted. */
  async fault(reading: SourceReading): Promise<PortolanError | undefined> {
    const last = await this.#last();
    if (last === undefined) return undefined;
    return reading.commit === null ? this.#faultOfFiles(reading, last) : this.#faultOfCommit(reading, last);
  }

  async #faultOfCommit(reading: SourceReading, last: Snapshot): Promise<PortolanError | undefined> {
    const { location } = this.#core.options.feed;
    const accepted = last.commit;
    if (reading.olderThan === undefined || !isOfCommit(last)) return undefined;
    if (accepted === this.#own || this.#read.has(accepted)) return undefined;
    // A shallow clone can prove this, but not that a commit is not older.
    if ((await reading.descentFrom(accepted)) === 'descends') return undefined;
    const age = await reading.olderThan(accepted);
    if (age === 'not-older') return undefined;
    const at = `${location} of this controller is at ${shortOf(reading)}`;
    const [doubt, update] =
      age === 'older'
        ? [`which does not contain ${accepted.slice(0, 12)}`, 'Update the checkout (git pull)']
        : [
            `and its history is too short to show that this commit contains ${accepted.slice(0, 12)}`,
            'Update the checkout with its whole history (git pull --unshallow)',
          ];
    return behind(
      `${at}, ${doubt}. Another controller read and accepted that commit.`,
      `${update}, and Portolan continues by itself. If the branch was rewound on purpose, start this controller once with --allow-rewind.`,
    );
  }

  /**
   * Plain files have no history, so other evidence must show that they are newer than the accepted ones: this process accepted those
   * itself, or it has read those, or it has seen its files change since it began to lead. Files that were accepted before are older.
   *
   * A process that starts while the files change has no such evidence, and must not wait forever: all replicas may have been replaced.
   * It accepts files that were never accepted before if every other replica reads the same. A process that was there when another one
   * accepted a revision does not: its files are those that lacked this revision.
   */
  async #faultOfFiles(reading: SourceReading, last: Snapshot): Promise<PortolanError | undefined> {
    const id = idOf(reading.revision);
    const accepted = await this.#acceptedId(last);
    if (accepted === undefined || accepted === id || accepted === this.#own) return undefined;
    const hasChanged = this.#found !== undefined && this.#found !== id;
    const isNewer = this.#read.has(accepted) || hasChanged || this.#isAgreed(id, accepted);
    if (isNewer && !(await this.#wasAccepted(id))) return undefined;
    this.#found ??= id;
    return behind(
      `The files of ${this.#core.options.feed.location} of this controller (${shortOf(reading)}) may be older than ${accepted.slice(0, 12)}. Another controller read and accepted those.`,
      'Update the files, and Portolan continues by itself. If they are the newest ones, start this controller once with --allow-rewind.',
    );
  }

  #isAgreed(id: string, accepted: string): boolean {
    const others = this.#core.options.replicas?.others() ?? [];
    return this.#first?.id === accepted && others.every(({ read }) => read === undefined || read === id);
  }

  async #wasAccepted(id: string): Promise<boolean> {
    const { commits } = this.#core;
    await commits.restore();
    return commits.list().some((record) => record.id === id && record.acceptedMs !== null);
  }

  #last(): Promise<Snapshot | undefined> {
    const { ledger, source } = this.#core.sourceLedger;
    return ledger.lastSnapshot(source);
  }

  /** Returns the id of the accepted revision; undefined: there is none, or a command accepted it from plain files and stored no digest. */
  async #acceptedId(last: Snapshot | undefined): Promise<string | undefined> {
    if (last === undefined || isOfCommit(last)) return last?.commit;
    const saved = await restoreSource(this.#core.sourceLedger);
    return saved?.snapshot === last.id ? idOf(saved.revision) : undefined;
  }
}

function behind(message: string, remedy: string): PortolanError {
  return new PortolanError({ code: BEHIND, disposition: 'retry', message, remedy });
}

function shortOf({ revision }: SourceReading): string {
  return idOf(revision).slice(0, 12);
}
