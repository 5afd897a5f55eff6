import type { CompiledQuery, Kysely } from 'kysely';
import type { HistoryFilter, IntentFilter, ObjectFilter } from './ledger.ts';
import { inventoryEvent } from './inventory.ts';
import { prepare } from './queries.ts';
import { formerUid } from '../kinds/http-gateway-rule/former-keys.ts';
import { historyOf, intentOf, type LedgerTables, objectOf, snapshotOf } from './schema.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { HistoryRow, Intent, OwnedObject, Snapshot } from '../model/owned.ts';

/** The contract's reads, over any database that Kysely speaks to. Those of every pass are built and compiled once. */

type Query = ReturnType<typeof prepare>;

const compiled = new WeakMap<Kysely<LedgerTables>, Map<string, Query>>();

/** @param shape names what the filter asks for: filters of one shape differ in values only, for which there are holes. */
async function rowsOf<Values extends object, Row>(
  db: Kysely<LedgerTables>,
  shape: string,
  values: Values,
  build: (holes: Values) => { compile(): CompiledQuery<Row> },
): Promise<readonly Row[]> {
  let queries = compiled.get(db);
  if (queries === undefined) compiled.set(db, (queries = new Map<string, Query>()));
  let query = queries.get(shape);
  if (query === undefined) queries.set(shape, (query = prepare<Values, Row>(build) as Query));
  return (await query(db, values)).rows as readonly Row[];
}

function has(...values: readonly unknown[]): string {
  return values.map((value) => (value === undefined ? '-' : '+')).join('');
}

/** Ordered by uid. */
export async function selectObjects(db: Kysely<LedgerTables>, filter: ObjectFilter): Promise<readonly OwnedObject[]> {
  const shape = `objects ${has(filter.uid, filter.scope, filter.source)}`;
  const rows = await rowsOf(db, shape, filter, (holes) => {
    let query = db.selectFrom('object').selectAll();
    if (filter.uid !== undefined) query = query.where('uid', '=', holes.uid as string);
    if (filter.scope !== undefined) query = query.where('scope', '=', holes.scope as string);
    if (filter.source !== undefined) query = query.where('source', '=', holes.source as string);
    return query.orderBy('uid');
  });
  return rows.map(objectOf);
}

/** Counts objects that are not gone. */
export async function countObjects(db: Kysely<LedgerTables>, filter: Pick<ObjectFilter, 'source'>): Promise<number> {
  const [row] = await rowsOf(db, `count ${has(filter.source)}`, filter, (holes) => {
    const query = db.selectFrom('object').select(({ fn }) => fn.countAll<number>().as('count'));
    const there = query.where('state', '<>', 'gone');
    return filter.source === undefined ? there : there.where('source', '=', holes.source as string);
  });
  return Number(row?.count);
}

/** Scopes with objects of a source that are not gone. */
export async function selectOwnedScopes(db: Kysely<LedgerTables>, source: string): Promise<readonly ScopeKey[]> {
  const rows = await rowsOf(db, 'owned scopes', { source }, (holes) =>
    db.selectFrom('object').select('scope').distinct().where('source', '=', holes.source).where('state', '<>', 'gone'),
  );
  return rows.map(({ scope }) => scope as ScopeKey);
}

/** Oldest first. */
export async function selectIntents(db: Kysely<LedgerTables>, filter: IntentFilter): Promise<readonly Intent[]> {
  const { states } = filter;
  if (states?.length === 0) return [];
  const shape = `intents ${has(filter.id, filter.scope)} ${states?.join() ?? ''}`;
  const rows = await rowsOf(db, shape, filter, (holes) => {
    let query = db.selectFrom('intent').selectAll();
    if (filter.id !== undefined) query = query.where('id', '=', holes.id as string);
    if (filter.scope !== undefined) query = query.where('scope', '=', holes.scope as string);
    if (states !== undefined) query = query.where('state', 'in', states);
    return query.orderBy('serial').orderBy('id');
  });
  return rows.map(intentOf);
}

/** Newest first. A transaction belongs to one scope, so serial and line order the lines of all scopes. */
export async function selectHistory(db: Kysely<LedgerTables>, filter: HistoryFilter): Promise<readonly HistoryRow[]> {
  let query = db.selectFrom('history').selectAll().where('event', '<>', inventoryEvent);
  if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
  if (filter.scopes !== undefined) query = query.where('scope', 'in', filter.scopes);
  const { uid } = filter;
  if (uid !== undefined) query = query.where('uid', 'in', [uid, formerUid(uid) ?? uid]);
  if (filter.beforeSerial !== undefined) query = query.where('serial', '<', filter.beforeSerial);
  // The lines of one scope are in the order of their serials, and its index has them in this order: nothing is sorted.
  if (filter.scope === undefined) query = query.orderBy('serial', 'desc');
  query = query.orderBy('line', 'desc');
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
  const [row] = await rowsOf(db, 'fact', { key }, (holes) =>
    db.selectFrom('fact').select('value').where('key', '=', holes.key),
  );
  return row?.value;
}

/** By the order of acceptance, whatever the clock said. */
export async function selectLastSnapshot(db: Kysely<LedgerTables>, source: string): Promise<Snapshot | undefined> {
  const query = db.selectFrom('snapshot').selectAll().where('source', '=', source);
  const row = await query.orderBy('serial', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : snapshotOf(row);
}
