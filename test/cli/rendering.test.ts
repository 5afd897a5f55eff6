import fc from 'fast-check';
import { expect, test } from 'vitest';
import { relativeTime, shortDuration } from '../../src/cli/terminal/age.ts';
import { scaleOf, timeTicks } from '../../src/cli/terminal/drawing/axis.ts';
import { glyphsFor } from '../../src/cli/terminal/drawing/glyphs.ts';
import { plot } from '../../src/cli/terminal/drawing/plot.ts';
import { bucket } from '../../src/cli/terminal/drawing/series.ts';
import { gapsOf, type Sample, summarize } from '../../src/model/series.ts';
import { arrange, sideBySide } from '../../src/cli/commands/monitor/plots.ts';
import { sparkline } from '../../src/cli/terminal/drawing/series.ts';
import { formatValue, guessUnit } from '../../src/model/units.ts';
import { renderTable, tableLines } from '../../src/cli/terminal/table.ts';
import { safeLine, safeText } from '../../src/model/text.ts';
import { displayWidth, fit, wrap } from '../../src/cli/terminal/text.ts';
import { plainPaint } from '../../src/report/text.ts';

const unicode = glyphsFor({});

test('a table lines up by what a terminal shows, and has no empty column', () => {
  const table = renderTable(
    ['name', 'status', 'note'],
    [
      ['上海', 'enabled', undefined],
      ['region-1', '', 'a\nb'],
    ],
  );
  expect(table.split('\n')).toEqual([
    'NAME       STATUS    NOTE',
    '上海       enabled   -',
    'region-1   -         a\\nb',
    '',
  ]);
});

test('nothing that a server sends can move the cursor, whatever it is', () => {
  const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u2066]/;
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(safeText(text)).not.toMatch(dangerous);
      expect(safeLine(text)).not.toMatch(/[\n\t]/);
    }),
  );
  expect(safeText('\u001b[31mred\u202e')).toBe('\\u001b[31mred\\u202e');
});

test.for([
  ['abc', 3],
  ['上海', 4],
  ['e\u0301', 1],
  ['🚢', 2],
  ['', 0],
] as const)('%s is %i wide', ([text, width]) => {
  expect(displayWidth(text)).toBe(width);
});

test.for([
  ['fits as it is', 'abc', 3, 'abc'],
  ['is cut with an ellipsis', 'abcdef', 4, 'abc…'],
  ['never has half of a wide character', '上海港', 4, '上…'],
  ['ends its colour where it is cut', '\u001b[31mabcdef\u001b[39m', 4, '\u001b[31mabc\u001b[0m…'],
  ['has no room at all', 'abc', 0, ''],
] as const)('a text that %s', ([, text, width, cut]) => {
  expect(fit(text, width)).toBe(cut);
});

test('no cut text is wider than it may be', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, width) => {
      expect(displayWidth(fit(safeLine(text), width))).toBeLessThanOrEqual(width);
    }),
  );
});

test.for([
  ['a b c', 3, ['a b', 'c']],
  ['a bc def', 5, ['a bc', 'def']],
  ['港口 很宽', 4, ['港口', '很宽']],
  ['一个很长的词', 5, ['一个', '很长', '的词']],
  ['abcdefgh', 3, ['abc', 'def', 'gh']],
  ['a abcdef b', 4, ['a', 'abcd', 'ef b']],
  ['', 4, ['']],
] as const)('%j in %i columns is %j', ([text, width, lines]) => {
  expect(wrap(text, width)).toEqual(lines);
});

test('a table that is too wide narrows its widest columns first, and only those that may be', () => {
  const columns = [{ title: 'name', narrowest: 4 }, { title: 'state' }, { title: 'why', narrowest: 6 }];
  const rows = [['component-of-a-long-name', 'InSync', 'a reason that is long']];
  expect(tableLines(columns, rows, { columns: 40 })).toEqual([
    'NAME             STATE    WHY',
    'component-of-…   InSync   a reason that…',
  ]);
  expect(tableLines(columns, rows, { columns: 16 }).every((line) => displayWidth(line) <= 16)).toBe(true);
  expect(tableLines(columns, rows)[1]).toContain('a reason that is long');
});

