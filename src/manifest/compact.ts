const NOTHING: readonly never[] = [];

/**
 * Returns a list without room for further items; all empty lists are one. A source keeps several lists of each of its documents,
 * most of them empty, and V8 gives a list that grows room for 17 items.
 */
export function compact<T>(items: readonly T[]): readonly T[] {
  return items.length === 0 ? NOTHING : items.slice();
}
