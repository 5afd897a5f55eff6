import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lossesBetween } from '../../src/manifest/losses.ts';

const FORMER = `# of the shop team
apiVersion: portolan/v1
kind: Application
metadata:
  name: shop
  labels: { env: prod, tier: "1" }
  annotations:
    portolan/prune: keep # never without asking us
    portolan/drift: report
spec: { team: a, region: b, appId: 1 }
---
kind: Component
metadata: { name: web }
spec: { note: "# no comment" }
`;

test('labels, annotations and comments that are gone are named, with whose they were', () => {
  const next = `kind: Application
metadata:
  name: shop
  labels: { env: test, tier: "1" }
  annotations: { portolan/drift: report }
---
kind: Component
metadata: { name: web }
`;
  expect(lossesBetween(FORMER, next)).toEqual(['Application/shop: annotation portolan/prune, label env', '2 comments']);
});

test('what is kept, moved or added is no loss', () => {
  const [application = '', component = ''] = FORMER.split('---\n');
  const next = `${component}---\n${application.replace('name: shop', 'name: shop\n  # one more')}`;
  expect(lossesBetween(FORMER, next)).toEqual([]);
  expect(lossesBetween(new TextEncoder().encode(FORMER), FORMER)).toEqual([]);
});

test('a former file may be anything', () => {
  expect(lossesBetween('mine', 'kind: Application')).toEqual([]);
  expect(lossesBetween('metadata: { labels: [1], annotations: { a: &x { b: *x } }', '')).toBeInstanceOf(Array);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 200 }), (former, next) => {
      lossesBetween(former, next);
      lossesBetween(next, next);
    }),
  );
});
