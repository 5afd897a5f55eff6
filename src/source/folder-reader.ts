import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { compareText } from '../manifest/fault.ts';
import { type Entry, type ManifestFileSystem, nodeFileSystem, readSources } from '../manifest/read.ts';
import type { SourceFile } from '../manifest/text.ts';
import { PortolanError } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SourceReading } from './feed.ts';
import type { SourceReader } from './level-feed.ts';
import { type WatchPlan, watchPlanOfFiles } from './watch-plan.ts';

export interface FolderOptions {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  /** How long the files must have held still. */
  readonly settleMs: number;
  readonly clock: Clock;
}

/** File systems tell times by ticks of a few ms: two scans closer than that could miss a write between them. */
const SETTLE_MIN_MS = 50;
/** Files that never hold still for so long are given up for now. */
const PATIENCE_MS = 30_000;

/** Everything that one walk found. Equal ones, some time apart, are a state that held still. */
interface Scan {
  /** Names, sizes, times and inodes of all that was met, in order. */
  readonly stats: string;
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
  /** Names and contents, and what could not be read. */
  readonly digest: string;
}

/**
 * Plain files and folders, which have no commits: what two equal scans some time apart have found. Whoever writes file
 * by file with longer pauses must flip a link instead.
 */
export class FolderReader implements SourceReader {
  readonly location: string;
  filesRead = 0;
  readonly #options: FolderOptions;
  readonly #settleMs: number;
  readonly #closing = new AbortController();
  #last: { readonly stats: string; readonly digest: string; readonly reading: SourceReading } | undefined;

  constructor(options: FolderOptions) {
    this.#options = options;
    this.#settleMs = Math.max(options.settleMs, SETTLE_MIN_MS);
    this.location = options.paths.join(', ');
  }

  async look(): Promise<SourceReading> {
    if (this.#last !== undefined && (await this.#stats()) === this.#last.stats) return this.#last.reading;
    const scan = await this.#settled();
    const { stats, digest } = scan;
    const known = new Map(this.#last?.reading.files.map((file) => [file.contentId, file.content]));
    this.filesRead += new Set(scan.files.map(({ contentId }) => contentId)).difference(known).size;
    const reading = this.#last?.digest === digest ? this.#last.reading : this.#readingOf(scan);
    this.#last = { stats, digest, reading };
    return reading;
  }

  watchPlan(): Promise<WatchPlan> {
    return watchPlanOfFiles(this.#options.paths);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the source was closed'));
  }

  #readingOf({ files, problems, digest }: Scan): SourceReading {
    return {
      revision: `files@sha256:${digest}`,
      commit: null,
      files,
      problems,
      observedMs: this.#options.clock.now(),
      descentFrom: async () => 'unknown',
    };
  }

  async #settled(): Promise<Scan> {
    const { clock } = this.#options;
    const untilMs = clock.monotonic() + PATIENCE_MS;
    let before = await this.#scan();
    for (;;) {
      await clock.sleep(this.#settleMs, this.#closing.signal);
      const now = await this.#scan();
      if (now.stats === before.stats && now.digest === before.digest) return now;
      if (clock.monotonic() > untilMs) throw unsettled(this.location);
      before = now;
    }
  }

  /** As `#scan`, without opening a file. */
  async #stats(): Promise<string> {
    const seen: string[] = [];
    const { paths, exclude } = this.#options;
    await readSources(paths, glancing(seen), { exclude });
    return seen.join('\n');
  }

  async #scan(): Promise<Scan> {
    const seen: string[] = [];
    const { paths, exclude } = this.#options;
    const found = await readSources(paths, recording(seen), { exclude });
    if (isNothingThere(found.problems, paths)) throw notThere(this.location);
    const files = found.files.map((file) => ({ ...file, contentId: `sha256:${sha256(file.content)}` }));
    const lines = [
      ...files.map(({ path, contentId }) => `${path}\0${contentId}`),
      ...found.problems.map(({ position, code, message }) => `${position.file}\0${code}\0${message}`),
    ].sort(compareText);
    return { stats: seen.join('\n'), files, problems: found.problems, digest: sha256(lines.join('\n')) };
  }
}

/** The real files, noting what was met. */
function recording(seen: string[]): ManifestFileSystem {
  const fs = realFiles();
  return {
    ...fs,
    list: (folder) => listing(fs, folder, seen),
    async read(path, bytesMax) {
      const content = await fs.read(path, bytesMax);
      // Afterwards: what is written meanwhile then shows in the other scan, by its time or by its content.
      seen.push(lineOf(path, await lstat(path, { bigint: true })));
      return content;
    },
  };
}

/** Notes the same as `recording`, and opens nothing. */
function glancing(seen: string[]): ManifestFileSystem {
  const fs = realFiles();
  return {
    ...fs,
    list: (folder) => listing(fs, folder, seen),
    async read(path) {
      seen.push(lineOf(path, await lstat(path, { bigint: true })));
      return new Uint8Array();
    },
  };
}

function realFiles(): ManifestFileSystem {
  return nodeFileSystem(async function* () {});
}

async function listing(fs: ManifestFileSystem, folder: string, seen: string[]): Promise<readonly Entry[]> {
  const entries = await fs.list(folder);
  seen.push(`${folder}/ ${entries.length}`);
  return entries;
}

function lineOf(path: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${path} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A folder that is away altogether is no source that names nothing. */
function isNothingThere(problems: readonly Problem[], paths: readonly string[]): boolean {
  const missing = new Set(
    problems.filter(({ code }) => code === 'source/not-found').map(({ position }) => position.file),
  );
  return paths.every((path) => missing.has(path));
}

function notThere(location: string): PortolanError {
  return new PortolanError({
    code: 'source/not-found',
    disposition: 'give-up',
    message: `${location} is not there. What was read before stands.`,
    remedy: 'Bring it back, or correct -f; it is looked for by itself.',
  });
}

function unsettled(location: string): PortolanError {
  return new PortolanError({
    code: 'source/unsettled',
    disposition: 'give-up',
    message: `The files of ${location} have not held still for ${PATIENCE_MS / 1000} s, so none of what they said was taken. What was read before stands.`,
    remedy:
      'Find what keeps writing there; a folder that is written often belongs in git, or behind a link that is flipped.',
  });
}
