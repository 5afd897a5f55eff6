import type { ControllerApi } from '../controller/api.ts';
import type { Page } from '../model/page.ts';
import { type RequestProblem, refusal } from './problem.ts';

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 1_000;

/**
 * Returns a page of items, sorted by `keyOf` in code units.
 * @param items have unique keys.
 * @param list the name of the list, so that a cursor of another list is refused.
 */
export function pageOf<Item>(
  list: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: PageQuery,
): Page<Item> {
  const after = cursor === undefined ? undefined : keyOfCursor(list, cursor);
  const sorted = items.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter((item) => keyOf(item) > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { items: page, nextCursor: rest.length > limit && last !== undefined ? cursorOf(list, keyOf(last)) : null };
}

/** An order of items: by rank, and those of one rank by their key. */
export interface Order<Item> {
  /** The name of the order, so that a cursor of another order is refused. */
  readonly name: string;
  readonly rankOf: (item: Item) => number;
  /** Unique among the items. */
  readonly keyOf: (item: Item) => string;
  readonly isReversed: boolean;
}

/**
 * Returns a page of items in an order. It sorts no more than the page, so that a page of many items costs one look at each. A
 * cursor names the place of the last item, so an item that comes or goes moves no other item to another page.
 */
export function pageInOrder<Item>(
  list: string,
  items: readonly Item[],
  { name, rankOf, keyOf, isReversed }: Order<Item>,
  { limit, cursor }: PageQuery,
): Page<Item> {
  const sign = isReversed ? -1 : 1;
  const compare = (leftRank: number, leftKey: string, right: Ranked): number =>
    sign * (leftRank - right.rank || (leftKey < right.key ? -1 : leftKey > right.key ? 1 : 0));
  const after = cursor === undefined ? undefined : rankedOf(keyOfCursor(`${list} ${name}`, cursor));
  const first: (Ranked & { readonly item: Item })[] = [];
  for (const item of items) {
    const rank = rankOf(item);
    const key = keyOf(item);
    if (after !== undefined && compare(rank, key, after) <= 0) continue;
    // Nothing is created for an item that is behind the page: most of them are.
    const last = first[limit];
    if (last !== undefined && compare(rank, key, last) >= 0) continue;
    first.splice(
      placeOf(first, (other) => compare(rank, key, other)),
      0,
      { rank, key, item },
    );
    if (first.length > limit + 1) first.pop();
  }
  const page = first.slice(0, limit);
  const last = page.at(-1);
  const hasMore = first.length > limit && last !== undefined;
  return {
    items: page.map(({ item }) => item),
    nextCursor: hasMore ? cursorOf(`${list} ${name}`, `${last.rank} ${last.key}`) : null,
  };
}

/** Returns a page of items in their present order. The cursor is a place in it. */
export function placedPage<Item>(list: string, items: readonly Item[], { limit, cursor }: PageQuery): Page<Item> {
  const from = numberOfCursor(list, cursor) ?? 0;
  const end = from + limit;
  return { items: items.slice(from, end), nextCursor: items.length > end ? cursorOf(list, String(end)) : null };
}

interface Ranked {
  readonly rank: number;
  readonly key: string;
}

/** Returns the place of a new item in a sorted list, by halving. @param compare negative: the item comes before the other. */
function placeOf<Item>(sorted: readonly Item[], compare: (other: Item) => number): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(sorted[middle] as Item) > 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function rankedOf(text: string): Ranked {
  const [, rank, key] = /^(-?[0-9]{1,17}) (.*)$/s.exec(text) ?? [];
  if (rank === undefined || key === undefined) throw badCursor();
  return { rank: Number(rank), key };
}

/** Returns a page of items that are sorted by a number, newest first. @param items one more than `limit` if there is a next page. */
export function pageBack<Item>(
  list: string,
  items: readonly Item[],
  numberOf: (item: Item) => number,
  limit: number,
): Page<Item> {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  const hasMore = items.length > limit && last !== undefined;
  return { items: page, nextCursor: hasMore ? cursorOf(list, String(numberOf(last))) : null };
}

/** A place in rows of which several can have one number: `skip` rows with this number are on earlier pages. */
export interface Place {
  readonly number: number;
  readonly skip: number;
}

/**
 * Returns a page of rows that are sorted by a number, newest first, of which several can have the same number.
 * @param rows from `from` on, those to skip included, and one more than `limit` if there is a next page.
 */
export function pageOfRows<Row>(
  list: string,
  rows: readonly Row[],
  numberOf: (row: Row) => number,
  { limit, from }: { readonly limit: number; readonly from: Place | undefined },
): Page<Row> {
  const end = (from?.skip ?? 0) + limit;
  const last = rows.slice(0, end).at(-1);
  const items = rows.slice(from?.skip ?? 0, end);
  if (rows.length <= end || last === undefined) return { items, nextCursor: null };
  const number = numberOf(last);
  const skip = rows.slice(0, end).filter((row) => numberOf(row) === number).length;
  return { items, nextCursor: cursorOf(list, `${number}.${skip}`) };
}

/** No transaction has as many rows. A cursor that skips more was not made here, and would have the whole history read. */
const SKIP_MAX = 10_000;

/** Returns the place in a cursor. @throws RequestProblem when the cursor does not belong to this list. */
export function placeOfCursor(list: string, cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const [, number, skip] = /^([0-9]{1,15})\.([0-9]{1,6})$/.exec(keyOfCursor(list, cursor)) ?? [];
  if (number === undefined || Number(skip) > SKIP_MAX) throw badCursor();
  return { number: Number(number), skip: Number(skip) };
}

/** Returns the number in a cursor. @throws RequestProblem when the cursor does not belong to this list. */
export function numberOfCursor(list: string, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const key = keyOfCursor(list, cursor);
  if (/^[0-9]{1,15}$/.test(key)) return Number(key);
  throw badCursor();
}

function cursorOf(list: string, key: string): string {
  return Buffer.from(`${list}:${key}`).toString('base64url');
}

function keyOfCursor(list: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (text.startsWith(`${list}:`)) return text.slice(list.length + 1);
  throw badCursor();
}

function badCursor(): RequestProblem {
  return refusal(400, 'server/bad-cursor', {
    detail: 'The cursor does not belong to this list.',
    remedy: 'Pass nextCursor of the previous answer unchanged, or leave it out to start at the first page.',
  });
}

/**
 * Returns the position of a reader in the events. A process without replicas starts its sequence at 0, so the position contains the
 * start time of the process: after a restart, a reader cannot resume among the wrong events.
 */
export function positionAt(api: ControllerApi, sequence: number): string {
  return `${originOf(api)}-${sequence}`;
}

function originOf({ events, startedMs }: ControllerApi): string {
  return events.origin ?? String(startedMs);
}

/** The place at which a stream begins. */
interface StreamStart {
  readonly sequence: number;
  /** This process, or a replica of it, gave the position out. If not, events may be missing. */
  readonly isOfThisProcess: boolean;
  /** The client has the events up to here. */
  readonly seen: number;
}

/**
 * Returns the place to which a position leads.
 * @param isCurrent this process has read all events that are stored.
 * @throws RequestProblem when the text is not a position.
 */
export function streamStart(api: ControllerApi, position: string, isCurrent: boolean): StreamStart {
  const [, origin, digits] = /^([0-9a-z]{1,40})-([0-9]{1,15})$/.exec(position) ?? [];
  if (origin === undefined || digits === undefined)
    throw refusal(400, 'server/bad-position', {
      detail: 'Last-Event-ID (or after) is not a position of this server.',
      remedy: 'Pass the id of the last event unchanged, or leave it out to start with new events.',
    });
  const seen = Number(digits);
  const { newest } = api.events;
  const unknown: StreamStart = { sequence: 0, isOfThisProcess: false, seen: 0 };
  if (origin !== originOf(api)) return unknown;
  const { isComplete, through } = api.events.since(seen, 1);
  if (api.events.origin === undefined || isComplete)
    return { sequence: Math.min(seen, newest), isOfThisProcess: true, seen: 0 };
  // Another replica has given the position out, and this one does not reach the database.
  if (through < seen && !isCurrent) return { sequence: newest, isOfThisProcess: true, seen };
  // A replica gives out only what the database has, so a sequence beyond that is of a database that was restored since.
  return unknown;
}
