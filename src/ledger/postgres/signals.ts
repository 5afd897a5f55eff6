import { sql } from 'kysely';
import type { Client, Notification } from 'pg';
import type { SignalTopic } from '../shared.ts';
import { clientOf, LIFETIME_S_MAX, type PostgresAccess } from './pool.ts';
import type { SharedData } from './shared-data.ts';

const CHANNEL = 'portolan';
const TOPICS: readonly SignalTopic[] = ['lease', 'fact', 'event', 'command', 'session'];
/** Interval at which a probe shows whether signals still arrive. */
const PROBE_EVERY_MS = 30_000;
/** Time for a probe to arrive. */
const PROBE_MS_MAX = 5_000;
/** Wait before the next attempt after the connection was lost. */
const RETRY_MS = 1_000;
/** Time for the server to confirm the end of a connection. Without an answer, TCP would wait for up to 15 minutes. */
const END_MS_MAX = 1_000;
/** Wait before the next attempt where no signal arrives at all, as behind a pooler in transaction mode. */
const DEAF_MS = 600_000;

/** Receives the signals of all processes on one connection. Losing any of them is harmless, because every receiver polls too. */
export class Signals {
  readonly #access: PostgresAccess;
  readonly #data: SharedData;
  readonly #listeners = new Set<(topic: SignalTopic) => void>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(access: PostgresAccess, data: SharedData) {
    this.#access = access;
    this.#data = data;
  }

  /** Connects for the first listener. @returns ends it. */
  on(listener: (topic: SignalTopic) => void): () => void {
    this.#listeners.add(listener);
    this.#running ??= this.#run();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#data.parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const waitMs = await this.#listen().catch(() => RETRY_MS);
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }

  /** Listens until the connection is of no use. @returns the time to wait before the next attempt. */
  async #listen(): Promise<number> {
    const client = clientOf(this.#access);
    const lost = new AbortController();
    const lose = (): void => lost.abort();
    client.on('error', lose);
    client.on('end', lose);
    try {
      await client.connect();
      const probes = new Map<string, () => void>();
      client.on('notification', (notification) => this.#receive(notification, probes));
      await client.query(`LISTEN ${CHANNEL}`);
      // Some may have been missed.
      for (const topic of TOPICS) this.#emit(topic);
      return await this.#probe(client, probes, AbortSignal.any([lost.signal, this.#stop.signal]));
    } finally {
      await this.#end(client);
    }
  }

  /** Ends a connection, also one that loses all packets. */
  async #end(client: Client): Promise<void> {
    const ended = new AbortController();
    const end = client.end().catch(() => {});
    const tooLate = this.#data.parts.clock.sleep(END_MS_MAX, ended.signal).catch(() => {});
    await Promise.race([end, tooLate]);
    ended.abort();
    client.connection.stream.destroy();
  }

  /** @returns once no signal arrives, or the connection ends or is as old as one of the pool may be. */
  async #probe(client: Client, probes: Map<string, () => void>, over: AbortSignal): Promise<number> {
    const { clock, random } = this.#data.parts;
    const untilMs = clock.monotonic() + LIFETIME_S_MAX * 1_000;
    let hasHeard = false;
    while (!over.aborted && clock.monotonic() < untilMs) {
      const id = random.hex(8);
      const heard = new Promise<boolean>((resolve) => {
        probes.set(id, () => resolve(true));
        clock.sleep(PROBE_MS_MAX, over).then(
          () => resolve(false),
          () => resolve(false),
        );
      });
      await this.#announce(id);
      const isHeard = await heard;
      probes.delete(id);
      if (over.aborted) break;
      if (!isHeard) return hasHeard ? RETRY_MS : DEAF_MS;
      hasHeard = true;
      await clock.sleep(PROBE_EVERY_MS, over).catch(() => {});
    }
    client.removeAllListeners('notification');
    return RETRY_MS;
  }

  /** Sent on a connection of the pool: a pooler delivers nothing to one that waits. */
  async #announce(id: string): Promise<void> {
    const { db, schema } = this.#data.parts;
    await sql`select pg_notify(${CHANNEL}, ${`${schema} probe ${id}`})`.execute(db);
  }

  #receive({ payload = '' }: Notification, probes: ReadonlyMap<string, () => void>): void {
    const [schema, topic = '', id = ''] = payload.split(' ');
    if (schema !== this.#data.parts.schema) return;
    if (topic === 'probe') probes.get(id)?.();
    else if ((TOPICS as readonly string[]).includes(topic)) this.#emit(topic as SignalTopic);
  }

  #emit(topic: SignalTopic): void {
    for (const listener of this.#listeners) listener(topic);
  }
}
