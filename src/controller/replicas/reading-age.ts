import { PortolanError } from '../../model/errors.ts';
import type { SourceReading } from '../../source/feed.ts';
import { isOfCommit } from '../../source/snapshot.ts';
import type { CoreBase } from '../options.ts';

/** Commits that are remembered as read by this process. */
const READ_MAX = 100;

/**
 * Compares the checkout of this process with the accepted commit, which another process may have read from another checkout. An older
 * checkout does not count as a rewound branch: it waits for an update, and the accepted commit stays in force.
 */
export class ReadingAge {
  readonly #core: CoreBase;
  /** A commit that this process has read itself, and that its checkout went back from, was rewound. */
  readonly #read = new Set<string>();

  constructor(core: CoreBase) {
    this.#core = core;
  }

  /** Remembers what this process has read, also while it does not lead the source. */
  note({ commit }: SourceReading): void {
    if (commit === null) return;
    this.#read.delete(commit.id);
    this.#read.add(commit.id);
    const [oldest] = this.#read;
    if (this.#read.size > READ_MAX && oldest !== undefined) this.#read.delete(oldest);
  }

  /** Returns why a reading must wait; undefined: it may be accepted. */
  async fault(reading: SourceReading): Promise<PortolanError | undefined> {
    const { sourceLedger, options } = this.#core;
    const { commit } = reading;
    if (commit === null || reading.olderThan === undefined) return undefined;
    const last = await sourceLedger.ledger.lastSnapshot(sourceLedger.source);
    if (last === undefined || !isOfCommit(last) || this.#read.has(last.commit)) return undefined;
    const age = await reading.olderThan(last.commit);
    if (age === 'not-older' || (age === 'unknown' && !(await this.#wasAccepted(commit.id)))) return undefined;
    return new PortolanError({
      code: 'source/behind',
      disposition: 'retry',
      message: `${options.feed.location} of this controller is at ${commit.id.slice(0, 12)}, which does not contain ${last.commit.slice(0, 12)}. Another controller read and accepted that commit.`,
      remedy:
        'Update the checkout (git pull), and Portolan continues by itself. If the branch was rewound on purpose, start this controller once with --allow-rewind.',
    });
  }

  async #wasAccepted(id: string): Promise<boolean> {
    const { commits } = this.#core;
    await commits.restore();
    return commits.list().some((record) => record.id === id && record.acceptedMs !== null);
  }
}
