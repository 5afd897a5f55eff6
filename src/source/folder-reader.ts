import type { Clock } from '../runtime/clock.ts';
import type { FolderPlace, Workbench } from './contents.ts';
import type { SourceReading } from './feed.ts';
import { folderStats } from './folder-scan.ts';
import type { SourceReader } from './level-feed.ts';
import { type WatchPlan, watchPlanOfFiles } from './watch-plan.ts';

export interface FolderOptions {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  /** How long the files must have held still. */
  readonly settleMs: number;
  readonly clock: Clock;
  readonly workbench: Workbench;
}

/** File systems tell times by ticks of a few ms: two scans closer than that could miss a write between them. */
const SETTLE_MIN_MS = 50;

/**
 * Plain files and folders, which have no commits: what two equal scans some time apart have found. Whoever writes file
 * by file with longer pauses must flip a link instead.
 */
export class FolderReader implements SourceReader {
  readonly location: string;
  filesRead = 0;
  readonly #options: FolderOptions;
  readonly #place: FolderPlace;
  #last: { readonly stats: string; readonly digest: string; readonly reading: SourceReading } | undefined;

  constructor(options: FolderOptions) {
    this.#options = options;
    const { paths, exclude, settleMs } = options;
    this.#place = { paths, exclude, settleMs: Math.max(settleMs, SETTLE_MIN_MS) };
    this.location = paths.join(', ');
  }

  async look(): Promise<SourceReading> {
    const seen = await folderStats(this.#place);
    if (this.#last?.stats === seen) return this.#last.reading;
    const { clock, workbench } = this.#options;
    // Until they were read, their names and times tell which files they are.
    const label = `files@stats:${seen}`;
    const { contents, stats, digest, filesRead } = await workbench.folder(this.#place, label);
    this.filesRead += filesRead;
    const reading: SourceReading =
      this.#last?.digest === digest
        ? this.#last.reading
        : {
            revision: `files@sha256:${digest}`,
            commit: null,
            contents,
            observedMs: clock.now(),
            descentFrom: async () => 'unknown',
          };
    this.#last = { stats, digest, reading };
    return reading;
  }

  watchPlan(): Promise<WatchPlan> {
    return watchPlanOfFiles(this.#options.paths);
  }

  async close(): Promise<void> {
    await this.#options.workbench.close();
  }
}
