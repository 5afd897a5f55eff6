/** Returns a table of milliseconds by fault: how many there are, and their distribution. */
export function describeTimes(title: string, samples: ReadonlyMap<string, readonly number[]>): string {
  const rows = [...samples].sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, times]) => row(name, times));
  const all = [...samples.values()].flat();
  return [`${title}, ms`, header, ...rows, ...(all.length === 0 ? [] : [row('all', all)])].join('\n');
}

const cells = (values: readonly string[]): string =>
  values.map((value, at) => (at === 0 ? value.padEnd(24) : value.padStart(8))).join('');

const header = cells(['', 'n', 'min', 'median', 'p90', 'max']);

function row(name: string, times: readonly number[]): string {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (part: number): string => String(Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0));
  return cells([name, String(times.length), at(0), at(0.5), at(0.9), at(1)]);
}
