import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SANDBOX_TOKEN } from '../../../src/sandbox/server.ts';
import { startProgram } from '../../cli/running.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import type { Estate } from './estate.ts';

const API_TOKEN = 'a-token-that-only-this-test-knows-0123456789';
const HOUR_MS = 3_600_000;

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
    const replica = new Replica(name, await FaultyProxy.before(estate.postgres.port), estate);
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
          STORE_KEY: 'replica-store-key',
          API_TOKEN,
          PORTOLAN_RUN_REPLICA_NAME: this.name,
          ...(this.clockAheadMs === 0 ? {} : { NODE_OPTIONS: `--import ${this.#clockFile()}` }),
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
    const headers = { authorization: `Bearer ${API_TOKEN}` };
    const signal = AbortSignal.timeout(5_000);
    const answer = await fetch(`${this.url}/api/v1${path}`, { headers, signal }).catch(String);
    return typeof answer === 'string' ? answer : answer.text();
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

  /** The program reads the wall clock with `Date.now` only. */
  #clockFile(): string {
    const path = join(this.#estate.folder, 'clock-ahead.mjs');
    writeFileSync(path, `const now = Date.now.bind(Date);\nDate.now = () => now() + ${HOUR_MS};\n`);
    return path;
  }
}
