import { type Kysely, sql } from 'kysely';
import type { MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { type Moment, momentOf } from '../../runtime/time-limit.ts';
import { retryWithin } from '../retry-within.ts';
import { databaseNow, durably, type PostgresTables } from './tables.ts';

/** A lease that is renewed. */
export interface Renewable {
  readonly scope: string;
  readonly epoch: number;
  /** @param before the moment before the renewal was sent. */
  renewedFrom(before: Moment): void;
  /** Its row is not that of this lease any more. */
  check(): void;
}

export interface RenewalParts {
  /** One connection for nothing else that may take long, so that no queue delays a renewal. */
  readonly control: Kysely<PostgresTables>;
  readonly schema: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly holder: string;
  readonly leaseMs: number;
  /** Called when renewals have failed for half a lease, with the last error, and with undefined once they succeed again. */
  readonly onFailing?: ((error: unknown) => void) | undefined;
}

/** A lease is renewed this often within its length. */
const RENEWALS = 3;

type Outcome = 'renewed' | 'busy' | 'lost';

/** Renews all leases of a process with one statement. */
export class Renewals {
  readonly #parts: RenewalParts;
  readonly #leases = new Set<Renewable>();
  readonly #tracked = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** Since when every renewal has failed; undefined: the last one did not. */
  #failingFrom: MonotonicMs | undefined;
  #isReported = false;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
  }

  /** Renews the lease from now on. A lease that expired while the database was out of reach is renewed too, unless it was taken. */
  add(lease: Renewable): void {
    this.#leases.add(lease);
    this.#running ??= this.#run();
  }

  remove(lease: Renewable): void {
    this.#leases.delete(lease);
  }

  /** Lets the end of this process wait for work about a lease, if no other code waits for it. */
  track(work: Promise<unknown>): void {
    this.#tracked.add(work);
    void work.finally(() => this.#tracked.delete(work));
  }

  /** Runs a short statement on the connection of the renewals. */
  async control<Result>(work: (control: Kysely<PostgresTables>) => Promise<Result>): Promise<Result> {
    return work(this.#parts.control);
  }

  /** Renews nothing more, and ends the connection. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all(this.#tracked);
    await this.#parts.control.destroy();
  }

  async #run(): Promise<void> {
    const { clock, random, leaseMs } = this.#parts;
    let waitMs = leaseMs / RENEWALS;
    let failures = 0;
    for (;;) {
      try {
        await clock.sleep(waitMs, this.#stop.signal);
      } catch {
        return;
      }
      failures = (await this.#renew()) ? 0 : failures + 1;
      waitMs = failures === 0 ? leaseMs / RENEWALS : retryWithin(leaseMs, failures, random);
    }
  }

  /** @returns whether every lease that this process still has was renewed. */
  async #renew(): Promise<boolean> {
    if (this.#leases.size === 0) {
      // Nothing is asked, so a later failure is the first one.
      this.#failingFrom = undefined;
      return true;
    }
    const leases = new Map([...this.#leases].map((lease) => [lease.scope, lease]));
    const before = momentOf(this.#parts.clock);
    let outcomes: ReadonlyMap<string, Outcome>;
    try {
      outcomes = await this.#send([...leases.values()]);
    } catch (error) {
      this.#noteFailure(error, before);
      return false; // The next attempt, or the next transaction, may reach the database again.
    }
    this.#noteSuccess();
    for (const [scope, outcome] of outcomes) {
      const lease = leases.get(scope);
      if (lease === undefined) continue;
      if (outcome === 'renewed') lease.renewedFrom(before);
      if (outcome === 'lost') lease.check();
    }
    return ![...outcomes.values()].includes('busy');
  }

  #noteFailure(error: unknown, { monotonicMs }: Moment): void {
    const { clock, leaseMs, onFailing } = this.#parts;
    this.#failingFrom ??= monotonicMs;
    if (this.#isReported || clock.monotonic() - this.#failingFrom < leaseMs / 2) return;
    this.#isReported = true;
    onFailing?.(error);
  }

  #noteSuccess(): void {
    this.#failingFrom = undefined;
    if (this.#isReported) this.#parts.onFailing?.(undefined);
    this.#isReported = false;
  }

  /** A transaction of this process, which renews its lease itself, or a takeover has the row of a lease that is busy. */
  async #send(leases: readonly Renewable[]): Promise<ReadonlyMap<string, Outcome>> {
    const { control, schema, holder, leaseMs } = this.#parts;
    const lease = sql.id(schema, 'lease');
    const held = sql`l.scope = w.scope and l.epoch = w.epoch and l.holder = ${holder} and l.expires_ms > 0`;
    const { rows } = await sql<{ scope: string; outcome: Outcome }>`
      with wanted as (
        select scope, epoch from unnest(${leases.map(({ scope }) => scope)}::text[],
          ${leases.map(({ epoch }) => epoch)}::bigint[]) as w(scope, epoch), ${durably}),
      free as (select l.scope from ${lease} l join wanted w on ${held} for update of l skip locked),
      renewed as (
        update ${lease} l set expires_ms = ${databaseNow} + ${leaseMs}::bigint from free
        where l.scope = free.scope returning l.scope)
      select w.scope, case
        when r.scope is not null then 'renewed'
        when exists (select 1 from ${lease} l where ${held}) then 'busy' else 'lost' end as outcome
      from wanted w left join renewed r on r.scope = w.scope`.execute(control);
    return new Map(rows.map(({ scope, outcome }) => [scope, outcome]));
  }
}
