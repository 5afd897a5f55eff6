import type { ControllerApi } from '../controller/api.ts';
import { type RequestProblem, refusal } from './problem.ts';

/** A part of a list, and where it goes on. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass it as `cursor`; null: this is the end. */
  readonly nextCursor: string | null;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 1_000;

/**
 * Sorts by `keyOf`, by code units.
 * @param items with unique keys.
 * @param list names the list, so that a cursor of another is refused.
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

/** As `pageOf`, for a list that is asked for from its newest to its oldest, by a number. @param items may be one more than `limit`. */
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

/** @returns undefined where there is no cursor. @throws RequestProblem for a cursor that is no number of this list. */
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
    detail: 'The cursor is none that this list gave out.',
    remedy: 'Pass nextCursor of the answer before as it is, or leave it out to begin anew.',
  });
}

/**
 * Where a reader of the events is. Sequences begin anew with each process, so a place in them carries the start of its
 * process: after a restart nobody goes on in the middle of other events.
 */
export function positionAt(api: ControllerApi, sequence: number): string {
  return `${api.startedMs}-${sequence}`;
}

/**
 * @returns the sequence to go on after, and whether events between there and here may be missing.
 * @throws RequestProblem for a text that is no position.
 */
export function sequenceAt(
  api: ControllerApi,
  position: string,
): { readonly sequence: number; readonly isOfThisProcess: boolean } {
  const [, started, sequence] = /^([0-9]{1,16})-([0-9]{1,15})$/.exec(position) ?? [];
  if (started === undefined || sequence === undefined)
    throw refusal(400, 'server/bad-position', {
      detail: 'Last-Event-ID (or after) is none that this server gave out.',
      remedy: 'Pass the id of the last event as it was, or leave it out to begin with what happens now.',
    });
  if (Number(started) !== api.startedMs) return { sequence: 0, isOfThisProcess: false };
  return { sequence: Math.min(Number(sequence), api.events.newest), isOfThisProcess: true };
}
