import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bucket, plot, sparkline, summarize } from '../../src/cli/plot.ts';
import { renderTable } from '../../src/cli/table.ts';
import { safeLine, safeText } from '../../src/model/text.ts';
import { displayWidth } from '../../src/cli/text.ts';
import { formatValue, guessUnit } from '../../src/cli/units.ts';

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
  ['rises', [1, 2, 3, 4, 5, 6, 7, 8], '▁▂▃▄▅▆▇█'],
  ['is flat', [5, 5, 5], '▅▅▅'],
  ['has a gap, which is not a zero', [1, undefined, 8], '▁ █'],
  ['is negative', [-8, -1], '▁█'],
  ['is empty', [], ''],
] as const)('a sparkline that %s', ([, values, line]) => {
  expect(sparkline(values)).toBe(line);
});

test('samples are averaged by time, and what lies outside is left out', () => {
  const samples = [
    [0, 1],
    [1, 3],
    [30, 10],
    [60, 100],
    [61, 5],
  ] as const;
  expect(bucket(samples, 0, 60, 3)).toEqual([2, 10, 100]);
  expect(bucket([], 0, 60, 3)).toEqual([undefined, undefined, undefined]);
  expect(summarize(samples)).toEqual({ min: 1, max: 100, last: 5 });
  expect(summarize([])).toBeUndefined();
});

test('a plot has its highest value on top, its lowest at the bottom, and both ends of time', () => {
  const lines = plot([0, 1, undefined, 2, 4], 1_792_000_000, 1_792_003_600, (value) => `${value} ms`);
  expect(lines).toMatchInlineSnapshot(`
    [
      "4 ms ┤    █",
      "     ┤    █",
      "     ┤   ▅█",
      "     ┤ ▃ ██",
      "0 ms ┤▁█ ██",
      "     └─────",
      "      2026-10-14 17:46Z 2026-10-14 18:46Z",
    ]
  `);
});

test('a bucket keeps the mean of its samples within their range', () => {
  const sample = fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: -1000, max: 1000 }));
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1 }), fc.integer({ min: 1, max: 50 }), (samples, width) => {
      const { min, max } = summarize(samples) ?? { min: 0, max: 0 };
      for (const value of bucket(samples, 0, 100, width)) {
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
