import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, type Json, plainJson, sameJson } from '../../src/model/json.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

test('values are the same exactly when their canonical texts are', () => {
  fc.assert(
    fc.property(json, json, (left, right) => {
      expect(sameJson(left, right)).toBe(canonicalJson(left) === canonicalJson(right));
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(json, (value) => {
      expect(sameJson(value, structuredClone(value))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test.for<[unknown, unknown, boolean]>([
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, true],
  [{ a: null }, {}, false],
  [{}, { a: null }, false],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [[1], [1, 2], false],
  [undefined, null, true],
  ['1', 1, false],
])('%j and %j: %s', ([left, right, same]) => {
  expect(sameJson(left as Json, right as Json)).toBe(same);
  expect(sameJson(right as Json, left as Json)).toBe(same);
});

test('a plain copy is what its text would be read as', () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, -1.5, '', 'ä"'),
      fc.array(tie('value').filter((item) => item !== undefined)),
      fc.dictionary(fc.constantFrom('a', 'b', '1', 'ä'), fc.option(tie('value'), { nil: undefined })),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => {
      const copy = plainJson(given);
      expect(copy).toStrictEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});
