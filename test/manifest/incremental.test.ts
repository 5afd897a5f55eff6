import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileCache } from '../../src/manifest/file-cache.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests, type LoadedManifests, type ManifestInput } from '../../src/manifest/load.ts';
import { snapshotId } from '../../src/source/snapshot.ts';

/**
 * A step changes a file, a variable or the operator's names. Names and domains are few, so that documents often mean each
 * other, and often the same. Cold is a load of the same texts without any memory.
 */
const name = fc.constantFrom('a', 'b', 'c');
const application = fc.tuple(name, fc.constantFrom('shop', 'shop', 'blog'), fc.constantFrom('default', 'other'));
const component = fc.record({
  named: name,
  of: name,
  port: fc.constantFrom(80, 81),
  isOuter: fc.boolean(),
  from: fc.option(name, { nil: undefined }),
});
const document = fc.oneof(
  application.map(
    ([named, app, platform]) =>
      `kind: Application\nmetadata: { name: ${named} }\nspec: { platform: ${platform}, team: t, region: r, app: ${app}-${named} }`,
  ),
  component.map(
    ({ named, of, port, isOuter, from }) =>
      `kind: Component\nmetadata: { name: ${named} }\nspec: { application: ${of}, ${from === undefined ? `serviceId: id-${named}` : `from: { install: ${from}, component: x }`}, ports: [{ port: ${port}, protocol: http, inner: true, outer: ${isOuter} }] }`,
  ),
  fc
    .tuple(name, name, name, fc.constantFrom('a.example.com', 'b.example.com', '${DOMAIN}'))
    .map(
      ([named, of, to, domain]) =>
        `kind: HttpGatewayRule\nmetadata: { name: ${named}, annotations: { portolan/moved-from: former-${to} } }\nspec: { application: ${of}, component: ${to}, port: 80, domain: "${domain}" }`,
    ),
  fc
    .tuple(name, name, fc.constantFrom('m1', 'm2'))
    .map(
      ([named, of, model]) =>
        `kind: StoreInstall\nmetadata: { name: ${named} }\nspec: { application: ${of}, store: s, model: { id: ${model}, version: "1" } }`,
    ),
  fc.constantFrom('kind: Componen', 'kind: [broken'),
);
const inFile = (documents: readonly string[]): string =>
  documents.map((one) => `---\napiVersion: portolan/v1\n${one}\n`).join('');
const text = fc.array(document, { maxLength: 2 }).map(inFile);
/** Without a fault, and each leads to another. */
const SOUND = [
  ['kind: Application\nmetadata: { name: a }\nspec: { platform: default, team: t, region: r, app: shop-a }'],
  ['kind: Application\nmetadata: { name: b }\nspec: { platform: other, team: t, region: r, app: blog-b }'],
  [
    'kind: Component\nmetadata: { name: a }\nspec: { application: a, serviceId: id-a, ports: [{ port: 80, protocol: http, inner: true, outer: true }] }',
    'kind: HttpGatewayRule\nmetadata: { name: a }\nspec: { application: a, component: a, port: 80, domain: "${DOMAIN}" }',
  ],
  ['kind: StoreInstall\nmetadata: { name: b }\nspec: { application: b, store: s, model: { id: m1, version: "1" } }'],
  [
    'kind: Component\nmetadata: { name: b }\nspec: { application: b, from: { install: b, component: x }, ports: [{ port: 81, protocol: http }] }',
  ],
  [
    'kind: HttpGatewayRule\nmetadata: { name: b }\nspec: { application: b, component: b, port: 81, domain: b.example.com }',
  ],
].map(inFile);
const edit = fc.oneof(
  fc.record({ type: fc.constant('write' as const), file: fc.nat(5), text }),
  fc.record({ type: fc.constant('repair' as const) }),
  fc.record({ type: fc.constant('delete' as const), file: fc.nat(5) }),
  fc.record({ type: fc.constant('move' as const), file: fc.nat(5), to: fc.nat(5) }),
  fc.record({ type: fc.constant('variable' as const), domain: fc.constantFrom('a.example.com', 'c.example.com') }),
  fc.record({ type: fc.constant('operator' as const), platforms: fc.subarray(['default', 'other']) }),
);

test('after any edits, what files that were read before give is what a cold load gives', () => {
  const met = { sound: 0, faulty: 0 };
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      let files = new Map(SOUND.entries());
      const cache = new FileCache();
      let domain = 'a.example.com';
      let platforms = ['default', 'other'];
      for (const one of [undefined, ...edits]) {
        if (one?.type === 'write') files.set(one.file, one.text);
        if (one?.type === 'repair') files = new Map(SOUND.entries());
        if (one?.type === 'delete') files.delete(one.file);
        if (one?.type === 'move') {
          const moved = files.get(one.file);
          files.delete(one.file);
          if (moved !== undefined) files.set(one.to, moved);
        }
        if (one?.type === 'variable') domain = one.domain;
        if (one?.type === 'operator') platforms = one.platforms;
        const input: ManifestInput = {
          files: [...files].map(([file, content]) => ({ path: `${file}.yaml`, content, contentId: content })),
          variables: new Map([['DOMAIN', domain]]),
          operator: { platforms: new Set(platforms), stores: new Set(['s']) },
        };
        const warm = loadManifests({ ...input, cache });
        if (warm.desired.size > 1) met.sound += 1;
        if (warm.problems.length > 0) met.faulty += 1;
        expect(said(warm)).toEqual(said(loadManifests(input)));
      }
    }),
    { numRuns: 150 },
  );
  expect(met.sound).toBeGreaterThan(100);
  expect(met.faulty).toBeGreaterThan(100);
});

function said({ desired, problems }: LoadedManifests) {
  const groups = groupByApplication(desired).map(({ application: one, resources }) => [one, ...resources]);
  return { desired: [...desired], problems, groups, snapshot: snapshotId(desired) };
}