test.for([
  [0, '0s'],
  [999, '0s'],
  [59_000, '59s'],
  [200_000, '3m20s'],
  [45 * 60_000, '45m'],
  [2 * 3_600_000 + 59_000, '2h'],
  [52 * 3_600_000, '2d4h'],
  [400 * 86_400_000, '400d'],
] as const)('%i ms is %s', ([ms, text]) => {
  expect(shortDuration(ms)).toBe(text);
  expect(relativeTime(1_000_000 - ms, 1_000_000)).toBe(`${text} ago`);
});

test.for([
  ['rises', [1, 2, 3, 4, 5, 6, 7, 8], '▁▂▃▄▅▆▇█', '_.-:=+*#'],
  ['is flat', [5, 5, 5], '▅▅▅', '==='],
  ['has a gap, which is not a zero', [1, undefined, 8], '▁ █', '_ #'],
  ['is negative', [-8, -1], '▁█', '_#'],
  ['is empty', [], '', ''],
] as const)('a sparkline that %s', ([, values, line, ascii]) => {
  expect(sparkline(values, unicode)).toBe(line);
  expect(sparkline(values, glyphsFor({}, true))).toBe(ascii);
});

test.for([
  [{}, false],
  [{ LANG: 'de_DE.UTF-8' }, false],
  [{ LANG: 'C' }, true],
  [{ LC_ALL: 'POSIX', LANG: 'de_DE.utf8' }, true],
  [{ LC_CTYPE: 'en_US.ISO-8859-1', LANG: 'C.UTF-8' }, true],
  [{ TERM: 'linux', LANG: 'C.UTF-8' }, true],
] as const)('with the environment %j, ASCII alone: %s', ([env, isAscii]) => {
  expect(glyphsFor(env).isAscii).toBe(isAscii);
  expect(glyphsFor(env, false).isAscii).toBe(false);
  expect(glyphsFor(env, true).isAscii).toBe(true);
});

/** From 0 to an hour, a sample each minute. */
const hour = { startSeconds: 0, endSeconds: 3600, stepSeconds: 60 };

test('samples are averaged by time, and what lies outside is left out', () => {
  const window = { startSeconds: 0, endSeconds: 60, stepSeconds: 1 };
  const samples = [
    [0, 1],
    [1, 3],
    [30, 10],
    [60, 100],
    [61, 5],
  ] as const;
  expect(bucket(samples, window, 3)).toEqual([2, 10, 100]);
  expect(bucket([], window, 3)).toEqual([undefined, undefined, undefined]);
  expect(summarize(samples)).toEqual({ min: 1, max: 100, last: 5, lastSeconds: 61 });
  expect(summarize([])).toBeUndefined();
});

test('what lies between two samples that belong together is no gap, whatever the width', () => {
  const window = { startSeconds: 0, endSeconds: 240, stepSeconds: 60 };
  const samples: readonly Sample[] = [
    [0, 0],
    [60, 6],
    [240, 1],
  ];
  expect(bucket(samples, window, 9)).toEqual([0, 3, 6, undefined, undefined, undefined, undefined, undefined, 1]);
});

const every = (from: number, to: number): Sample[] =>
  Array.from({ length: (to - from) / 60 + 1 }, (_, at) => [from + at * 60, at]);

test.for([
  ['none', every(0, 3600), { count: 0, seconds: 0 }],
  ['none, where the last sample is yet to come', every(30, 3510), { count: 0, seconds: 0 }],
  ['one in the middle', [...every(0, 600), ...every(1200, 3600)], { count: 1, seconds: 540 }],
  ['at both ends', every(1200, 2400), { count: 2, seconds: 2400 }],
  ['everything', [], { count: 1, seconds: 3600 }],
] as const)('what is missing: %s', ([, samples, gaps]) => {
  expect(gapsOf(samples, hour)).toEqual(gaps);
});

test.for([
  ['round numbers around the values', [32.9, 53], 7, 10, [30, 40, 50, 60]],
  ['from zero where the values come near it', [1, 28], 7, 10, [0, 10, 20, 30]],
  ['a small swing of large numbers', [99.2, 99.9], 7, 10, [99, 99.5, 100]],
  ['less than zero', [-7, 12], 5, 10, [-20, 0, 20]],
  ['a flat line in the middle', [5, 5], 5, 10, [2.5, 5, 7.5]],
  ['nothing but zero', [0, 0], 5, 10, [-1, 0, 1]],
  ['powers of 1024', [0, 1.5 * 1024 ** 3], 5, 1024, [0, 1024 ** 3, 2 * 1024 ** 3]],
] as const)('an axis: %s', ([, [min, max], rows, base, ticks]) => {
  expect(scaleOf(min, max, rows, base).ticks).toEqual(ticks);
});

