import { hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { type ManifestFileSystem, nodeFileSystem, readSources } from '../manifest/read.ts';
import { keptContent, type SourceFile } from '../manifest/text.ts';
import { PortolanError } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import type { FolderPlace } from './contents.ts';
import { compareText } from '../model/text.ts';

/** Time after which a reading of files that keep changing fails. */
const PATIENCE_MS = 30_000;

/** The result of one scan. Two equal scans some time apart show that the files did not change. */
export interface Scan {
  /** Digest of names, sizes, times and inodes of all entries, in order. */
  readonly stats: string;
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
  /** Digest of names, contents, and problems. */
  readonly digest: string;
}

/**
 * Scans a folder until two scans, `stableMs` apart, are equal, and returns the result.
 * @throws PortolanError when nothing exists there, or the files keep changing.
 */
export async function readStableFolder(
  place: FolderPlace,
  limits: Pick<SourceLimits, 'sizeMib'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Scan> {
  const untilMs = clock.monotonic() + PATIENCE_MS;
  let before = await scan(place, limits);
  for (;;) {
    await clock.sleep(place.stableMs, signal);
    const now = await scan(place, limits);
    if (now.stats === before.stats && now.digest === before.digest) return now;
    if (clock.monotonic() > untilMs)
      throw new PortolanError({
        code: 'source/unsettled',
        disposition: 'give-up',
        message: `The files of ${place.paths.join(', ')} kept changing for ${PATIENCE_MS / 1000} s, so they were not read.`,
        remedy:
          'Find the program that keeps writing there. Use git, or a link that is switched, for files that change often.',
      });
    before = now;
  }
}

/** Returns the `stats` of a scan, without opening a file. */
export async function folderStats({ paths, exclude }: FolderPlace): Promise<string> {
  const seen: string[] = [];
  await readSources(paths, noting(seen, false), { exclude });
  return hash('sha256', seen.join('\n'));
}

async function scan({ paths, exclude }: FolderPlace, { sizeMib }: Pick<SourceLimits, 'sizeMib'>): Promise<Scan> {
  const seen: string[] = [];
  const found = await readSources(paths, noting(seen, true), { exclude, sizeMib });
  if (isNothingThere(found.problems, paths))
    throw new PortolanError({
      code: 'source/not-found',
      disposition: 'give-up',
      message: `${paths.join(', ')} does not exist.`,
      remedy: 'Restore it, or correct -f. Portolan retries automatically.',
    });
  const files = found.files.map(({ path, content }) => ({
    path,
    content: typeof content === 'string' ? content : keptContent(content),
    contentId: `sha256:${hash('sha256', content)}`,
  }));
  const lines = [
    ...files.map(({ path, contentId }) => `${path}\0${contentId}`),
    ...found.problems.map(({ position, code, message }) => `${position.file}\0${code}\0${message}`),
  ].sort(compareText);
  return {
    stats: hash('sha256', seen.join('\n')),
    files,
    problems: found.problems,
    digest: hash('sha256', lines.join('\n')),
  };
}

/** Returns the file system, and adds a line to `seen` for each entry. @param isOpened false: no file is opened. */
function noting(seen: string[], isOpened: boolean): ManifestFileSystem {
  const fs = nodeFileSystem(async function* () {});
  return {
    ...fs,
    async list(folder) {
      const entries = await fs.list(folder);
      seen.push(`${folder}/ ${entries.length}`);
      return entries;
    },
    async read(path, bytesMax) {
      const content = isOpened ? await fs.read(path, bytesMax) : new Uint8Array();
      // After the read, so that a write during the read shows in the other scan, by its time or by its content.
      seen.push(lineOf(path, await lstat(path, { bigint: true })));
      return content;
    },
  };
}

function lineOf(path: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${path} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** Returns whether all paths are missing, which is an error and not an empty source. */
function isNothingThere(problems: readonly Problem[], paths: readonly string[]): boolean {
  const missing = new Set(
    problems.filter(({ code }) => code === 'source/not-found').map(({ position }) => position.file),
  );
  return paths.every((path) => missing.has(path));
}
