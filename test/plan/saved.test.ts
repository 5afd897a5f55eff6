import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PortolanError } from '../../src/model/errors.ts';
import type { Json } from '../../src/model/json.ts';
import { resourceId } from '../../src/model/ids.ts';
import { planDocument } from '../../src/plan/document.ts';
import { openPlan, type SavedPlan, sealPlan } from '../../src/plan/saved.ts';
import { actionOf, planOf } from './plans.ts';

const facts: Omit<SavedPlan, 'format' | 'formatVersion'> = {
  savedMs: 1_700_000_000_000,
  savedBy: 'alice on host-1',
  plan: planDocument({
    source: 'default',
    revision: null,
    ledger: 'known',
    scopes: [planOf({ actions: [actionOf({ changes: [{ path: 'p', before: 1, after: 'ü"\u2028', cause: 'git' }] })] })],
    unobserved: [],
    refusals: [],
    notes: [],
  }),
  desired: [
    {
      id: resourceId('Component', 'web'),
      kind: 'Component',
      name: 'web',
      labels: {},
      annotations: { note: '$' + '{NAME}' },
      spec: { ports: [], nothing: undefined },
      position: { file: 'a.yaml', line: 1, column: 1 },
    },
  ],
  commit: null,
  basis: null,
  ledger: { lineage: 'l' },
  platforms: [],
  stores: [],
  allowed: {
    prune: false,
    adopt: [],
    targets: null,
    maxShare: null,
    maxPrunes: null,
    allowEmpty: false,
    allowShrunk: false,
    allowRewind: false,
  },
  command: ['-f', 'manifests/'],
};
const text = sealPlan(facts);
const open = (given: string) => openPlan(given, 'plan.json', () => true);

test('a plan that is saved and opened is the same plan, and saved again the same text', () => {
  const { format, formatVersion, ...opened } = open(text);
  expect([format, formatVersion]).toEqual(['portolan-saved-plan', 1]);
  expect(opened).toEqual(JSON.parse(JSON.stringify(facts)));
  expect(sealPlan(opened)).toBe(text);
});

test('no character of it can be another one, be missing or be added', () => {
  const place = fc.nat({ max: text.length - 1 });
  const edit = fc.oneof(
    fc.tuple(place, fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }), fc.nat({ max: 3 })),
    fc.tuple(place, fc.constantFrom('0', '1', 'a', 'f', '"', '}', ','), fc.constantFrom(0, 1)),
    fc.tuple(place, fc.constant(''), fc.integer({ min: 1, max: 40 })),
  );
  fc.assert(
    fc.property(edit, ([at, put, removed]) => {
      const edited = text.slice(0, at) + put + text.slice(at + removed);
      const means = (given: string): unknown => {
        try {
          return JSON.parse(given);
        } catch {
          return undefined;
        }
      };
      // White space between words says nothing.
      fc.pre(JSON.stringify(means(edited)) !== JSON.stringify(means(text)));
      expect(() => open(edited)).toThrow(PortolanError);
    }),
    { numRuns: 2_000 },
  );
});

test.for<readonly [string, Json, string]>([
  ['nothing', null, 'plan/not-a-saved-plan'],
  ['a list', [], 'plan/not-a-saved-plan'],
  ['a plan that was printed', facts.plan as unknown as Json, 'plan/not-a-saved-plan'],
  ['one without a checksum', { format: 'portolan-saved-plan', formatVersion: 1 }, 'plan/saved-damaged'],
  ['one of a later version', { format: 'portolan-saved-plan', formatVersion: 2 }, 'plan/saved-by-another-version'],
])('what is no saved plan is not taken for one: %s', ([, value, code]) => {
  expect(() => open(JSON.stringify(value))).toThrow(expect.objectContaining({ code, disposition: 'invalid' }) as Error);
});

test('parts that are none of a plan are refused, whatever their checksum', () => {
  expect(() => openPlan(text, 'plan.json', () => false)).toThrow('does not hold together');
});
