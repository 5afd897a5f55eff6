import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import type { PostgresAccess } from '../../src/ledger/postgres/pool.ts';
import { postgresUrl, PostgresServer, queryPostgres } from './postgres.ts';

/** The PostgreSQL that all tests of a run share: each ledger has a schema of its own. */

let schemas = 0;

/** Returns the name of a schema that no other test uses. */
export function freshSchema(): string {
  return `test_${process.pid}_${++schemas}`;
}

/** Returns the port of the shared server, which the first caller of all test processes starts. */
export async function sharedPort(): Promise<number> {
  const folder = inject('postgres');
  const ready = join(folder, 'port');
  if (existsSync(ready)) return Number(readFileSync(ready, 'utf8'));
  if (isFirst(join(folder, 'starting'))) {
    const server = await PostgresServer.create({ detached: true }, folder);
    writeFileSync(`${ready}.partial`, String(server.port));
    renameSync(`${ready}.partial`, ready);
  }
  while (!existsSync(ready)) await sleep(20);
  return Number(readFileSync(ready, 'utf8'));
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Returns the URL of a ledger in a schema of the shared server. */
export async function sharedUrl(schema = freshSchema()): Promise<string> {
  return postgresUrl(await sharedPort(), schema);
}

/** Runs statements on the shared server, with all privileges. */
export async function querySharedServer(text: string): Promise<readonly Record<string, unknown>[]> {
  return queryPostgres(await sharedPort(), text);
}

/** Access to a server that trusts everybody. */
export function trusting(url: string): PostgresAccess {
  return {
    address: parseAddress(url),
    password: () => undefined,
    certificates: () => ({ root: undefined, client: undefined, key: undefined }),
  };
}
