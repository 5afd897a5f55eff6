import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { HistoryRow } from '../model/owned.ts';
import { type HistoryFilter, type Ledger, SCOPES_MAX } from './ledger.ts';

/** Rows that are read at once. */
const PAGE = 1_000;

/** Options of a reading of rows. */
interface Reading {
  /** Only rows with a lower serial. */
  readonly beforeSerial?: number | undefined;
  /** Lets other work run between two pages: a ledger in a file answers without a pause, and may have very many rows. */
  readonly pause?: () => Promise<void>;
}

/** Yields the rows of a scope, or of all, newest first. */
export async function* historyRows(
  ledger: Ledger,
  scope: ScopeKey | undefined,
  { beforeSerial: before, pause }: Reading = {},
): AsyncGenerator<HistoryRow> {
  let beforeSerial = before;
  for (let limit = PAGE; ; ) {
    const rows = await ledger.history({ scope, limit, beforeSerial });
    const last = rows.at(-1);
    if (rows.length < limit || last === undefined) {
      yield* rows;
      return;
    }
    // The rows of one transaction have one serial, and the page may end among them.
    const whole = rows.filter(({ serial }) => serial !== last.serial);
    // All of them are of one transaction, which has more.
    limit = whole.length === 0 ? limit * 2 : PAGE;
    yield* whole;
    await pause?.();
    if (whole.length > 0) beforeSerial = last.serial + 1;
  }
}

/** Selects the rows of one resource. */
export interface ResourceRows extends Reading {
  readonly scope: ScopeKey;
  readonly resource: ResourceId;
  readonly limit: number;
}

/** Rows that may separate a request from its outcome. */
const LOOKAHEAD = 500;

/**
 * Yields the rows of one resource, newest first, back to its creation or adoption: its requests with their outcomes, drift,
 * and manual decisions.
 */
export async function* historyRowsOf(
  ledger: Ledger,
  { scope, resource, limit, ...reading }: ResourceRows,
): AsyncGenerator<HistoryRow> {
  const objects = await ledger.objects({ scope });
  const uids = new Set(objects.flatMap((object) => (object.resource === resource ? [object.uid] : [])));
  // The outcome of a request names only its intent, and is newer than the request.
  const intents = new Set<string>();
  const isOf = (row: HistoryRow): boolean => {
    const { intent } = objectOf(row.detail);
    return isAbout(row, resource, uids) || (typeof intent === 'string' && intents.has(intent));
  };
  const ahead: HistoryRow[] = [];
  let left = limit;
  for await (const row of historyRows(ledger, scope, reading)) {
    const { intent } = objectOf(row.detail);
    if (row.event === 'intent' && typeof intent === 'string' && isAbout(row, resource, uids)) intents.add(intent);
    ahead.push(row);
    if (ahead.length <= LOOKAHEAD) continue;
    const next = ahead.shift() as HistoryRow;
    if (!isOf(next)) continue;
    yield next;
    left -= 1;
    if (left <= 0) return;
  }
  for (const row of ahead) {
    if (!isOf(row)) continue;
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

function isAbout({ detail: json, uid }: HistoryRow, resource: ResourceId, uids: ReadonlySet<string>): boolean {
  const detail = objectOf(json);
  return detail['resource'] === resource || objectOf(detail['write'])['resource'] === resource || uids.has(uid ?? '');
}

function objectOf(json: Json | undefined): JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonObject) : {};
}

/** Returns rows of the scopes that `isWanted` accepts, newest first. Reads the rows of others only if the scopes are many. */
export async function historyWithin(
  ledger: Ledger,
  isWanted: (scope: ScopeKey) => boolean,
  { limit, beforeSerial, pause }: Pick<HistoryFilter, 'limit' | 'beforeSerial'> & Required<Pick<Reading, 'pause'>>,
): Promise<readonly HistoryRow[]> {
  const scopes = (await ledger.scopes()).filter(isWanted);
  if (scopes.length === 0) return [];
  if (scopes.length <= SCOPES_MAX) return ledger.history({ scopes, limit, beforeSerial });
  const found: HistoryRow[] = [];
  for await (const row of historyRows(ledger, undefined, { beforeSerial, pause })) {
    if (found.length >= limit) break;
    if (isWanted(row.scope)) found.push(row);
  }
  return found;
}
