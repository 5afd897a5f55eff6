import { type Kysely, type RawBuilder, sql } from 'kysely';
import { readHolder } from '../lease-holder.ts';
import { whileBusy } from '../patience.ts';
import type {
  ChangedFacts,
  EventsSince,
  LiveReplica,
  ReplicaReport,
  SharedEvents,
  SharedSessions,
  StoredSession,
} from '../shared.ts';
import type { Json } from '../../model/json.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { explainPostgres, postgresFault } from './faults.ts';
import { type Known, LossWatch } from './loss-watch.ts';
import { databaseNow, durably, isPastHeartbeat, type PostgresTables } from './tables.ts';

/** Events that are kept. */
const EVENTS_MAX = 5_000;
/** Time for which finished commands, and replicas that ended without a word, are kept. */
const KEPT_MS = 3_600_000;

export interface SharedDataParts {
  readonly db: Kysely<PostgresTables>;
  readonly location: string;
  readonly schema: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Names this process, in the history. */
  readonly actor: string;
  /** Called for each loss of records that a read finds, once it is recorded. */
  readonly onLoss: (what: string) => void;
}

/**
 * Identifies the server that answers. After a failover, it is another one, which may lack the last transactions and have made as many
 * others since: serials and sequences alone do not show that. The time zone of a session has no part in it.
 */
const server = sql<string>`extract(epoch from pg_postmaster_start_time())::text`;

export interface Heartbeat {
  readonly holder: string;
  readonly report: ReplicaReport;
  readonly isDraining: boolean;
  readonly leaseMs: number;
}

/**
 * The data that replicas share beside the records. Each method is one statement, which takes place as a whole or not at all, and may
 * be repeated: a repetition after a lost answer changes nothing.
 */
export class SharedData {
  readonly parts: SharedDataParts;
  readonly events: SharedEvents;
  readonly sessions: SharedSessions;
  readonly losses: LossWatch;
  /** The server from which facts were last read. */
  factsServer: string | undefined;

  constructor(parts: SharedDataParts) {
    this.parts = parts;
    this.losses = new LossWatch(parts, parts.onLoss);
    this.events = {
      append: (events) => this.#append(events),
      since: (sequence, limit) => this.#eventsSince(sequence, limit),
    };
    this.sessions = {
      start: (hash, user) => this.#startSession(hash, user),
      find: async (hash) => (await this.#sessions(sql`where hash = ${hash}`))[0],
      all: () => this.#sessions(sql``),
      use: async (hashes) => {
        await this.run(
          sql`update ${this.table('session')} set used_ms = greatest(used_ms, ${databaseNow}) where hash = any(${hashes}::text[])`,
        );
      },
      end: async (hashes) => {
        await this.run(sql`delete from ${this.table('session')} using ${durably} where hash = any(${hashes}::text[])`);
      },
    };
  }

  table(name: string): RawBuilder<unknown> {
    return sql.id(this.parts.schema, name);
  }

  /** Repeats work while the database is busy or out of reach, for about 5 s. */
  async patiently<Result>(work: (db: Kysely<PostgresTables>) => Promise<Result>): Promise<Result> {
    const { db, clock, location } = this.parts;
    try {
      return await whileBusy(() => work(db), postgresFault, clock);
    } catch (error) {
      throw explainPostgres(error, location);
    }
  }

  async run<Row>(statement: RawBuilder<Row>): Promise<readonly Row[]> {
    return this.patiently(async (db) => (await statement.execute(db)).rows);
  }

  /**
   * Stores a heartbeat, and returns the live replicas. Removes what is kept no longer: of two replicas that would remove the heartbeats
   * of each other, none waits.
   */
  async beat(control: Kysely<PostgresTables>, { holder, report, isDraining, leaseMs }: Heartbeat) {
    const { name, version, address, startedMs, facts } = report;
    const replica = this.table('replica');
    const values = sql`${name}, ${version}, ${address}, ${startedMs}::bigint, ${JSON.stringify(facts)}, ${Number(isDraining)}::bigint, ${databaseNow}`;
    const columns = sql`name, version, address, started_ms, facts, draining, seen_ms`;
    const { rows } = await sql<ReplicaRow>`
      with own as (
        insert into ${replica} (holder, ${columns}) values (${holder}, ${values})
        on conflict (holder) do update set (${columns}) = row(${values}) returning *),
      old as (
        select holder from ${replica}
        where holder <> ${holder} and (seen_ms < ${databaseNow} - ${KEPT_MS}::bigint or not ${isPastHeartbeat})
        for update skip locked),
      gone as (delete from ${replica} where holder in (select holder from old)),
      done as (delete from ${this.table('command')} where result is not null and finished_ms < ${databaseNow} - ${KEPT_MS}::bigint)
      select holder, name, version, address, started_ms, facts, draining, ${databaseNow} - seen_ms as ago_ms from ${replica}
        where holder <> ${holder} and seen_ms > ${databaseNow} - ${leaseMs}::bigint and ${isPastHeartbeat}
      union all select holder, name, version, address, started_ms, facts, draining, 0 from own
      order by name, started_ms`.execute(control);
    return rows.map(replicaOf);
  }

  /** The row of the counter is locked until the events are visible, so that no reader sees later ones before them. */
  async #append(events: readonly Json[]): Promise<void> {
    if (events.length === 0) return;
    const batch = this.parts.random.hex(16);
    const texts = events.map((event) => JSON.stringify(event));
    try {
      await this.run(sql`
        with last as (
          update ${this.table('meta')} set v = (v::bigint + ${texts.length}::bigint)::text where k = 'event'
          returning v::bigint as sequence),
        gone as (
          delete from ${this.table('event')} where sequence <= (select sequence from last) - ${EVENTS_MAX}::bigint)
        insert into ${this.table('event')} (sequence, event, batch)
        select last.sequence - ${texts.length}::bigint + one.place, one.text, case one.place when 1 then ${batch} end
        from last, unnest(${texts}::text[]) with ordinality as one(text, place), ${durably}`);
    } catch (error) {
      // An attempt without an answer took place.
      if (postgresFault(error) !== 'unique') throw error;
    }
  }

