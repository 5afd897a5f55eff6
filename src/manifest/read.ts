import type { Dirent, Stats } from 'node:fs';
import { join, sep } from 'node:path';
import type { Problem } from '../model/problem.ts';
import { LIMITS } from './limits.ts';
import { fileProblem, isHiddenName, isManifestName, isMisnamed, SKIP_MARKER } from './source-rules.ts';
import { type OpenFile, patientCalls, type SystemCalls } from './system-calls.ts';
import type { SourceFile } from './text.ts';
import { compareText } from '../model/text.ts';

/** An entry of a folder. The kind is that of a link itself, not of its target. */
export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** The file system of `readSources`. `nodeFileSystem` is the real one; tests may use another. */
export interface ManifestFileSystem {
  realpath(path: string): Promise<string>;
  kindOf(path: string): Promise<Entry['kind']>;
  /** Returns entries in any order. */
  list(folder: string): Promise<readonly Entry[]>;
  /** Opens without following a link, and reads at most `bytesMax` + 1 bytes. Fails for anything but a plain file. */
  read(path: string, bytesMax: number): Promise<Uint8Array>;
  readStandardInput(bytesMax: number): Promise<Uint8Array>;
}

export interface ReadOptions {
  /** Files to skip, such as the configuration file, which may be among the manifests. */
  readonly exclude?: readonly string[];
  /** The maximum MiB to read. Default: the limit of a source. */
  readonly sizeMib?: number;
}

export interface ReadSources {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
  /** Files that were not read, but whose names are nearly those of manifests. */
  readonly misnamed?: readonly string[];
}

/**
 * Reads the arguments of `-f`: a file, a folder or `-` for standard input. A folder is read recursively in a stable order, only
 * `.yaml`, `.yml` and `.json`, without hidden names and folders with a skip marker. A link is followed only to a plain file
 * within the same folder. A file is read once. A file that cannot be read is a problem, and the others are still read.
 */
export async function readSources(
  paths: readonly string[],
  fs: ManifestFileSystem,
  options: ReadOptions = {},
): Promise<ReadSources> {
  const walk = new Walk(fs, options.sizeMib ?? LIMITS.totalBytes / MIB);
  for (const path of options.exclude ?? []) await walk.exclude(path);
  for (const path of paths) {
    if (path === '-') await walk.standardInput();
    else await walk.named(path);
  }
  return { files: walk.files, problems: walk.problems, misnamed: walk.misnamed };
}

const MIB = 1024 * 1024;

class Walk {
  readonly files: SourceFile[] = [];
  readonly problems: Problem[] = [];
  readonly misnamed: string[] = [];
  readonly #fs: ManifestFileSystem;
  readonly #seen = new Set<string>();
  readonly #sizeMib: number;
  #bytes = 0;
  #full = false;

  constructor(fs: ManifestFileSystem, sizeMib: number) {
    this.#fs = fs;
    this.#sizeMib = sizeMib;
  }

  async exclude(path: string): Promise<void> {
    try {
      this.#seen.add(await this.#fs.realpath(path));
    } catch {
      // A file that does not exist need not be skipped.
    }
  }

