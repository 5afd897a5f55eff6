import { PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';
import { type Clock, NOT_NEEDED } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { FoundCommit, SourceFeed, SourceReading, SourceState } from './feed.ts';
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
  observe(): Promise<SourceReading>;
  /** Looks for a commit, as `findCommit` of the feed does. */
  findCommit(prefix: string): Promise<FoundCommit>;
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
  #isReporting = false;
  #running: Promise<void> = Promise.resolve();
  #watcher: { readonly watcher: Watcher; readonly key: string } | undefined;
  #reported: SourceState | undefined;
  #failures = 0;
  /** A report was requested since the last read began, even of the same state. */
  #mustReport = false;
  /** The strongest request since the last read began. */
  #request: 'none' | 'changed' | 'now' = 'none';
  #requested = Promise.withResolvers<void>();

  constructor(options: LevelFeedOptions) {
    this.#options = options;
  }

  get location(): string {
    return this.#options.reader.location;
  }

  start(report: (state: SourceState) => Promise<void>): void {
    this.#running = this.#run(report);
  }

  poke(): void {
    this.#requestRead('now');
  }

  findCommit(prefix: string): Promise<FoundCommit> {
    return this.#options.reader.findCommit(prefix);
  }

  retry(): void {
    if (this.#reported?.type === 'failed') this.#reported = undefined;
    this.#requestRead('now');
  }

  confirm(): void {
    this.#mustReport = true;
    this.#requestRead('now');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#requestRead('now');
    await this.#options.reader.close();
    // The receiver of a report may itself wait for this close. Nothing follows its report.
    if (!this.#isReporting) await this.#running;
    await this.#watcher?.watcher.close();
    this.#watcher = undefined;
  }

  #requestRead(request: 'changed' | 'now'): void {
    if (this.#request !== 'now') this.#request = request;
    this.#requested.resolve();
  }

  async #run(report: (state: SourceState) => Promise<void>): Promise<void> {
    while (!this.#isClosed) {
      this.#request = 'none';
      this.#requested = Promise.withResolvers();
      const mustReport = this.#mustReport;
      this.#mustReport = false;
      const state = await this.#observe();
      if (this.#isClosed) return;
      this.#failures = state.type === 'failed' ? this.#failures + 1 : 0;
      if (mustReport || isDifferent(state, this.#reported)) {
        this.#reported = state;
        this.#isReporting = true;
        await report(state);
        this.#isReporting = false;
      }
      if (!this.#isClosed) await this.#rewatch();
      await this.#pause();
    }
  }

  async #observe(): Promise<SourceState> {
    const askedMs = this.#options.clock.monotonic();
    try {
      return { type: 'read', reading: await this.#options.reader.observe(), askedMs };
    } catch (error) {
      return { type: 'failed', error: sourceErrorOf(error, this.location), atMs: this.#options.clock.now() };
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
      changed: () => this.#requestRead('changed'),
      failed: (error) => {
        const reason = safeLine(error.message);
        log.warn(`${this.location} cannot be watched, so changes are detected only at the interval: ${reason}`);
      },
    });
    this.#watcher = { watcher, key };
  }

  async #pause(): Promise<void> {
    await this.#wait(this.#waitMs(), () => this.#request !== 'none');
    // Further changes do not extend the debounce: the read takes one commit, and others follow.
    if (this.#request === 'changed') await this.#wait(this.#options.debounceMs, () => this.#request === 'now');
  }

  #waitMs(): number {
    const { intervalMs, random } = this.#options;
    const backoffMs = RETRY_FIRST_MS * 2 ** Math.min(this.#failures - 1, 20);
    const plainMs = this.#failures === 0 ? intervalMs : Math.min(intervalMs, backoffMs);
    return plainMs * (1 - JITTER + 2 * JITTER * random.next());
  }

  /** Waits until the time has passed, `isEnough` returns true, or the feed is closed. */
  async #wait(ms: number, isEnough: () => boolean): Promise<void> {
    const done = new AbortController();
    const asleep = this.#options.clock.sleep(ms, done.signal).then(
      () => done.abort(NOT_NEEDED),
      () => {},
    );
    while (!done.signal.aborted && !this.#isClosed && !isEnough()) {
      await Promise.race([asleep, this.#requested.promise]);
      this.#requested = Promise.withResolvers();
    }
    done.abort(NOT_NEEDED);
    await asleep;
  }
}

/** Returns whether a state differs from the last one that was reported. */
function isDifferent(state: SourceState, reported: SourceState | undefined): boolean {
  if (reported === undefined) return true;
  if (state.type === 'read') return reported.type !== 'read' || reported.reading.revision !== state.reading.revision;
  return (
    reported.type !== 'failed' ||
    reported.error.code !== state.error.code ||
    reported.error.message !== state.error.message
  );
}

/** Returns an error with a remedy for an error of the operating system. */
function sourceErrorOf(error: unknown, location: string): PortolanError {
  if (error instanceof PortolanError) return error;
  const reason = safeLine(error instanceof Error ? error.message : String(error));
  return new PortolanError({
    code: 'source/unreadable',
    disposition: 'give-up',
    message: `${location} cannot be read: ${reason}.`,
    remedy: 'Check that the folder exists and can be read. Portolan retries automatically.',
    cause: error,
  });
}
