import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { identity, type PostgresServer, queryPostgres, USER } from './postgres.ts';

/** A package of the system puts it into a folder that an ordinary PATH may lack. */
const PATH = `${process.env['PATH']}:/usr/sbin`;
const ROLES = [USER, 'portolan', 'portolan_owner'];

/** Whether this machine has a PgBouncer. No npm package contains it. */
export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version'], { env: { PATH } }).status === 0;
}

/** A PgBouncer in transaction mode, which gives each transaction of a client any of its connections. */
export class PgBouncer {
  readonly port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#process = child;
  }

  /** @param loginRetryS its setting `server_login_retry`. */
  static async before(server: PostgresServer, loginRetryS: number): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-pgbouncer-'));
    chmodSync(folder, 0o755);
    const port = await freePort();
    const [users, settings] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')];
    writeFileSync(users, ROLES.map((role) => `"${role}" ""\n`).join(''));
    writeFileSync(
      settings,
      `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
server_login_retry = ${loginRetryS}
`,
    );
    const child = spawn('pgbouncer', ['--quiet', settings], { ...identity, stdio: 'ignore', env: { PATH } });
    const pooler = new PgBouncer(port, folder, child);
    await pooler.#accepts();
    return pooler;
  }

  async #accepts(): Promise<void> {
    for (;;) {
      try {
        await queryPostgres(this.port, 'SELECT 1');
        return;
      } catch (error) {
        if (this.#process.exitCode !== null) throw error;
        await sleep(20);
      }
    }
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.kill('SIGKILL')) await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