  async standardInput(): Promise<void> {
    if (this.#seen.has('-')) return;
    this.#seen.add('-');
    try {
      this.#keep('<stdin>', await this.#fs.readStandardInput(LIMITS.fileBytes));
    } catch (error) {
      this.#unreadable('<stdin>', error, 'standard input');
    }
  }

  /** Reads a path that the user wrote, in which links are followed. */
  async named(path: string): Promise<void> {
    try {
      const real = await this.#fs.realpath(path);
      const kind = await this.#fs.kindOf(real);
      if (kind === 'folder') await this.#folder(path, real, real);
      else await this.#file(path, real);
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
      if (missing) this.#problem(path, 'source/not-found', 'there is no such file or folder', 'a path that exists');
      else this.#unreadable(path, error);
    }
  }

  async #folder(shown: string, real: string, root: string): Promise<void> {
    const entries = [...(await this.#fs.list(real))].sort((left, right) => compareText(left.name, right.name));
    if (real !== root && entries.some(({ name }) => name === SKIP_MARKER)) return;
    for (const { name, kind } of entries) {
      if (this.#full) return;
      if (isHiddenName(name)) continue;
      await this.#entry(kind, join(shown, name), join(real, name), root);
    }
  }

  async #entry(kind: Entry['kind'], shown: string, real: string, root: string): Promise<void> {
    try {
      if (kind === 'folder') await this.#folder(shown, real, root);
      else if (!isManifestName(shown)) {
        if (isMisnamed(shown)) this.misnamed.push(shown);
      } else if (kind === 'link') await this.#link(shown, real, root);
      else await this.#file(shown, real);
    } catch (error) {
      this.#unreadable(shown, error);
    }
  }

  /** Reads a link to a file within the named folder. Links to folders could form a cycle. */
  async #link(shown: string, real: string, root: string): Promise<void> {
    const target = await this.#fs.realpath(real);
    if (!target.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) {
      const message = 'it is a symbolic link that leads out of the folder; it was not followed';
      this.#problem(shown, 'source/link', message, 'plain files, and links to files within the folder');
    } else await this.#file(shown, target);
  }

  async #file(shown: string, real: string): Promise<void> {
    if (this.#seen.has(real)) return;
    this.#seen.add(real);
    if (this.files.length >= LIMITS.files)
      this.#stop(shown, 'limit/files', `this is file ${LIMITS.files + 1}; it and the rest were not read`);
    else this.#keep(shown, await this.#fs.read(real, LIMITS.fileBytes));
  }

  #keep(shown: string, content: Uint8Array): void {
    this.#bytes += content.byteLength;
    if (this.#bytes > this.#sizeMib * MIB) {
      const message = `with this file there are more than ${this.#sizeMib} MiB; it and the rest were not read`;
      this.#stop(shown, 'limit/total-size', message);
    } else this.files.push({ path: shown, content });
  }

  #stop(shown: string, code: string, message: string): void {
    this.#full = true;
    this.#problem(shown, code, message);
  }

  #unreadable(file: string, error: unknown, subject = 'it'): void {
    this.#problem(file, 'source/unreadable', `${subject} cannot be read: ${reason(error)}`);
  }

  #problem(file: string, code: string, message: string, expected?: string): void {
    this.problems.push(fileProblem(file, code, message, expected));
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ENOENT') return 'it does not exist any more, or is a broken link';
  if (code === 'ELOOP') return 'it is a symbolic link, or became one';
  return message;
}

/**
 * Returns the real file system.
 * @param standardInput yields the content of standard input.
 * @param calls `directCalls()` for a process without other work.
 */
export function nodeFileSystem(
  standardInput: () => AsyncIterable<Uint8Array>,
  calls: SystemCalls = patientCalls,
): ManifestFileSystem {
  return {
    realpath: async (path) => calls.realpath(path),
    kindOf: async (path) => kindFrom(await calls.lstat(path)),
    list: async (folder) => (await calls.list(folder)).map((entry) => ({ name: entry.name, kind: kindFrom(entry) })),
    read: (path, bytesMax) => readPlainFile(path, bytesMax, calls),
    async readStandardInput(bytesMax) {
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of standardInput()) {
        chunks.push(chunk);
        bytes += chunk.byteLength;
        if (bytes > bytesMax) break;
      }
      return Buffer.concat(chunks);
    },
  };
}

function kindFrom(entry: Dirent | Stats): Entry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

async function readPlainFile(path: string, bytesMax: number, calls: SystemCalls): Promise<Uint8Array> {
  // `open` rejects a link that has replaced the file, and does not wait for a pipe.
  const file = await calls.open(path);
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw new Error('it is not a plain file');
    // A parent folder may have been replaced by a link since the path was checked.
    if ((await calls.realpath(path)) !== path) throw new Error('its folder was replaced while it was read');
    return await readWhole(file, opened.size, bytesMax);
  } finally {
    await file.close();
  }
}

/** Reads a whole file, or its first `bytesMax` + 1 bytes, which the caller rejects as too many. */
async function readWhole(file: OpenFile, size: number, bytesMax: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(Math.min(bytesMax, size) + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    length += bytesRead;
    // A plain file returns fewer bytes than requested only at its end.
    if (bytesRead === 0 || (length === size && length < buffer.length)) break;
  }
  // The file has become longer: the first part of a file may be a valid manifest.
  if (length > size && size <= bytesMax) throw new Error('it changed while it was read');
  return buffer.subarray(0, length);
}
