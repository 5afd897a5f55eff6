import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
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
import { dirname } from 'node:path';
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

/** Ends in nothing that is read as a manifest, should it be left behind. */
const PARTIAL = 'portolan-partial';

/**
 * Writes a file beside its place and then gives it its name: a reader finds the old one or the new one. What is left of an
 * earlier run goes; a link that somebody has put there is never followed.
 * @param check what must hold before it gets its name; it throws otherwise.
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
    // Only then: after the rename, a file of that name is of another process.
    removeLeftover(unfinished);
    throw error;
  }
}

/** What made it a leftover is told, not that it could not be removed. */
function removeLeftover(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next run removes it, or says why it cannot.
  }
}

/**
 * Writes lines to a file that only its owner may read, one by one, and gives it its name when it is whole.
 * @returns how many.
 * @throws PortolanError `give-up` when it cannot be written; an older file of that name then still stands.
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

/**
 * Puts a text in a file's place, at once or not at all, with the permissions it had. A link is followed.
 * @param known what the file was read as.
 * @throws PortolanError `retry` when it was changed meanwhile, `give-up` when it cannot be written; it then stands as it was.
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
          message: `${path} was changed by somebody else while it was laid out. It was left as it is now.`,
          remedy: 'Run the command again.',
        });
    });
  });
}

/**
 * Finds out whether `writeWholeFile` could write there, so that nothing is begun whose result then has no place.
 * @throws PortolanError `invalid` where it could not; nothing is left behind.
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
 * Writes a file as a whole or not at all. A device or a pipe is written to as it is.
 * @param folders whether to make those that are missing.
 * @throws PortolanError `give-up` when it cannot be written; an older file of that name then still stands.
 */
export function writeWholeFile(path: string, text: string, folders: 'make' | 'are there' = 'are there'): void {
  orUnwritable(path, 'give-up', 'It was not written', () => {
    if (folders === 'make') mkdirSync(dirname(path), { recursive: true });
    const target = targetOf(path);
    if (target.isDevice) writeFileSync(target.path, text);
    else putInPlace(target.path, target.mode, (descriptor) => writeFileSync(descriptor, text));
  });
}

/** Where a path leads: a link is followed, for it is what it points to that is to be written. */
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

/** @throws PortolanError in place of what `write` throws. */
function orUnwritable(path: string, disposition: 'invalid' | 'give-up', undone: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw unwritable(path, disposition, undone, error);
  }
}

/** An error that has said its remedy already stays as it is. */
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
