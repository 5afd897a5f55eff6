import type { Kysely } from 'kysely';
import type { HistoryFilter, IntentFilter, ObjectFilter } from './ledger.ts';
import { historyOf, intentOf, type LedgerTables, objectOf, snapshotOf } from './schema.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { HistoryRow, Intent, OwnedObject, Snapshot } from '../model/owned.ts';

/** The contract's reads, over any database that Kysely speaks to. */

/** Ordered by uid. */
export async function selectObjects(db: Kysely<LedgerTables>, filter: ObjectFilter): Promise<readonly OwnedObject[]> {
  let query = db.selectFrom('object').selectAll();
  if (filter.uid !== undefined) query = query.where('uid', '=', filter.uid);
  if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  return (await query.orderBy('uid').execute()).map(objectOf);
}

/** Oldest first. */
export async function selectIntents(db: Kysely<LedgerTables>, filter: IntentFilter): Promise<readonly Intent[]> {
  if (filter.states?.length === 0) return [];
  let query = db.selectFrom('intent').selectAll();
  if (filter.id !== undefined) query = query.where('id', '=', filter.id);
  if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
  if (filter.states !== undefined) query = query.where('state', 'in', filter.states);
  return (await query.orderBy('serial').orderBy('id').execute()).map(intentOf);
}

/** Newest first. A transaction belongs to one scope, so serial and line order the lines of all scopes. */
export async function selectHistory(db: Kysely<LedgerTables>, filter: HistoryFilter): Promise<readonly HistoryRow[]> {
  let query = db.selectFrom('history').selectAll();
  if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
  if (filter.uid !== undefined) query = query.where('uid', '=', filter.uid);
  query = query.orderBy('serial', 'desc').orderBy('line', 'desc');
  if (Number.isFinite(filter.limit)) query = query.limit(filter.limit);
  return (await query.execute()).map(historyOf);
}

/** In order of their text. */
export async function selectScopes(db: Kysely<LedgerTables>): Promise<readonly ScopeKey[]> {
  const query = db
    .selectFrom('object')
    .select('scope')
    .union(db.selectFrom('intent').select('scope'))
    .union(db.selectFrom('chain').select('scope'));
  return (await query.orderBy('scope').execute()).map(({ scope }) => scope);
}

export async function selectFact(db: Kysely<LedgerTables>, key: string): Promise<string | undefined> {
  return (await db.selectFrom('fact').select('value').where('key', '=', key).executeTakeFirst())?.value;
}

/** By the order of acceptance, whatever the clock said. */
export async function selectLastSnapshot(db: Kysely<LedgerTables>, source: string): Promise<Snapshot | undefined> {
  const query = db.selectFrom('snapshot').selectAll().where('source', '=', source);
  const row = await query.orderBy('serial', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : snapshotOf(row);
}
