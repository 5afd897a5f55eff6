import { isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';
import type { Path } from './paths.ts';
import { spanOf, textOfScalar } from './values.ts';

/** A place in a document: the value, and its key if it has one. */
export interface Place {
  readonly key: unknown;
  readonly value: unknown;
}

/**
 * Follows a path as far as it exists.
 * @returns the last place that exists, and whether it is the end of the path.
 */
export function locate(contents: unknown, path: Path): { readonly place: Place; readonly complete: boolean } {
  let place: Place = { key: undefined, value: contents };
  for (const step of path) {
    const next = child(place.value, step);
    if (next === undefined) return { place, complete: false };
    place = next;
  }
  return { place, complete: true };
}

function child(node: unknown, step: string | number): Place | undefined {
  if (isMap(node)) {
    const pair = pairOf(node, String(step));
    return pair === undefined ? undefined : { key: pair.key, value: pair.value };
  }
  if (!isSeq(node)) return undefined;
  const item = node.items[Number(step)];
  return item === undefined ? undefined : { key: undefined, value: item };
}

const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** Returns the first pair of a key. A map is indexed once, because a map with thousands of faults is searched thousands of times. */
function pairOf(map: YAMLMap, key: string): Pair | undefined {
  let index = indexes.get(map);
  if (index === undefined) {
    // Reversed, so that the first of two equal keys wins.
    index = new Map(map.items.toReversed().map((pair) => [isScalar(pair.key) ? textOfScalar(pair.key) : '', pair]));
    indexes.set(map, index);
  }
  return index.get(key);
}

/** Returns the text to underline for a value: the value if it is a scalar that is not empty, else its key. */
export function spanOfPlace({ key, value }: Place): { readonly offset: number; readonly length: number } {
  if (isScalar(value) && value.source !== '') return spanOf(value);
  if (key !== undefined && key !== null) return spanOf(key);
  const { offset } = spanOf(value);
  return { offset, length: 1 };
}

/**
 * Returns the position of an offset in the value of a scalar. A YAML text may be quoted, folded or indented, so characters
 * other than white space are counted.
 * @param source the text of the file.
 */
export function spanInScalar(
  value: unknown,
  at: number,
  source: string,
): { readonly offset: number; readonly length: number } {
  const span = spanOf(value);
  if (!isScalar(value)) return span;
  const raw = source.slice(span.offset, span.offset + span.length);
  const isBlock = value.type === 'BLOCK_FOLDED' || value.type === 'BLOCK_LITERAL';
  const isQuoted = value.type === 'QUOTE_DOUBLE' || value.type === 'QUOTE_SINGLE';
  if (isQuoted && (raw.includes('\\') || raw.includes("''"))) return span;
  const start = isBlock ? raw.indexOf('\n') + 1 : isQuoted ? 1 : 0;
  let left = textOfScalar(value).slice(0, at).replaceAll(/\s/g, '').length;
  for (let index = start; index < raw.length; index += 1) {
    if (/\s/.test(raw.charAt(index))) continue;
    if (left === 0) return { offset: span.offset + index, length: 1 };
    left -= 1;
  }
  return span;
}

/** Returns the steps of a pointer as a path, in which indexes of lists are numbers. A pointer does not distinguish them from keys. */
export function typedPath(contents: unknown, steps: readonly string[]): Path {
  const path: (string | number)[] = [];
  let place: Place | undefined = { key: undefined, value: contents };
  for (const step of steps) {
    path.push(isSeq(place?.value) ? Number(step) : step);
    place = place === undefined ? undefined : child(place.value, step);
  }
  return path;
}
