import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { PortolanError } from '../../model/errors.ts';

/** Nothing that a command line names is larger; a wrong path must not fill the memory. */
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

/** As `readNamedFile`; undefined where there is no such file. */
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

/** Whether there is a folder at a path that the command line names. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Makes a folder of its own that only this user can enter. @param prefix path and first characters of its name. */
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

/**
 * Writes lines to a file that only its owner may read, one by one, and gives it its name when it is whole.
 * @returns how many.
 * @throws PortolanError `give-up` when it cannot be written; an older file of that name then still stands.
 */
export function writePrivateLines(path: string, lines: Iterable<string>): number {
  const unfinished = `${path}.partial`;
  let written = 0;
  try {
    rmSync(unfinished, { force: true });
    const descriptor = openSync(unfinished, 'wx', 0o600);
    try {
      for (const line of lines) {
        writeSync(descriptor, `${line}\n`);
        written += 1;
      }
    } finally {
      closeSync(descriptor);
    }
    renameSync(unfinished, path);
    return written;
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (error instanceof PortolanError) throw error;
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): PortolanError {
  return new PortolanError({
    code: 'cli/unwritable-file',
    disposition: 'give-up',
    message: `${path} cannot be written: ${(error as NodeJS.ErrnoException).message}. It was not made.`,
    remedy: 'Correct the path, or free space there.',
    cause: error,
  });
}

/**
 * Puts a text in a file's place, at once or not at all, with the permissions it had. A link is followed.
 * @param known what the file was read as.
 * @throws PortolanError `retry` when it was changed meanwhile, `give-up` when it cannot be written; it then stands as it was.
 */
export function replaceTextFile(path: string, text: string, known: Uint8Array): void {
  let unfinished: string | undefined;
  try {
    const file = realpathSync(path);
    unfinished = `${file}.${PARTIAL}`;
    const { mode } = statSync(file);
    rmSync(unfinished, { force: true });
    const descriptor = openSync(unfinished, 'wx', 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    chmodSync(unfinished, mode & 0o7777);
    if (!readFileSync(file).equals(known)) throw changedMeanwhile(path);
    renameSync(unfinished, file);
  } catch (error) {
    if (unfinished !== undefined) rmSync(unfinished, { force: true });
    if (error instanceof PortolanError) throw error;
    throw new PortolanError({
      code: 'cli/unwritable-file',
      disposition: 'give-up',
      message: `${path} cannot be written: ${(error as NodeJS.ErrnoException).message}. It stands as it was.`,
      remedy: 'Correct the permissions of it and its folder, or free space there.',
      cause: error,
    });
  }
}

/** Ends in nothing that is read as a manifest, should it be left behind. */
const PARTIAL = 'portolan-partial';

function changedMeanwhile(path: string): PortolanError {
  return new PortolanError({
    code: 'cli/changed-meanwhile',
    disposition: 'retry',
    message: `${path} was changed by somebody else while it was laid out. It was left as it is now.`,
    remedy: 'Run the command again.',
  });
}
