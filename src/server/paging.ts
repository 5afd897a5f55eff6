import { problem, RequestProblem } from './problem.ts';

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
 * @param items sorted by `keyOf`, by code units; keys are unique.
 * @param list names the list, so that a cursor of another is refused.
 */
export function pageOf<Item>(
  list: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: PageQuery,
): Page<Item> {
  const after = cursor === undefined ? undefined : keyOfCursor(list, cursor);
  const rest = after === undefined ? items : items.filter((item) => keyOf(item) > after);
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
  return new RequestProblem(
    problem(400, {
      code: 'server/bad-cursor',
      detail: 'The cursor is none that this list gave out.',
      remedy: 'Pass nextCursor of the answer before as it is, or leave it out to begin anew.',
    }),
  );
}
