import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { PortolanError } from '../../model/errors.ts';

/** Limits a file that a command line names, so that a wrong path cannot fill the memory. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads a file that the command line, a variable or the configuration names.
 * @param what for the message: `the configuration`, `the seed`.
 * @throws PortolanError `invalid` when it cannot be read.
 */
export function readNamedFile(path: string, what: string, bytesMax = FILE_BYTES_MAX): Uint8Array {
  const content = readFileIfThere(path, what, bytesMax);
  if (content !== undefined) return content;
  throw unreadable(path, what, 'there is no such file');
}

/** Reads a file as `readNamedFile` does; returns undefined when it does not exist. */
export function readFileIfThere(path: string, what: string, bytesMax = FILE_BYTES_MAX): Uint8Array | undefined {
  let content: Uint8Array;
  try {
    content = readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const reasons: Readonly<Record<string, string>> = { EACCES: 'permission denied', EISDIR: 'it is a folder' };
    throw unreadable(path, what, reasons[code ?? ''] ?? message, error);
  }
  if (content.byteLength <= bytesMax) return content;
  throw unreadable(path, what, `it has ${content.byteLength} bytes, at most ${bytesMax} are read`);
}

function unreadable(path: string, what: string, why: string, cause?: unknown): PortolanError {
  return new PortolanError({
    code: 'cli/unreadable-file',
    disposition: 'invalid',
    message: `${what} cannot be read from ${path}: ${why}. Nothing was done.`,
    remedy: 'Correct the path, or what it names.',
    cause,
  });
}

/** Returns whether a path that the command line names is a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the Markdown files in a folder of the package and below, by their paths in it, sorted. */
export function markdownFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
}

/** Makes a new folder that only this user can enter. @param prefix path and first characters of its name. */
export function makeFolder(prefix: string): string {
  return mkdtempSync(prefix);
}

/** Removes a folder that `makeFolder` made, with everything in it. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

export function writeTextFile(path: string, text: string): void {
  writeFileSync(path, text);
}

/** Extension of an unfinished file. If one is left behind, no reader takes it for a manifest. */
const PARTIAL = 'portolan-partial';

/**
 * Writes a file under a temporary name and renames it, so that a reader finds the old file or the new one. Removes the
 * unfinished file of an earlier run first, and never follows a link in its place.
 * @param check throws when the file must not be renamed.
 */
export function putInPlace(path: string, mode: number, write: (descriptor: number) => void, check = () => {}): void {
  const unfinished = `${path}.${PARTIAL}`;
  rmSync(unfinished, { force: true });
  const descriptor = openSync(unfinished, 'wx', mode);
  try {
    try {
      write(descriptor);
    } finally {
      closeSync(descriptor);
    }
    check();
    renameSync(unfinished, path);
  } catch (error) {
    // After the rename, an unfinished file of that name belongs to another process.
    removeLeftover(unfinished);
    throw error;
  }
}

/** Removes an unfinished file. If that fails, the error that made it unfinished is the one to report. */
function removeLeftover(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next run removes it, or says why it cannot.
  }
}

/**
 * Writes lines to a file that only its owner may read, and renames it when it is complete.
 * @returns the number of lines.
 * @throws PortolanError `give-up` when it cannot be written; an older file of that name then stays as it is.
 */
export function writePrivateLines(path: string, lines: Iterable<string>): number {
  let written = 0;
  orUnwritable(path, 'give-up', 'It was not made', () =>
    putInPlace(path, 0o600, (descriptor) => {
      for (const line of lines) {
        writeSync(descriptor, `${line}\n`);
        written += 1;
      }
    }),
  );
  return written;
}

/** Writes lines as `writePrivateLines` does, as they come. */
export async function writePrivateLinesFrom(path: string, lines: AsyncIterable<string>): Promise<number> {
  const unfinished = `${path}.${PARTIAL}`;
  const descriptor = orUnwritable(path, 'give-up', 'It was not made', () => {
    rmSync(unfinished, { force: true });
    return openSync(unfinished, 'wx', 0o600);
  });
  let written = 0;
  try {
    try {
      for await (const line of lines) {
        orUnwritable(path, 'give-up', 'It was not made', () => writeSync(descriptor, `${line}\n`));
        written += 1;
      }
    } finally {
      closeSync(descriptor);
    }
    orUnwritable(path, 'give-up', 'It was not made', () => renameSync(unfinished, path));
  } catch (error) {
    removeLeftover(unfinished);
    throw error;
  }
  return written;
}

