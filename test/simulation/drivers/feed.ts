import { PortolanError } from '../../../src/model/errors.ts';
import type { SourceFeed, SourceState } from '../../../src/source/feed.ts';
import type { Timeline } from '../timeline.ts';
import { type Commit, type Git, readingOf } from './git.ts';

const LOOK_EVERY_MS = 7_000;

/** What hears of each state before the controller does. */
export interface FeedListener {
  isAlive(): boolean;
  /** Alive, and not frozen. */
  isAwake(): boolean;
  /** How long a reading takes. */
  readonly readingMs: number;
  wallMs(): number;
  monotonicMs(): number;
  told(commit: Commit | undefined): void;
}

/** Watches the simulated branch as a real feed watches a repository: level-triggered, one state at a time. */
export class SimulatedFeed implements SourceFeed {
  readonly location = 'a simulated branch';
  readonly #git: Pick<Git, 'head' | 'isAway'>;
  readonly #timeline: Timeline;
  readonly #listener: FeedListener;
  #tell: ((state: SourceState) => Promise<void>) | undefined;
  #last: Commit | 'away' | undefined;
  #isBusy = false;
  #mustReport = false;
  #isClosed = false;

  constructor(git: Pick<Git, 'head' | 'isAway'>, timeline: Timeline, listener: FeedListener) {
    this.#git = git;
    this.#timeline = timeline;
    this.#listener = listener;
  }

  start(tell: (state: SourceState) => Promise<void>): void {
    this.#tell = tell;
    this.#lookAfter(this.#listener.readingMs);
    this.#every();
  }

  poke(): void {
    this.#lookAfter(this.#listener.readingMs);
  }

  retry(): void {
    this.poke();
  }

  confirm(): void {
    this.#mustReport = true;
    this.poke();
  }

  async findCommit() {
    return { found: 'none' } as const;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #every(): void {
    this.#timeline.after(LOOK_EVERY_MS, () => {
      if (this.#isClosed || !this.#listener.isAlive()) return;
      void this.#look();
      this.#every();
    });
  }

  #lookAfter(ms: number): void {
    this.#timeline.after(ms, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#isClosed || this.#isBusy || !this.#listener.isAwake() || this.#tell === undefined) return;
    const now = this.#git.isAway ? 'away' : this.#git.head;
    if (now === this.#last && !this.#mustReport) return;
    this.#last = now;
    this.#mustReport = false;
    this.#isBusy = true;
    this.#listener.told(now === 'away' ? undefined : now);
    const atMs = this.#listener.wallMs();
    const askedMs = this.#listener.monotonicMs();
    await this.#tell(
      now === 'away'
        ? { type: 'failed', error: away(), atMs }
        : { type: 'read', reading: readingOf(now, atMs), askedMs },
    );
    this.#isBusy = false;
  }
}

function away(): PortolanError {
  return new PortolanError({
    code: 'source/unreachable',
    disposition: 'retry',
    message: 'The branch cannot be read.',
    remedy: 'It is tried again.',
  });
}
