import { appendFileSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import { readFileIfThere } from '../../session/files.ts';
import type { FolderFile } from './content.ts';

/** Which of the paths below a folder are taken, by whatever it may be. */
export function existingOf(folder: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    try {
      return lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      // A file stands where its folder would: writing says so.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
      throw unwritable(join(folder, path), error, 'Nothing was written.');
    }
  });
}

/**
 * Writes files with the folders that they need. Without `replace` nothing that is there is touched: should one of them
 * have appeared meanwhile, those that were written before it are taken back.
 * @throws PortolanError `give-up` when one cannot be written.
 */
export function writeFiles(folder: string, files: readonly FolderFile[], replace: boolean): void {
  // Files, and the topmost folders that were not there before.
  const made: string[] = [];
  for (const { path, content } of files) {
    const file = join(folder, path);
    try {
      const folderMade = mkdirSync(dirname(file), { recursive: true });
      if (folderMade !== undefined) made.push(folderMade);
      if (replace) replaceFile(file, content);
      else writeFileSync(file, content, { flag: 'wx' });
      made.push(file);
    } catch (error) {
      if (!replace) for (const each of made) rmSync(each, { recursive: true, force: true });
      throw unwritable(file, error, replace ? 'What was written before it stays.' : 'Nothing was left behind.');
    }
  }
}

function replaceFile(file: string, content: string): void {
  const unfinished = `${file}.partial`;
  try {
    writeFileSync(unfinished, content);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Adds to a file what it lacks, below what it says.
 * @param lacking of what it says now; undefined: there is none.
 */
export function addToFile(
  folder: string,
  path: string,
  lacking: (existing: string | undefined) => string,
): 'written' | 'added' | 'kept' {
  const file = join(folder, path);
  const content = readFileIfThere(file, path);
  const existing = content === undefined ? undefined : new TextDecoder().decode(content);
  const text = lacking(existing);
  if (text === '') return 'kept';
  const gap = existing === undefined || existing === '' ? '' : existing.endsWith('\n') ? '\n' : '\n\n';
  try {
    appendFileSync(file, gap + text);
  } catch (error) {
    throw unwritable(file, error, 'Everything else was written.');
  }
  return existing === undefined ? 'written' : 'added';
}

function unwritable(file: string, error: unknown, rest: string): PortolanError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'something else is there' : message;
  return new PortolanError({
    code: 'cli/unwritable-file',
    disposition: 'give-up',
    message: `${safeLine(file)} cannot be written: ${safeLine(why)}. ${rest}`,
    remedy: 'Name another folder, or correct its permissions.',
    cause: error,
  });
}
