/** The units of monitoring items. The API names no units: they are guessed from the item's name. `plain`: a number without a unit. */
export const UNITS = ['bytes', 'milliseconds', 'seconds', 'percent', 'per-second', 'cores', 'plain'] as const;
export type Unit = (typeof UNITS)[number];

/** The first match counts. Names of this API come before words of any metrics system. */
const BY_NAME: readonly (readonly [RegExp, Unit])[] = [
  [/^request_time$/, 'milliseconds'],
  [/^request$/, 'per-second'],
  [/_(?:ms|millis|milliseconds)$/, 'milliseconds'],
  [/_(?:s|sec|seconds)$/, 'seconds'],
  [/percent|ratio|usage_rate|utili[sz]ation/, 'percent'],
  [/latency|duration|(?:^|_)time$/, 'milliseconds'],
  [/qps|throughput|(?:^|_)rate$|per_second/, 'per-second'],
  [/mem(?:ory)?|bytes|disk|storage|network|traffic/, 'bytes'],
  [/(?:^|_)cpu/, 'cores'],
];

export function guessUnit(itemName: string): Unit {
  const name = itemName.toLowerCase();
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? 'plain';
}

const SUFFIX: Readonly<Record<Exclude<Unit, 'bytes'>, string>> = {
  milliseconds: ' ms',
  seconds: ' s',
  percent: ' %',
  'per-second': '/s',
  cores: ' cores',
  plain: '',
};

/** Formats a value with three significant digits: `12.3 ms`, `1.50 GiB`, `42`. */
export function formatValue(value: number, unit: Unit): string {
  if (unit !== 'bytes') return `${threeDigits(value)}${SUFFIX[unit]}`;
  const power = value === 0 ? 0 : Math.min(4, Math.max(0, Math.floor(Math.log2(Math.abs(value)) / 10)));
  return `${threeDigits(value / 1024 ** power)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
}

function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(2);
  if (Number.isInteger(value) || size >= 100) return String(Math.round(value));
  return size < 0.001 && size > 0 ? value.toExponential(2) : String(Number(value.toPrecision(3)));
}