/**
 * Replaces the text of a file completely or not at all, and keeps its permissions. Follows a link.
 * @param known the content that was read before.
 * @throws PortolanError `retry` when the file has changed since, `give-up` when it cannot be written; it then stays as it
 * is.
 */
export function replaceTextFile(path: string, text: string, known: Uint8Array): void {
  orUnwritable(path, 'give-up', 'It stands as it was', () => {
    const file = realpathSync(path);
    const { mode } = statSync(file);
    const write = (descriptor: number): void => {
      writeFileSync(descriptor, text);
      fchmodSync(descriptor, mode & 0o7777);
      fsyncSync(descriptor);
    };
    putInPlace(file, 0o600, write, () => {
      if (!readFileSync(file).equals(known))
        throw new PortolanError({
          code: 'cli/changed-meanwhile',
          disposition: 'retry',
          message: `${path} was changed while it was formatted. It was not overwritten.`,
          remedy: 'Run the command again.',
        });
    });
  });
}

/**
 * Checks that `writeWholeFile` can write to a path, so that a command does not start work whose result it cannot store.
 * @throws PortolanError `invalid` when it cannot; no file is left behind.
 */
export function checkWritable(path: string): void {
  orUnwritable(path, 'invalid', 'Nothing was done', () => {
    const target = targetOf(path);
    if (target.isDevice) closeSync(openSync(target.path, constants.O_WRONLY | constants.O_NONBLOCK));
    else {
      const unfinished = `${target.path}.${PARTIAL}`;
      rmSync(unfinished, { force: true });
      writeFileSync(unfinished, '', { flag: 'wx' });
      rmSync(unfinished);
    }
  });
}

/**
 * Writes a file completely or not at all. Writes to a device or a pipe directly.
 * @param folders whether to make missing folders.
 * @throws PortolanError `give-up` when it cannot be written; an older file of that name then stays as it is.
 */
export function writeWholeFile(path: string, text: string, folders: 'make' | 'are there' = 'are there'): void {
  orUnwritable(path, 'give-up', 'It was not written', () => {
    if (folders === 'make') mkdirSync(dirname(path), { recursive: true });
    const target = targetOf(path);
    if (target.isDevice) writeFileSync(target.path, text);
    else putInPlace(target.path, target.mode, (descriptor) => writeFileSync(descriptor, text));
  });
}

/** Returns the file that a path leads to. Follows a link, because its target is the file to write. */
function targetOf(path: string): { readonly path: string; readonly isDevice: boolean; readonly mode: number } {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return { path, isDevice: false, mode: 0o666 };
  if (there.isDirectory()) throw new Error('it is a folder');
  if (!there.isFile()) return { path, isDevice: true, mode: 0o666 };
  return { path: realpathSync(path), isDevice: false, mode: there.mode & 0o777 };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on the disk',
  EDQUOT: 'the quota of the disk is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk can only be read',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'something else is there',
  EISDIR: 'it is a folder',
};

/**
 * Runs `write`.
 * @throws PortolanError in place of the error that `write` throws.
 */
function orUnwritable<Result>(
  path: string,
  disposition: 'invalid' | 'give-up',
  undone: string,
  write: () => Result,
): Result {
  try {
    return write();
  } catch (error) {
    throw unwritable(path, disposition, undone, error);
  }
}

/**
 * Returns the error for a file that cannot be written. A PortolanError already has a remedy and is returned unchanged.
 */
export function unwritable(
  path: string,
  disposition: 'invalid' | 'give-up',
  undone: string,
  cause: unknown,
): PortolanError {
  if (cause instanceof PortolanError) return cause;
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new PortolanError({
    code: 'cli/unwritable-file',
    disposition,
    message: `${path} cannot be written: ${REASONS[code] ?? message}. ${undone}.`,
    remedy: isFull ? 'Free space there, or name a file elsewhere.' : 'Correct the path, or the rights of its folder.',
    cause,
  });
}
