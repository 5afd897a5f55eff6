import type { Dirent, Stats } from 'node:fs';
import { join, sep } from 'node:path';
import type { Problem } from '../model/problem.ts';
import { compareText } from './fault.ts';
import { LIMITS } from './limits.ts';
import { fileProblem, isHiddenName, isManifestName, isMisnamed, SKIP_MARKER } from './source-rules.ts';
import { type OpenFile, patientCalls, type SystemCalls } from './system-calls.ts';
import type { SourceFile } from './text.ts';

/** What an entry of a folder is itself, where it is a link. */
export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** The files that `readSources` sees. `nodeFileSystem` is the real one; tests may bring another. */
export interface ManifestFileSystem {
  realpath(path: string): Promise<string>;
  kindOf(path: string): Promise<Entry['kind']>;
  /** In any order. */
  list(folder: string): Promise<readonly Entry[]>;
  /** Opens without following a link, and reads at most `bytesMax` + 1 bytes. Fails for anything but a plain file. */
  read(path: string, bytesMax: number): Promise<Uint8Array>;
  readStandardInput(bytesMax: number): Promise<Uint8Array>;
}

export interface ReadOptions {
  /** Files to leave out wherever they are met: the configuration file, which may lie among the manifests. */
  readonly exclude?: readonly string[];
  /** MiB that are read at most. Default: as many as any source may have. */
  readonly sizeMib?: number;
}

export interface ReadSources {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
  /** Files that were not read, whose names are nearly those of manifests. */
  readonly misnamed?: readonly string[];
}

/**
 * Reads what `-f` names: a file, a folder (recursively, in a stable order, `.yaml`, `.yml` and `.json` only, hidden
 * names and folders with a skip marker left out) or `-` for standard input. A link is followed to a plain file within the same folder, and nowhere
 * else; a file that is met twice is read once. Whatever cannot be read is a problem, and the rest is read all the same.
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
      // What does not exist need not be left out.
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

  /** A path that the user wrote: links in it are the user's own wish. */
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

  /** Links stay within the folder that was named; links to folders could make a circle. */
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
  if (code === 'ENOENT') return 'it is gone, or a link that leads nowhere';
  if (code === 'ELOOP') return 'it is a symbolic link, or became one';
  return message;
}

/**
 * The real files.
 * @param standardInput yields what comes on standard input; only the process's edge has it.
 * @param calls `directCalls()` where nothing else of the process has to go on meanwhile.
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
  // Not a link that took the file's place meanwhile, and not a pipe that would never answer.
  const file = await calls.open(path);
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw new Error('it is not a plain file');
    // A folder above it may have become a link between the check of the path and the opening.
    if ((await calls.realpath(path)) !== path) throw new Error('its folder was replaced while it was read');
    return await readWhole(file, opened.size, bytesMax);
  } finally {
    await file.close();
  }
}

/** All of a file, or its first `bytesMax` + 1 bytes: too many, which the caller's limit then says. */
async function readWhole(file: OpenFile, size: number, bytesMax: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(Math.min(bytesMax, size) + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    length += bytesRead;
    // A plain file gives less than there is room for only at its end.
    if (bytesRead === 0 || (length === size && length < buffer.length)) break;
  }
  // One byte more than it had: half of a file may well be a valid manifest.
  if (length > size && size <= bytesMax) throw new Error('it grew while it was read');
  return buffer.subarray(0, length);
}
