import { type Kysely, sql } from 'kysely';
import { missing, newer } from '../errors.ts';
import { readHolder } from '../lease-holder.ts';
import { migrations, newestSchema } from '../migrations.ts';
import type { Retirement } from '../retirement.ts';
import { configuredBy } from '../../model/configured-units.ts';
import type { Json } from '../../model/json.ts';
import type { ReplicaGroup, ReplicaState, UnitState } from '../../model/replicas.ts';
import { explainPostgres } from './faults.ts';
import { LEASE_MS } from './lease.ts';
import { databaseOf } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { databaseNow, isPastHeartbeat, type PostgresTables, readPostgresStanding, WHOLE_LEDGER } from './tables.ts';

export interface ReadGroup {
  readonly group: ReplicaGroup;
  /** The process that has the whole ledger, such as `portolan apply by ann on host-1`; undefined: none. */
  readonly holder: string | undefined;
  /** The ledger was copied, and no replica leads anything in it any more; undefined: it was not. */
  readonly retired: Retirement | undefined;
}

/**
 * Reads replicas and leaders without becoming a replica, for people when no controller answers. All replicas of the last hour are
 * returned, also those that gave no sign since.
 * @throws PortolanError as a ledger that is opened for reading.
 */
export async function readReplicaGroup(access: PostgresAccess): Promise<ReadGroup> {
  const { location, schema } = access.address;
  const db = await databaseOf(access, { connections: 1 });
  try {
    const standing = await readPostgresStanding(db, schema);
    if (standing === undefined) throw missing(location);
    const known = newestSchema(migrations);
    if (standing.schema > known) throw newer(location, standing.schema, known);
    const leases = await readLeases(db);
    const { nowMs, replicas, isConfigured } = await readReplicas(db, schema, leases);
    const units = leases
      .filter(({ scope }) => scope !== WHOLE_LEDGER)
      .map((lease) => ({ ...unitOf(lease), isConfigured: isConfigured(lease.scope) }));
    const whole = leases.find(({ scope, left_ms: leftMs }) => scope === WHOLE_LEDGER && leftMs > 0);
    const group = { isShared: true, asOfMs: nowMs, isCurrent: true, replicas, units };
    return { group, holder: whole?.actor, retired: standing.retired };
  } catch (error) {
    throw explainPostgres(error, location);
  } finally {
    await db.destroy();
  }
}

interface LeaseRow {
  readonly scope: string;
  readonly holder: string;
  readonly actor: string;
  readonly epoch: number;
  readonly since_ms: number;
  readonly left_ms: number;
}

async function readLeases(db: Kysely<PostgresTables>): Promise<readonly LeaseRow[]> {
  return db
    .selectFrom('lease')
    .select(['scope', 'holder', 'actor', 'epoch', 'since_ms'])
    .select(sql<number>`expires_ms - ${databaseNow}`.as('left_ms'))
    .orderBy('scope')
    .execute();
}

function unitOf({
  scope,
  holder,
  actor,
  epoch,
  since_ms: sinceMs,
  left_ms: leftMs,
}: LeaseRow): Omit<UnitState, 'isConfigured'> {
  const at = scope.indexOf(':');
  const isLed = leftMs > 0;
  return {
    unit: scope,
    type: scope.slice(0, at) === 'source' ? 'source' : 'platform',
    name: scope.slice(at + 1),
    leader: isLed ? (readHolder(holder).replica ?? actor) : null,
    epoch,
    sinceMs,
    leaseLeftMs: isLed ? leftMs : null,
  };
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

async function readReplicas(db: Kysely<PostgresTables>, schema: string, leases: readonly LeaseRow[]) {
  const { rows: times } = await sql<{ now_ms: number; found: boolean }>`
    select ${databaseNow} as now_ms, to_regclass(${`${schema}.replica`}) is not null as found`.execute(db);
  const nowMs = times[0]?.now_ms ?? 0;
  // A ledger of an older schema was never shared.
  if (!isTrue(times[0]?.found)) return { nowMs, replicas: [], isConfigured: configuredBy([]) };
  const { rows } = await sql<ReplicaRow>`
    select holder, name, version, address, started_ms, facts, draining, greatest(0, ${databaseNow} - seen_ms) as ago_ms
    from ${sql.id(schema, 'replica')} where ${isPastHeartbeat} order by name, started_ms`.execute(db);
  const replicas = rows.map(
    ({ holder, name, version, address, started_ms: startedMs, draining, ago_ms: seenAgoMs }): ReplicaState => {
      // By the process: one that was restarted has the name of a former one.
      const leads = leases.filter((lease) => lease.holder === holder && lease.left_ms > 0).length;
      return { name, version, address, startedMs, seenAgoMs, isDraining: draining === 1, isSelf: false, leads };
    },
  );
  const live = rows.filter(({ ago_ms: agoMs }) => agoMs < LEASE_MS);
  return { nowMs, replicas, isConfigured: configuredBy(live.map(({ facts }) => JSON.parse(facts) as Json)) };
}

/** The pool reads a boolean as text. */
function isTrue(value: unknown): boolean {
  return value === true || value === 't';
}
