export interface Family {
  readonly type: string;
  readonly help: string;
  /** `name{label="value",…}` with the labels sorted → value. */
  readonly samples: ReadonlyMap<string, number>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const TYPES: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)(?: (-?\\d+))?$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/;

/**
 * Reads the text format of Prometheus 0.0.4, strictly: every family has its HELP and TYPE once, before its samples,
 * which stand together; no series comes twice; histograms add up.
 * @throws Error naming the line.
 */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no line feed');
  const families = new Map<string, { type: string; help: string; samples: Map<string, number> }>();
  const helps = new Map<string, string>();
  let current = '';
  for (const [index, line] of text.slice(0, -1).split('\n').entries()) {
    const fail = (why: string): never => {
      throw new Error(`line ${index + 1}: ${why}: ${line}`);
    };
    if (line === '') continue;
    const help = new RegExp(`^# HELP (${NAME}) (\\S.*)$`).exec(line);
    const type = new RegExp(`^# TYPE (${NAME}) (\\w+)$`).exec(line);
    if (help !== null) {
      const [, name = '', words = ''] = help;
      if (helps.has(name)) fail('HELP comes twice');
      if (/\\(?![\\n])/.test(words)) fail('bad escape');
      helps.set(name, words);
    } else if (type !== null) {
      const [, name = '', kind = ''] = type;
      if (families.has(name)) fail('TYPE comes twice, or after samples');
      if (!TYPES.has(kind)) fail('no such type');
      families.set(name, { type: kind, help: helps.get(name) ?? fail('no HELP before it'), samples: new Map() });
      current = name;
    } else if (line.startsWith('#')) fail('neither HELP nor TYPE');
    else {
      const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? fail('no sample');
      const family = families.get(current);
      const suffix = name.slice(current.length);
      const suffixes =
        family?.type === 'histogram'
          ? ['_bucket', '_sum', '_count']
          : family?.type === 'summary'
            ? ['', '_sum', '_count']
            : [''];
      if (family === undefined || !name.startsWith(current) || !suffixes.includes(suffix))
        return fail('not of the family above');
      if (!NUMBER.test(value)) fail('no number');
      const key = `${name}${labelsOf(labels, fail)}`;
      if (family.samples.has(key)) fail('the series comes twice');
      const number = value === '+Inf' ? Infinity : value === '-Inf' ? -Infinity : Number(value);
      if (family.type === 'counter' && !(number >= 0)) fail('a counter below 0');
      family.samples.set(key, number);
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family.samples);
  return families;
}

function labelsOf(text: string, fail: (why: string) => never): string {
  const labels: [string, string][] = [];
  for (let rest = text; rest !== ''; ) {
    const [whole, name = '', value = ''] = LABEL.exec(rest) ?? fail('bad label');
    if (labels.some(([other]) => other === name)) fail('a label twice');
    labels.push([name, value]);
    rest = rest.slice(whole.length);
  }
  if (labels.length === 0) return '';
  labels.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${labels.map(([name, value]) => `${name}="${value}"`).join(',')}}`;
}

function checkHistogram(name: string, samples: ReadonlyMap<string, number>): void {
  const series = new Map<string, { le: number; count: number }[]>();
  for (const [key, count] of samples) {
    if (!key.startsWith(`${name}_bucket`)) continue;
    const le = /le="([^"]*)"/.exec(key)?.[1];
    if (le === undefined) throw new Error(`${key}: a bucket without le`);
    const rest = key
      .slice(`${name}_bucket`.length)
      .replace(/,?le="[^"]*"/, '')
      .replace('{,', '{')
      .replace('{}', '');
    series.set(rest, [...(series.get(rest) ?? []), { le: le === '+Inf' ? Infinity : Number(le), count }]);
  }
  for (const [rest, buckets] of series) {
    const last = buckets.at(-1);
    if (last?.le !== Infinity) throw new Error(`${name}${rest}: no +Inf bucket at the end`);
    for (const [index, { le, count }] of buckets.entries()) {
      const before = buckets[index - 1];
      if (before !== undefined && (before.le >= le || before.count > count))
        throw new Error(`${name}${rest}: buckets do not rise`);
    }
    if (samples.get(`${name}_count${rest}`) !== last.count) throw new Error(`${name}${rest}: count is not +Inf`);
    if (!samples.has(`${name}_sum${rest}`)) throw new Error(`${name}${rest}: no sum`);
  }
}
