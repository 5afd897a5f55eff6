import { type Kysely, sql } from 'kysely';
import { pendingStates } from './rules.ts';
import type { LedgerTables } from './schema.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { EpochMs } from '../model/time.ts';

/** Says which rows compaction removes. It never removes pending intents, objects and facts. */
export interface CompactionPolicy {
  readonly nowMs: EpochMs;
  /** For the history row that says what was removed. */
  readonly actor: string;
  /** History and decided intents younger than this stay. Default 90 days. Intents stay at least 30 days. */
  readonly keepMs?: number | undefined;
  /** Number of history rows that stay for each object, the newest ones, however old. Default 50. */
  readonly keepPerObject?: number | undefined;
}

/** Numbers of rows that compaction removed. */
export interface CompactionReport {
  readonly history: number;
  readonly intents: number;
  readonly snapshots: number;
}

const dayMs = 86_400_000;
const intentKeepMs = 30 * dayMs;
/** Rows removed in one transaction, so that other transactions do not wait long. */
const compactionBatch = 500;
/** The event of the history row that stands for removed ones; such rows are never removed themselves. */
export const compactedEvent = 'ledger.compacted';

/** A line about to be removed. */
export interface RemovableLine {
  readonly scope: ScopeKey;
  readonly line: number;
  readonly prev_hash: string;
  readonly hash: string;
}

/** Neighbouring lines that were removed. The chain continues after them as if they were there. */
export interface RemovedRange {
  readonly from: number;
  readonly to: number;
  /** Hash of the line before the first one. */
  readonly previousHash: string;
  /** Hash of the last one. */
  readonly hash: string;
}

/** Joins neighbouring lines; `lines` are of one scope, in order. */
export function removedRanges(lines: readonly RemovableLine[]): readonly RemovedRange[] {
  const ranges: RemovedRange[] = [];
  for (const { line, prev_hash: previousHash, hash } of lines) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to + 1 === line) ranges[ranges.length - 1] = { ...last, to: line, hash };
    else ranges.push({ from: line, to: line, previousHash, hash });
  }
  return ranges;
}

/** The detail of a `ledger.compacted` row. */
export function compactedDetail(ranges: readonly RemovedRange[]): Json {
  return { ranges: ranges.map(({ from, to, previousHash, hash }) => [from, to, previousHash, hash]) };
}

/** The ranges in such a detail; none where it has another shape. */
export function rangesIn(detail: Json): readonly RemovedRange[] {
  const ranges = typeof detail === 'object' && detail !== null && 'ranges' in detail ? detail.ranges : undefined;
  if (!Array.isArray(ranges)) return [];
  return ranges.flatMap((range: Json) => {
    if (!Array.isArray(range)) return [];
    const [from, to, previousHash, hash] = range as readonly Json[];
    const whole = typeof from === 'number' && typeof to === 'number' && to >= from;
    return whole && typeof previousHash === 'string' && typeof hash === 'string'
      ? [{ from, to, previousHash, hash }]
      : [];
  });
}

/** Batches of history lines that the policy gives up, each of one scope and in order. Reads the whole history once. */
export async function removableBatches(
  db: Kysely<LedgerTables>,
  policy: CompactionPolicy,
): Promise<readonly (readonly RemovableLine[])[]> {
  const ranked = db
    .selectFrom('history')
    .select(['scope', 'line', 'prev_hash', 'hash', 'at_ms', 'event', 'uid'])
    .select(sql<number>`row_number() over (partition by uid order by serial desc, line desc)`.as('place'))
    .as('ranked');
  const lines = await db
    .selectFrom(ranked)
    .select(['scope', 'line', 'prev_hash', 'hash'])
    .where('at_ms', '<', policy.nowMs - (policy.keepMs ?? 90 * dayMs))
    .where('event', '<>', compactedEvent)
    .where((where) => where.or([where('uid', 'is', null), where('place', '>', policy.keepPerObject ?? 50)]))
    .orderBy('scope')
    .orderBy('line')
    .execute();
  const byScope = Map.groupBy(lines, ({ scope }) => scope);
  return [...byScope.values()].flatMap((ofScope) =>
    Array.from({ length: Math.ceil(ofScope.length / compactionBatch) }, (_, n) =>
      ofScope.slice(n * compactionBatch, (n + 1) * compactionBatch),
    ),
  );
}

/** Lines of a scope that seal objects, in order. */
export async function sealingLines(
  db: Kysely<LedgerTables>,
  scope: ScopeKey,
): Promise<readonly Pick<LedgerTables['history'], 'line' | 'objects'>[]> {
  const query = db.selectFrom('history').select(['line', 'objects']).where('scope', '=', scope);
  return query.where('objects', 'is not', null).orderBy('line').execute();
}

/** Removes one batch of lines, all of one scope. */
export async function removeLines(
  db: Kysely<LedgerTables>,
  scope: ScopeKey,
  ranges: readonly RemovedRange[],
): Promise<void> {
  for (const { from, to } of ranges) {
    await db
      .deleteFrom('history')
      .where('scope', '=', scope)
      .where('line', '>=', from)
      .where('line', '<=', to)
      .execute();
  }
}

/** Removes decided intents and superseded snapshots that are older than the policy keeps. */
export async function removeDecided(
  db: Kysely<LedgerTables>,
  policy: CompactionPolicy,
): Promise<Omit<CompactionReport, 'history'>> {
  const keepMs = policy.keepMs ?? 90 * dayMs;
  const intents = await db
    .deleteFrom('intent')
    .where('state', 'not in', pendingStates)
    .where('created_ms', '<', policy.nowMs - Math.max(keepMs, intentKeepMs))
    .executeTakeFirst();
  const newest = db
    .selectFrom('snapshot as newer')
    .select((q) => q.fn.max('newer.serial').as('serial'))
    .groupBy('newer.source');
  const snapshots = await db
    .deleteFrom('snapshot')
    .where('accepted_ms', '<', policy.nowMs - keepMs)
    .where('serial', 'not in', newest)
    .where('id', 'not in', db.selectFrom('object').select('object.last_snapshot'))
    .executeTakeFirst();
  return { intents: Number(intents.numDeletedRows), snapshots: Number(snapshots.numDeletedRows) };
}
