import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { PortolanError } from '../../model/errors.ts';

/** Files that are there as a whole or not at all, whatever happens while they are written. */

/**
 * Finds out whether `writeWholeFile` could write there, so that nothing is begun whose result then has no place.
 * @throws PortolanError `invalid` where it could not; nothing is left behind.
 */
export function checkWritable(path: string): void {
  try {
    const target = targetOf(path);
    if (target.type === 'device') closeSync(openSync(target.path, constants.O_WRONLY | constants.O_NONBLOCK));
    else {
      writeNew(target.unfinished, '');
      rmSync(target.unfinished);
    }
  } catch (error) {
    throw unwritable(path, 'invalid', 'Nothing was done', error);
  }
}

/**
 * Writes a file beside its place and then gives it its name: a reader finds the old one or the new one. A device or a pipe is
 * written to as it is.
 * @param folders whether to make those that are missing.
 * @throws PortolanError `give-up` when it cannot be written; an older file of that name then still stands.
 */
export function writeWholeFile(path: string, text: string, folders: 'make' | 'are there' = 'are there'): void {
  let unfinished: string | undefined;
  try {
    if (folders === 'make') mkdirSync(dirname(path), { recursive: true });
    const target = targetOf(path);
    if (target.type === 'device') {
      writeFileSync(target.path, text);
      return;
    }
    ({ unfinished } = target);
    writeNew(unfinished, text, target.mode);
    renameSync(unfinished, target.path);
  } catch (error) {
    if (unfinished !== undefined) rmSync(unfinished, { force: true });
    throw unwritable(path, 'give-up', 'It was not written', error);
  }
}

/** What is left of an earlier run goes; a link that somebody has put there is never followed. */
function writeNew(path: string, text: string, mode = 0o666): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { flag: 'wx', mode });
}

type Target =
  | { readonly type: 'device'; readonly path: string }
  | { readonly type: 'file'; readonly path: string; readonly unfinished: string; readonly mode: number | undefined };

/** Where a path leads: a link is followed, for it is what it points to that is to be written. */
function targetOf(path: string): Target {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return { type: 'file', path, unfinished: `${path}.partial`, mode: undefined };
  if (there.isDirectory()) throw new Error('it is a folder');
  if (!there.isFile()) return { type: 'device', path };
  const real = realpathSync(path);
  return { type: 'file', path: real, unfinished: `${real}.partial`, mode: there.mode & 0o777 };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on the disk',
  EDQUOT: 'the quota of the disk is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk can only be read',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
};

function unwritable(path: string, disposition: 'invalid' | 'give-up', undone: string, cause: unknown): PortolanError {
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
