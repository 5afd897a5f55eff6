const LENGTH_MAX = 64;

/**
 * Damerau-Levenshtein distance (adjacent transpositions, each place edited once).
 * @returns the distance, or a number above `limit` as soon as it must exceed it.
 */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(cost);
      best = Math.min(best, cost);
    }
    if (best > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** Returns the nearest candidate, if it is near enough; the first of several equally near ones. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LENGTH_MAX) return undefined;
  const folded = fold(word);
  let limit = Math.max(1, Math.floor(folded.length / 3));
  let found: string | undefined;
  for (const candidate of candidates) {
    if (candidate.length > LENGTH_MAX) continue;
    const distance = editDistance(folded, fold(candidate), limit);
    if (distance > limit || (found !== undefined && distance === limit)) continue;
    found = candidate;
    limit = distance;
    if (distance === 0) break;
  }
  return found;
}

/** Returns a word without case and separators: `service_id`, `service-id` and `ServiceID` all mean `serviceId`. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}

/** Returns `did you mean X?`, or undefined. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const candidate = nearest(word, candidates);
  return candidate === undefined || candidate === word ? undefined : `did you mean ${candidate}?`;
}
