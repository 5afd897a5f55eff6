import * as fs from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';

/** What reading plain files asks of the system. An answer may be there at once. */
export interface SystemCalls {
  realpath(path: string): string | Promise<string>;
  /** Of the link itself, where the path is one. */
  lstat(path: string): fs.Stats | Promise<fs.Stats>;
  /** With what each entry is itself, where it is a link. */
  list(folder: string): readonly fs.Dirent[] | Promise<readonly fs.Dirent[]>;
  /** For reading, without following a link at its end, and without waiting for whoever writes into a pipe. */
  open(path: string): OpenFile | Promise<OpenFile>;
}

export interface OpenFile {
  stat(): fs.Stats | Promise<fs.Stats>;
  /** 0 bytes at the end. */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
  ): { readonly bytesRead: number } | Promise<{ readonly bytesRead: number }>;
  close(): void | Promise<void>;
}

const FLAGS = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;

/** Nothing else of the process waits, however slow the disk: for one that has other work. */
export const patientCalls: SystemCalls = {
  realpath,
  lstat,
  list: (folder) => readdir(folder, { withFileTypes: true }),
  open: (path) => open(path, FLAGS),
};

/** A signal that came meanwhile is heard after so many files and folders. */
const NAMES_PER_TURN = 64;

/**
 * The process stands still for each call, which costs a tenth of what handing it to another thread and back does: for a
 * command, which has nothing else to do before it has read its files.
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
