import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../../support/postgres.ts';
import { pidIn } from './observation.ts';

/** One lease as the database has it. */
export interface LeaseRow {
  readonly unit: string;
  /** Of the process that holds it. */
  readonly pid: number;
  readonly epoch: number;
  readonly sinceMs: number;
  readonly isHeld: boolean;
}

const EVERY_MS = 100;

/** Reads the leases again and again, beside the replicas, and remembers each leadership. */
export class LeaseObserver {
  readonly #postgres: PostgresServer;
  readonly #stop = new AbortController();
  readonly #seen = new Map<string, LeaseRow>();
  readonly #running: Promise<void>;

  constructor(postgres: PostgresServer) {
    this.#postgres = postgres;
    this.#running = this.#run();
  }

  /** Returns the first leadership of a unit with a higher epoch. */
  after(unit: string, epoch: number): LeaseRow | undefined {
    const later = [...this.#seen.values()].filter((row) => row.unit === unit && row.epoch > epoch);
    return later.sort((left, right) => left.epoch - right.epoch)[0];
  }

  async read(): Promise<readonly LeaseRow[]> {
    const rows = await this.#postgres.query(`
      SELECT scope, actor, epoch, since_ms, expires_ms > extract(epoch from clock_timestamp()) * 1000 AS held
      FROM portolan.lease WHERE scope LIKE 'platform:%' OR scope LIKE 'source:%'`);
    return rows.map(({ scope, actor, epoch, since_ms: sinceMs, held }) => ({
      unit: String(scope),
      pid: pidIn(actor),
      epoch: Number(epoch),
      sinceMs: Number(sinceMs),
      isHeld: held === true,
    }));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        for (const row of await this.read()) this.#seen.set(`${row.unit} ${row.epoch}`, row);
      } catch {
        // The database is away, or has no tables yet.
      }
      await sleep(EVERY_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }
}
