import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeLine, safeText } from '../../src/model/text.ts';

test.for([
  ['plain words, ünïcödé 中文 🙂', 'plain words, ünïcödé 中文 🙂'],
  ['a\u001b[31mred', 'a\\u001b[31mred'],
  ['\u0000\u0007\u000b\u007f\u009b', '\\u0000\\u0007\\u000b\\u007f\\u009b'],
  ['a\rb', 'a\\u000db'],
  ['evil\u202egnp.exe', 'evil\\u202egnp.exe'],
  ['\u2028\u2069\u200e\ufeff', '\\u2028\\u2069\\u200e\\ufeff'],
] as const)('%j is shown as %j', ([text, shown]) => {
  expect(safeText(text)).toBe(shown);
  expect(safeLine(text)).toBe(shown);
});

test('lines and tabs stay in a text, and are written out where one line is wanted', () => {
  expect(safeText('a\n\tb\n\tc')).toBe('a\n\tb\n\tc');
  expect(safeLine('a\n\tb\n\tc')).toBe('a\\n\\tb\\n\\tc');
});

test('whatever the text, nothing is left that a terminal obeys, and nothing else is changed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(safeLine(text)).not.toMatch(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u);
      if (/^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(text)) expect(safeLine(text)).toBe(text);
    }),
  );
});
