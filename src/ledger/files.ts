import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inputOutput } from './errors.ts';

/** File operations of the ledger beside SQLite. They are synchronous, because they run at start and on command. */

/** Creates the directory of a ledger, for its owner only; one that exists stays as it is. */
export function createDirectoryFor(path: string): void {
  const directory = dirname(path);
  if (!existsSync(directory)) mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/** The path without links, so that two names of one ledger share one lock. The file itself may not exist yet. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

/**
 * Returns whether a file is there. If its folder is closed to this user, that is unknown: without the ledger, a plan would repeat
 * everything.
 * @throws PortolanError `ledger/io`
 */
export function fileExists(path: string): boolean {
  try {
    return fileIdentity(path) !== undefined;
  } catch (error) {
    throw inputOutput(path, error);
  }
}

export function fileBytes(path: string): number {
  return statSync(path).size;
}

/** Which file stands at a path, and when its content changed last. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  /** Number of names (hard links). */
  readonly links: bigint;
  readonly bytes: bigint;
  readonly changedNs: bigint;
}

/** Follows symbolic links, and opens nothing. @returns undefined where there is no file. */
export function fileIdentity(path: string): FileIdentity | undefined {
  try {
    const found = statSync(path, { bigint: true });
    const { dev, ino, nlink, size, mtimeNs } = found;
    return { device: dev, inode: ino, links: found.isFile() ? nlink : 1n, bytes: size, changedNs: mtimeNs };
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}

/** An empty file that only its owner may read; fails where one exists. */
export function createEmpty(path: string): void {
  closeSync(openSync(path, 'wx', 0o600));
}

/** The text of a small file. */
export function readText(path: string): string {
  return readFileSync(path, 'utf8');
}

/** A small file that is written again and again from its beginning, each time with a text of the same length. */
export function openInPlace(path: string) {
  const descriptor = openSync(path, 'r+');
  return {
    /** @param durable it survives a power cut once this returns. */
    write: (text: string, durable: boolean): void => {
      writeSync(descriptor, text, 0);
      if (durable) fdatasyncSync(descriptor);
    },
    close: (): void => closeSync(descriptor),
  };
}

/** Removes a file if it is there. */
export function remove(path: string): void {
  rmSync(path, { force: true });
}

/** Gives a ledger a second name, under which it stays when another takes its place, and moves what is left of its log there. */
export function keepUnder(path: string, kept: string): void {
  linkSync(path, kept);
  // A log that outlives its ledger would be replayed into the next one.
  for (const suffix of ['-wal', '-shm'])
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${kept}${suffix}`);
}

/** Renames a finished file within its directory, so that after a power cut there is the old one or the new, whole. */
export function moveInto(from: string, to: string): void {
  synchronise(from, 'r+'); // SQLite does not do it for the copies that VACUUM INTO writes.
  renameSync(from, to);
  synchronise(dirname(to), 'r');
}

function synchronise(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** SQLite needs this much to open a ledger, even for reading: one region of the index of its log. */
const openingBytes = 32 * 1024;

/** Returns whether the disk of a file has no space left, even to open a ledger. An unknown disk is not full. */
export function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < openingBytes;
  } catch {
    return false;
  }
}

/** `f_type` of statfs(2) for file systems whose locks and shared memory another machine, or the kernel, may not honour. */
const networkFilesystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB (cifs)'],
  [0xfe534d42, 'SMB 2'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
]);

/** The name of the network file system that a directory is on, or undefined. */
export function networkFilesystemOf(
  directory: string,
  typeOf: (directory: string) => number = (path) => statfsSync(path).type,
): string | undefined {
  return networkFilesystems.get(typeOf(directory));
}