  async #eventsSince(sequence: number, limit: number): Promise<EventsSince> {
    const rows = await this.run(sql<{ server: string; sequence: number | null; event: string }>`
      select s.server, e.sequence, e.event from (select ${server} as server) s
      left join (select sequence, event from ${this.table('event')} where sequence > ${sequence}::bigint
        order by sequence limit ${limit}::bigint) e on true
      order by e.sequence`);
    const events = rows.flatMap(({ sequence: number, event }) =>
      number === null ? [] : [{ sequence: number, event: JSON.parse(event) as Json }],
    );
    return { server: rows[0]?.server ?? '', events };
  }

  async #startSession(hash: string, user: Json): Promise<void> {
    await this.run(sql`
      insert into ${this.table('session')} (hash, account, started_ms, used_ms)
      select ${hash}, ${JSON.stringify(user)}, ${databaseNow}, ${databaseNow} from ${durably}
      on conflict (hash) do nothing`);
  }

  async #sessions(condition: RawBuilder<unknown>): Promise<readonly StoredSession[]> {
    const rows = await this.run(sql<{ hash: string; account: string; started: number; used: number }>`
      select hash, account, ${databaseNow} - started_ms as started, ${databaseNow} - used_ms as used
      from ${this.table('session')} ${condition} order by used_ms, hash`);
    return rows.map(({ hash, account, started, used }) => {
      return { hash, user: JSON.parse(account) as Json, startedAgoMs: started, usedAgoMs: used };
    });
  }
}

interface ReplicaRow {
  readonly holder: string;
  readonly name: string;
  readonly version: string;
  readonly address: string | null;
  readonly started_ms: number;
  readonly facts: string;
  readonly draining: number;
  readonly ago_ms: number;
}

function replicaOf({ facts, started_ms: startedMs, draining, ago_ms: agoMs, ...row }: ReplicaRow): LiveReplica {
  const { holder, name, version, address } = row;
  const { source } = readHolder(holder);
  const isDraining = Number(draining) === 1;
  const seenAgoMs = Number(agoMs);
  return { holder, name, version, address, startedMs, facts: JSON.parse(facts) as Json, seenAgoMs, isDraining, source };
}

/**
 * Reads facts by the serial that a trigger gives them. The serial is locked until its transaction is visible, so one statement sees
 * all facts up to the serial that it reads. The leases come with them, so that a process that knows a serial knows its writer, too.
 */
export async function changedFacts(
  data: SharedData,
  since: number,
  prefixes: readonly string[],
): Promise<ChangedFacts> {
  const statement = sql<FactRow>`
    select ${server} as server, m.v::bigint as newest, f.* from ${data.table('meta')} m
    left join (
      select key, value, null::bigint as epoch, null::bigint as serial from ${data.table('fact')}
        where serial > ${since === 0 ? -1 : since}::bigint
          and exists (select 1 from unnest(${prefixes}::text[]) as p(prefix) where starts_with(key, p.prefix))
      union all select scope, holder, epoch, serial from ${data.table('lease')}) f on true
    where m.k = 'serial' order by f.key`;
  const rows = await data.losses.during(() => data.run(statement), knownIn);
  const { server: answering = '', newest = 0 } = rows[0] ?? {};
  const isOther = newest < since || answering !== (data.factsServer ?? answering);
  if (isOther && since > 0) return { ...(await changedFacts(data, 0, prefixes)), isAnew: true };
  data.factsServer = answering;
  const facts = new Map(rows.flatMap((row) => (isFact(row) ? [[row.key, row.value] as const] : [])));
  return { serial: newest, facts, isAnew: isOther };
}

/** A fact, or a lease: its scope and holder with its epoch. */
interface FactRow {
  readonly server: string;
  readonly newest: number;
  readonly key: string | null;
  readonly value: string;
  readonly epoch: number | null;
  readonly serial: number;
}

function isFact(row: FactRow): row is FactRow & { readonly key: string } {
  return row.key !== null && row.epoch === null;
}

function knownIn(rows: readonly FactRow[]): Known {
  const leases = rows.flatMap(({ key, value, epoch, serial }) =>
    key === null || epoch === null ? [] : [{ scope: key, holder: value, epoch, serial }],
  );
  return { serial: rows[0]?.newest ?? 0, leases };
}
