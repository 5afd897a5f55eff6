import { PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { SourceFeed, SourceReading, SourceState } from './feed.ts';
import type { WatchPlan } from './watch-plan.ts';
import type { Watch, Watcher } from './watcher.ts';

/** Reads one kind of source and remembers the last reading. The feed decides when to read. */
export interface SourceReader {
  readonly location: string;
  /**
   * Reads the source.
   * @returns the same object as the last time if nothing has changed.
   * @throws PortolanError when the source cannot be read completely.
   */
  look(): Promise<SourceReading>;
  /** Returns the files to watch for changes; undefined when the source cannot be watched. */
  watchPlan(): Promise<WatchPlan | undefined>;
  close(): Promise<void>;
}

interface LevelFeedOptions {
  readonly reader: SourceReader;
  readonly watch: Watch;
  readonly intervalMs: number;
  readonly debounceMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The interval varies by up to this share, so that many controllers do not read at the same time. */
const JITTER = 0.1;
/** Delay before the first retry after a failure. It doubles each time, up to the interval. */
const RETRY_FIRST_MS = 1_000;

/** Reads the source after a change and the debounce, on request, and at the interval, because watchers miss changes. */
export class LevelFeed implements SourceFeed {
  readonly #options: LevelFeedOptions;
  #isClosed = false;
  #isTelling = false;
  #running: Promise<void> = Promise.resolve();
  #watcher: { readonly watcher: Watcher; readonly key: string } | undefined;
  #told: SourceState | undefined;
  #failures = 0;
  /** The strongest request since the last read began. */
  #word: 'none' | 'changed' | 'now' = 'none';
  #heard = Promise.withResolvers<void>();

  constructor(options: LevelFeedOptions) {
    this.#options = options;
  }

  get location(): string {
    return this.#options.reader.location;
  }

  start(tell: (state: SourceState) => Promise<void>): void {
    this.#running = this.#run(tell);
  }

  poke(): void {
    this.#hear('now');
  }

  retry(): void {
    if (this.#told?.type === 'failed') this.#told = undefined;
    this.#hear('now');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hear('now');
    await this.#options.reader.close();
    // The receiver of a report may itself wait for this close. Nothing follows its report.
    if (!this.#isTelling) await this.#running;
    await this.#watcher?.watcher.close();
    this.#watcher = undefined;
  }

  #hear(word: 'changed' | 'now'): void {
    if (this.#word !== 'now') this.#word = word;
    this.#heard.resolve();
  }

  async #run(tell: (state: SourceState) => Promise<void>): Promise<void> {
    while (!this.#isClosed) {
      this.#word = 'none';
      this.#heard = Promise.withResolvers();
      const state = await this.#look();
      if (this.#isClosed) return;
      this.#failures = state.type === 'failed' ? this.#failures + 1 : 0;
      if (isNews(state, this.#told)) {
        this.#told = state;
        this.#isTelling = true;
        await tell(state);
        this.#isTelling = false;
      }
      if (!this.#isClosed) await this.#rewatch();
      await this.#pause();
    }
  }

  async #look(): Promise<SourceState> {
    try {
      return { type: 'read', reading: await this.#options.reader.look() };
    } catch (error) {
      return { type: 'failed', error: asSourceError(error, this.location), atMs: this.#options.clock.now() };
    }
  }

  /** Watches the present place of the source. The watcher triggers a read when it begins, so no earlier change is lost. */
  async #rewatch(): Promise<void> {
    const { reader, watch, log } = this.#options;
    const plan = await reader.watchPlan();
    const key = JSON.stringify(plan ?? null);
    if (key === this.#watcher?.key) return;
    const former = this.#watcher;
    this.#watcher = undefined;
    await former?.watcher.close();
    if (plan === undefined) return;
    const watcher = watch(plan, {
      changed: () => this.#hear('changed'),
      failed: (error) => {
        const reason = safeLine(error.message);
        log.warn(`${this.location} cannot be watched, so changes are detected only at the interval: ${reason}`);
      },
    });
    this.#watcher = { watcher, key };
  }

  async #pause(): Promise<void> {
    await this.#wait(this.#waitMs(), () => this.#word !== 'none');
    // Further changes do not extend the debounce: the read takes one commit, and others follow.
    if (this.#word === 'changed') await this.#wait(this.#options.debounceMs, () => this.#word === 'now');
  }

  #waitMs(): number {
    const { intervalMs, random } = this.#options;
    const backoffMs = RETRY_FIRST_MS * 2 ** Math.min(this.#failures - 1, 20);
    const plainMs = this.#failures === 0 ? intervalMs : Math.min(intervalMs, backoffMs);
    return plainMs * (1 - JITTER + 2 * JITTER * random.next());
  }

  /** Waits until the time has passed, `isEnough` returns true, or the feed is closed. */
  async #wait(ms: number, isEnough: () => boolean): Promise<void> {
    const over = new AbortController();
    const asleep = this.#options.clock.sleep(ms, over.signal).then(
      () => over.abort(),
      () => {},
    );
    while (!over.signal.aborted && !this.#isClosed && !isEnough()) {
      await Promise.race([asleep, this.#heard.promise]);
      this.#heard = Promise.withResolvers();
    }
    over.abort();
    await asleep;
  }
}

/** Returns whether a state differs from the last one that was reported. */
function isNews(state: SourceState, told: SourceState | undefined): boolean {
  if (told === undefined) return true;
  if (state.type === 'read') return told.type !== 'read' || told.reading.revision !== state.reading.revision;
  return told.type !== 'failed' || told.error.code !== state.error.code || told.error.message !== state.error.message;
}

/** Returns an error with a remedy for an error of the operating system. */
function asSourceError(error: unknown, location: string): PortolanError {
  if (error instanceof PortolanError) return error;
  const reason = safeLine(error instanceof Error ? error.message : String(error));
  return new PortolanError({
    code: 'source/unreadable',
    disposition: 'give-up',
    message: `${location} cannot be read: ${reason}. The last accepted revision stays in effect.`,
    remedy: 'Check that the folder exists and can be read. Portolan retries automatically.',
    cause: error,
  });
}
