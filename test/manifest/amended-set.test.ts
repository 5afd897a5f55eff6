import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amend, amendmentOf } from '../../src/manifest/amended-set.ts';
import { type ResourceId, resourceId } from '../../src/model/ids.ts';
import type { DesiredState, Resource } from '../../src/model/resource.ts';
import { snapshotId } from '../../src/source/snapshot.ts';

const COUNT = 600;

function resource(number: number, says: string): Resource {
  const name = `größe-${number}`;
  const position = { file: 'a.yaml', line: 1, column: 1 };
  const id = resourceId('Component', name);
  return { id, kind: 'Component', name, labels: {}, annotations: {}, spec: { says }, position };
}

function setOf(resources: readonly Resource[]): ReadonlyMap<ResourceId, Resource> {
  return new Map(resources.map((one) => [one.id, one]));
}

test('an amended set is the copy with those changes, however it is looked at, and the one before stays what it was', () => {
  const change = fc.uniqueArray(fc.nat({ max: COUNT - 1 }), { minLength: 1, maxLength: 120 });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (turns) => {
      const first = setOf(Array.from({ length: COUNT }, (_, number) => resource(number, 'first')));
      let copy = first;
      let set: DesiredState = first;
      for (const [turn, numbers] of turns.entries()) {
        const before = set;
        const [changed, copyBefore] = [setOf(numbers.map((number) => resource(number, `turn ${turn}`))), copy];
        set = amend(before, changed);
        copy = new Map([...copy, ...changed]);
        expect(amendmentOf(set)).toEqual({ before, changed: new Set(changed.keys()) });
        expect([...set]).toEqual([...copy]);
        expect([...set.values()]).toEqual([...copy.values()]);
        expect([...set.keys()]).toEqual([...copy.keys()]);
        const seen: [ResourceId, Resource][] = [];
        set.forEach((one, id) => seen.push([id, one]));
        expect(seen).toEqual([...copy]);
        expect([...copy.keys()].map((id) => [set.get(id), set.has(id)])).toEqual(
          [...copy.values()].map((one) => [one, true]),
        );
        expect([set.size, set.get(resourceId('Component', 'none')), set.has(resourceId('Component', 'none'))]).toEqual([
          COUNT,
          undefined,
          false,
        ]);
        // The one before says what it said, though its text went on to this one.
        expect(snapshotId(set)).toBe(snapshotId(copy));
        expect(snapshotId(before)).toBe(snapshotId(copyBefore));
        expect(snapshotId(set)).toBe(snapshotId(copy));
      }
      expect([...first.values()].every(({ spec }) => (spec as { says: string }).says === 'first')).toBe(true);
    }),
    { numRuns: 15 },
  );
});

test('a set that was put together as a whole came of none', () => {
  expect(amendmentOf(setOf([resource(1, 'x')]))).toBeUndefined();
});
