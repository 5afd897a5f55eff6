import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../model/errors.ts';
import { makeTcpRule } from './rule-rows.ts';
import { type CertificateRow, portKey, SandboxState, type StoreRow, storeKey } from './state.ts';
import type { Change } from './table.ts';

const FORMAT = 1;

/** The store of the state. `save` returns when the changes survive a crash of the process and of the machine. */
export interface Keeper {
  readonly state: SandboxState;
  save(changes: readonly Change[]): void;
  close(): void;
}

/** Keeps nothing: the state ends with the process. */
export function keepInMemory(state: SandboxState): Keeper {
  return { state, save() {}, close() {} };
}

/**
 * Keeps the state in `<dataDir>/sandbox.db`, a row per entity, so that a write costs what it changed. A directory that
 * has none yet starts with `first()`; one that has ignores it.
 * @throws PortolanError `locked` when another process has it open, `give-up` when it cannot be read.
 */
export function keepInDirectory(dataDir: string, first: () => SandboxState): Keeper {
  const file = join(dataDir, 'sandbox.db');
  try {
    mkdirSync(dataDir, { recursive: true });
    const database = new DatabaseSync(file, { timeout: 1000 });
    try {
      return keeperOf(database, first);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw openingError(file, error);
  }
}

function keeperOf(database: DatabaseSync, first: () => SandboxState): Keeper {
  // Exclusive: a second process on the same directory fails at once instead of overwriting what this one knows.
  database.exec(
    'pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full; begin immediate',
  );
  const format = Number(database.prepare('pragma user_version').get()?.['user_version'] ?? 0);
  if (format > FORMAT) {
    throw new PortolanError({
      code: 'sandbox/data-too-new',
      disposition: 'give-up',
      message: `the sandbox data has format ${format}, and this version knows formats up to ${FORMAT}; nothing was changed`,
      remedy: 'Use the version that wrote it, or another data directory.',
    });
  }
  const state = format === 0 ? create(database, first()) : load(database);
  const put = database.prepare(
    'insert into entity (kind, key, json) values (?, ?, ?) on conflict (kind, key) do update set json = excluded.json',
  );
  const remove = database.prepare('delete from entity where kind = ? and key = ?');
  for (const { table, key, after } of state.takeChanges()) put.run(table, key, JSON.stringify(after));
  database.exec('commit');
  return {
    state,
    save(changes) {
      database.exec('begin immediate');
      try {
        for (const { table, key, after } of changes) {
          if (after === undefined) remove.run(table, key);
          else put.run(table, key, JSON.stringify(after));
        }
        database.exec('commit');
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
    close: () => database.close(),
  };
}

function create(database: DatabaseSync, state: SandboxState): SandboxState {
  database.exec(
    'create table entity (kind text not null, key text not null, json text not null, primary key (kind, key))',
  );
  const insert = database.prepare('insert into entity (kind, key, json) values (?, ?, ?)');
  for (const [kind, rows] of Object.entries(state.dump())) {
    const keys = [...(state.tableNamed(kind)?.rows().keys() ?? [])];
    for (const [index, row] of rows.entries()) insert.run(kind, keys[index] ?? '', JSON.stringify(row));
  }
  database.exec(`pragma user_version = ${FORMAT}`);
  return state;
}

function load(database: DatabaseSync): SandboxState {
  const state = new SandboxState();
  // An update keeps its rowid, so this is the order of insertion, which listings show.
  for (const { kind, key, json } of database.prepare('select kind, key, json from entity order by rowid').iterate()) {
    state.tableNamed(String(kind))?.restore(String(key), JSON.parse(String(json)) as object);
  }
  complete(state);
  return state;
}

/** Adds what versions before the second recording did not keep, as they behaved. */
function complete(state: SandboxState): void {
  for (const row of state.stores.all()) {
    if ((row as Partial<StoreRow>).answers === undefined) state.stores.put({ ...row, answers: 'keys' });
  }
  for (const row of state.certificates.all()) {
    const { issuedTo, expiresMs } = row as Partial<CertificateRow>;
    if (issuedTo !== undefined && expiresMs !== undefined) continue;
    state.certificates.put({ ...row, issuedTo: [row.alias], expiresMs: Date.UTC(2099, 0, 1) });
  }
  for (const { storeUrl, storeDomain } of state.installs.all()) {
    const key = storeKey(storeUrl, storeDomain);
    const store = state.stores.get(key);
    if (store === undefined || state.markets.get(key) !== undefined) continue;
    const { marketName: name, keyHashes } = store;
    state.markets.put({ url: storeUrl, domain: storeDomain, name, keyHash: keyHashes[0] ?? null });
  }
  for (const port of state.ports.all()) {
    if (!port.outer || port.protocol === 'http') continue;
    if (state.tcpRules.in('port', portKey(port.serviceId, port.port)).length > 0) continue;
    const newId = (): string => `5eed7c${String(state.tcpRules.size + 1).padStart(26, '0')}`;
    state.tcpRules.put(makeTcpRule(state, newId, port));
  }
}

function openingError(file: string, cause: unknown): PortolanError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (/locked|busy/i.test(reason)) {
    return new PortolanError({
      code: 'sandbox/data-locked',
      disposition: 'locked',
      message: `${file} is in use by another process; the sandbox was not started`,
      remedy: 'Stop the other sandbox, or give this one another data directory.',
      cause,
    });
  }
  return new PortolanError({
    code: 'sandbox/data-unreadable',
    disposition: 'give-up',
    message: `${file} cannot be opened (${reason}); the sandbox was not started`,
    remedy: 'Check the directory and its permissions, or remove the file to start with an empty state.',
    cause,
  });
}
