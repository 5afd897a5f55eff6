import * as fs from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';

/** The system calls that read plain files. Their results may be synchronous. */
export interface SystemCalls {
  realpath(path: string): string | Promise<string>;
  /** Returns the status of a link itself, not of its target. */
  lstat(path: string): fs.Stats | Promise<fs.Stats>;
  /** Returns the entries of a folder, without following links. */
  list(folder: string): readonly fs.Dirent[] | Promise<readonly fs.Dirent[]>;
  /** Opens a file for reading. It does not follow a link, and does not wait for the writer of a pipe. */
  open(path: string): OpenFile | Promise<OpenFile>;
}

export interface OpenFile {
  stat(): fs.Stats | Promise<fs.Stats>;
  /** Reads 0 bytes at the end of the file. */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
  ): { readonly bytesRead: number } | Promise<{ readonly bytesRead: number }>;
  close(): void | Promise<void>;
}

const FLAGS = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;

/** Asynchronous calls, for a process that has other work while a disk is slow. */
export const patientCalls: SystemCalls = {
  realpath,
  lstat,
  list: (folder) => readdir(folder, { withFileTypes: true }),
  open: (path) => open(path, FLAGS),
};

/** The number of files and folders after which the process handles signals. */
const NAMES_PER_TURN = 64;

/**
 * Returns synchronous calls, which cost a tenth of the asynchronous ones: for a command, which has nothing else to do before
 * it has read its files.
 */
export function directCalls(): SystemCalls {
  let names = 0;
  const isTurn = (): boolean => {
    names += 1;
    return names % NAMES_PER_TURN === 0;
  };
  return {
    realpath: (path) => fs.realpathSync.native(path),
    lstat: (path) => fs.lstatSync(path),
    list: (folder) => (isTurn() ? patientCalls.list(folder) : fs.readdirSync(folder, { withFileTypes: true })),
    open(path) {
      if (isTurn()) return patientCalls.open(path);
      const descriptor = fs.openSync(path, FLAGS);
      return {
        stat: () => fs.fstatSync(descriptor),
        read: (buffer, offset, length) => ({ bytesRead: fs.readSync(descriptor, buffer, offset, length, null) }),
        close: () => fs.closeSync(descriptor),
      };
    },
  };
}
