/** Returns the sums of counts that have the same names. */
export function summed<Counts extends { readonly [Name in keyof Counts]: number }>(
  left: Counts,
  right: Counts,
): Counts {
  const names = Object.keys(left) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, left[name] + right[name]])) as Counts;
}
