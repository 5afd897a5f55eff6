import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { PortolanError } from '../model/errors.ts';

/** Nothing that a command line names is larger; a wrong path must not fill the memory. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads a file that the command line, a variable or the configuration names.
 * @param what for the message: `the configuration`, `the seed`.
 * @throws PortolanError `invalid` when it cannot be read.
 */
export function readNamedFile(path: string, what: string): Uint8Array {
  const content = readFileIfThere(path, what);
  if (content !== undefined) return content;
  throw unreadable(path, what, 'there is no such file');
}

/** As `readNamedFile`; undefined where there is no such file. */
export function readFileIfThere(path: string, what: string): Uint8Array | undefined {
  let content: Uint8Array;
  try {
    content = readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const reasons: Readonly<Record<string, string>> = { EACCES: 'permission denied', EISDIR: 'it is a folder' };
    throw unreadable(path, what, reasons[code ?? ''] ?? message, error);
  }
  if (content.byteLength <= FILE_BYTES_MAX) return content;
  throw unreadable(path, what, `it has ${content.byteLength} bytes, at most ${FILE_BYTES_MAX} are read`);
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

/** Makes a folder of its own that only this user can enter. @param prefix path and first characters of its name. */
export function makeFolder(prefix: string): string {
  return mkdtempSync(prefix);
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
    throw new PortolanError({
      code: 'cli/unwritable-file',
      disposition: 'give-up',
      message: `${path} cannot be written: ${(error as NodeJS.ErrnoException).message}. It was not made.`,
      remedy: 'Correct the path, or free space there.',
      cause: error,
    });
  }
}
