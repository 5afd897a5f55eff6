/**
 * The fewest perturbations that still fail, found by leaving out halves, quarters and so on (delta debugging). What is
 * left may not be the only cause, but nothing in it can be left out.
 */
export async function minimise<T>(
  script: readonly T[],
  stillFails: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = script;
  for (let pieces = 2; kept.length > 0; ) {
    const size = Math.ceil(kept.length / pieces);
    let smaller: readonly T[] | undefined;
    for (let at = 0; at < kept.length && smaller === undefined; at += size) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await stillFails(rest)) smaller = rest;
    }
    if (smaller !== undefined) {
      kept = smaller;
      pieces = Math.max(2, pieces - 1);
    } else if (size === 1) return kept;
    else pieces = Math.min(kept.length, pieces * 2);
  }
  return kept;
}
