import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_TOKEN } from '../../../src/sandbox/server.ts';
import { startProgram } from '../../cli/running.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import type { Estate } from './estate.ts';
import { STORE_KEY } from './secrets.ts';

const API_TOKEN = 'a-token-that-only-this-test-knows-0123456789';
const AUTHORIZED = { authorization: `Bearer ${API_TOKEN}` };
const ANSWER_MS = 5_000;
const HOUR_MS = 3_600_000;
/** A clock that was not read for this long stood still, if a test says so. */
const NOTICED_MS = 1_000;

/** One controller process with its own way to the database. */
export class Replica {
  readonly name: string;
  readonly proxy: FaultyProxy;
  readonly #estate: Estate;
  #run: ReturnType<typeof startProgram> | undefined;
  /** Its wall clock is ahead by this time, from its next start on. */
  clockAheadMs = 0;

  private constructor(name: string, proxy: FaultyProxy, estate: Estate) {
    this.name = name;
    this.proxy = proxy;
    this.#estate = estate;
  }

  static async start(name: string, estate: Estate): Promise<Replica> {
    const replica = new Replica(name, await FaultyProxy.before(estate.databasePort), estate);
    replica.start();
    return replica;
  }

  start(): void {
    const { config, checkout } = this.#estate;
    const ledger = this.#estate.ledger(this.proxy.port);
    this.#run = startProgram(
      ['run', '--config', config, '-f', checkout, '--ledger', ledger, '--log-format', 'json', '--log-level', 'debug'],
      {
        env: {
          PORTOLAN_TOKEN: SANDBOX_TOKEN,
          STORE_KEY,
          API_TOKEN,
          PORTOLAN_RUN_REPLICA_NAME: this.name,
          NODE_OPTIONS: `--import ${this.#clockFile()}`,
        },
      },
    );
  }

  get pid(): number {
    return this.#run?.child.pid ?? -1;
  }

  /** Whether the process has not ended. */
  get isRunning(): boolean {
    const child = this.#run?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Text of its log. */
  get said(): string {
    return this.#run?.outputSoFar().err ?? '';
  }

  get url(): string | undefined {
    return /API at (http:\S+);/.exec(this.said)?.[1];
  }

  /** Returns an answer of its API as text. */
  async answer(path: string): Promise<string> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(`${this.url}/api/v1${path}`, { headers: AUTHORIZED, signal }).catch(String);
    return typeof answer === 'string' ? answer : answer.text();
  }

  /** Returns its metrics, also late, when it was stopped meanwhile; undefined: it did not answer. */
  async metrics(signal: AbortSignal): Promise<string | undefined> {
    try {
      const answer = await fetch(`${this.url}/metrics`, { headers: AUTHORIZED, signal });
      return answer.ok ? await answer.text() : undefined;
    } catch {
      return undefined;
    }
  }

  /** Sends a command to its API. @returns whether it was confirmed. */
  async command(path: string, body: object): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
      const answer = await fetch(`${this.url}/api/v1${path}`, request);
      await answer.arrayBuffer();
      return answer.ok;
    } catch {
      return false;
    }
  }

  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#run?.child.kill(signal);
  }

  /** Waits until the process has ended. @returns its exit code. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    if (this.isRunning) this.signal(signal);
    return (await this.#run?.ended)?.code ?? 0;
  }

  async remove(): Promise<void> {
    this.signal('SIGCONT');
    await this.end('SIGKILL');
    await this.proxy.close();
  }

  /**
   * Stops the process as if its machine were suspended: its monotonic clock does not count the time until `wake`. Timers of the process
   * end when it wakes, which no test can prevent.
   */
  suspend(): void {
    writeFileSync(this.#suspensionFile, '');
    this.signal('SIGSTOP');
  }

  async wake(): Promise<void> {
    this.signal('SIGCONT');
    await sleep(NOTICED_MS);
    rmSync(this.#suspensionFile, { force: true });
  }

  get #suspensionFile(): string {
    return join(this.#estate.folder, `${this.name}-suspended`);
  }

  /** The program reads the clocks with `Date.now` and `performance.now` only. */
  #clockFile(): string {
    const path = join(this.#estate.folder, `${this.name}-clock.mjs`);
    writeFileSync(
      path,
      `import { existsSync } from 'node:fs';
const wall = Date.now.bind(Date);
Date.now = () => wall() + ${this.clockAheadMs === 0 ? 0 : HOUR_MS};
const monotonic = performance.now.bind(performance);
let [suspendedMs, lastMs] = [0, monotonic()];
performance.now = () => {
  const nowMs = monotonic();
  if (nowMs - lastMs > ${NOTICED_MS} && existsSync(${JSON.stringify(this.#suspensionFile)})) suspendedMs += nowMs - lastMs;
  lastMs = nowMs;
  return nowMs - suspendedMs;
};
setInterval(performance.now, 100).unref();
`,
    );
    return path;
  }
}