test('an axis holds all values, whatever they are, and its ticks fall on rows', () => {
  const value = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }).map((thousandths) => thousandths / 1000);
  fc.assert(
    fc.property(value, value, fc.constantFrom(3, 5, 7, 9), fc.constantFrom(10, 1024), (one, other, rows, base) => {
      const [min, max] = [Math.min(one, other), Math.max(one, other)];
      const { low, high, ticks } = scaleOf(min, max, rows, base as 10 | 1024);
      const slack = Math.abs(max) * 1e-8;
      expect(low - slack).toBeLessThanOrEqual(min);
      expect(high + slack).toBeGreaterThanOrEqual(max);
      expect((rows - 1) % (ticks.length - 1)).toBe(0);
    }),
  );
});

test.for([
  ['hours', 0, 7200, 4, ['01-01', '00:30', '01:00', '01:30', '02:00']],
  ['over midnight', 82_800, 90_000, 2, ['23:00', '01-02', '01:00']],
  ['seconds', 7, 40, 4, ['00:00:10', '00:00:20', '00:00:30', '00:00:40']],
  ['days', 0, 4 * 86_400, 4, ['01-01', '01-02', '01-03', '01-04', '01-05']],
] as const)('an axis of time: %s', ([, start, end, ticksMax, labels]) => {
  expect(timeTicks(start, end, ticksMax).map(({ label }) => label)).toEqual(labels);
});

/** Rises, is missing for ten minutes, falls steeply and stays. */
const story: readonly Sample[] = [
  ...every(0, 1200),
  ...every(1800, 2400).map(([at, value]): Sample => [at, 40 - 3 * value]),
];

test.for([
  [40, false],
  [40, true],
  [70, false],
] as const)('a plot in %i columns, in ASCII: %s', async ([width, ascii]) => {
  const lines = plot(story, {
    window: hour,
    width,
    height: 7,
    label: (value) => `${value} ms`,
    glyphs: glyphsFor({}, ascii),
    paint: plainPaint,
  });
  expect(lines.every((line) => displayWidth(line) <= width)).toBe(true);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/plot-${width}${ascii ? '-ascii' : ''}.txt`);
});

test('blocks stand beside each other as far as there is room', () => {
  const size = { narrowest: 10, widest: 20 };
  expect(arrange(3, 40, size)).toEqual({ perRow: 3, width: 11 });
  expect(arrange(3, 30, size)).toEqual({ perRow: 2, width: 13 });
  expect(arrange(2, 8, size)).toEqual({ perRow: 1, width: 8 });
  expect(arrange(1, 200, size)).toEqual({ perRow: 1, width: 20 });
  expect(sideBySide([['a', 'b'], ['上'], ['d']], { perRow: 2, width: 4 })).toEqual(['a      上', 'b', '', 'd']);
});

test('a bucket keeps the mean of its samples within their range', () => {
  const sample = fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: -1000, max: 1000 }));
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1 }), fc.integer({ min: 1, max: 50 }), (samples, width) => {
      const { min, max } = summarize(samples) ?? { min: 0, max: 0 };
      const inOrder = samples.toSorted(([left], [right]) => left - right);
      for (const value of bucket(inOrder, { startSeconds: 0, endSeconds: 100, stepSeconds: 10 }, width)) {
        if (value === undefined) continue;
        expect(value).toBeGreaterThanOrEqual(min);
        expect(value).toBeLessThanOrEqual(max);
      }
    }),
  );
});

test.for([
  ['request_time', 12.345, '12.3 ms'],
  ['request', 25, '25/s'],
  ['request_client', 12.04, '12'],
  ['container_memory_rss', 1.5 * 1024 ** 3, '1.5 GiB'],
  ['container_network_transmit_bytes', 512, '512 B'],
  ['cpu_usage_rate', 99.94, '99.9 %'],
  ['http_latency', 1234.5, '1235 ms'],
  ['request_duration_seconds', 0.25, '0.25 s'],
  ['some_item', 2_500_000, '2.50e+6'],
  ['some_item', 0, '0'],
] as const)('%s of %d is %s', ([name, value, text]) => {
  expect(formatValue(value, guessUnit(name))).toBe(text);
});
