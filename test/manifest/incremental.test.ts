import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { FileCache } from '../../src/manifest/file-cache.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests, type LoadedManifests, type ManifestInput } from '../../src/manifest/load.ts';
import type { Problem } from '../../src/model/problem.ts';
import { snapshotId } from '../../src/source/snapshot.ts';

const UNREAD: Problem = {
  code: 'source/link',
  position: { file: 'link.yaml', line: 1, column: 1 },
  path: '',
  message: 'it is a link',
};

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
/** Changes of what a sound document says, which leave its name: some make a fault elsewhere, and some take it away. */
const swaps = [
  ['port: 80', 'port: 81'],
  ['port: 81', 'port: 80'],
  ['outer: true', 'outer: false'],
  ['serviceId: id-a', 'serviceId: id-b'],
  ['from: { install: b', 'from: { install: a'],
  ['application: a', 'application: b'],
  ['application: b', 'application: a'],
  ['component: b', 'component: a'],
  ['"${DOMAIN}"', 'b.example.com'],
  ['b.example.com', 'd.example.com'],
  ['platform: default', 'platform: other'],
  ['app: blog-b', 'app: shop-a'],
  ['id: m1', 'id: m2'],
  ['metadata: { name: b }', 'metadata: { name: b, annotations: { portolan/moved-from: a } }'],
  ['metadata: { name: b }', 'metadata: { name: b, labels: { tier: inner } }'],
] as const;
const edit = fc.oneof(
  fc.record({ type: fc.constant('write' as const), file: fc.nat(5), text }),
  fc.record({ type: fc.constant('repair' as const) }),
  fc.record({ type: fc.constant('delete' as const), file: fc.nat(5) }),
  fc.record({ type: fc.constant('move' as const), file: fc.nat(5), to: fc.nat(5) }),
  fc.record({ type: fc.constant('swap' as const), file: fc.nat(5), words: fc.constantFrom(...swaps) }),
  fc.record({ type: fc.constant('swap' as const), file: fc.nat(5), words: fc.constantFrom(...swaps) }),
  fc.record({ type: fc.constant('problem' as const), file: fc.nat(5), text }),
  fc.record({ type: fc.constant('variable' as const), domain: fc.constantFrom('a.example.com', 'c.example.com') }),
  fc.record({ type: fc.constant('operator' as const), platforms: fc.subarray(['default', 'other']) }),
);

test('after any edits, what files that were read before give is what a cold load gives', () => {
  const met = { sound: 0, faulty: 0, resumed: 0 };
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      let files = new Map(SOUND.entries());
      const cache = new FileCache();
      let domain = 'a.example.com';
      let platforms = ['default', 'other'];
      for (const one of [undefined, ...edits]) {
        if (one?.type === 'write') files.set(one.file, one.text);
        if (one?.type === 'problem') files.set(one.file, one.text);
        if (one?.type === 'swap')
          files.set(one.file, (files.get(one.file) ?? '').replaceAll(one.words[0], one.words[1]));
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
          kinds: kindDeclarations,
          files: [...files].map(([file, content]) => ({ path: `${file}.yaml`, content, contentId: content })),
          variables: new Map([['DOMAIN', domain]]),
          problems: one?.type === 'problem' ? [UNREAD] : [],
          operator: { platforms: new Set(platforms), stores: new Set(['s']) },
        };
        const warm = loadManifests({ ...input, cache });
        if (warm.desired.size > 1) met.sound += 1;
        if (warm.problems.length > 0) met.faulty += 1;
        expect(said(warm)).toEqual(said(loadManifests(input)));
      }
      met.resumed += cache.resumed;
    }),
    { numRuns: 300 },
  );
  expect(met.sound).toBeGreaterThan(100);
  expect(met.faulty).toBeGreaterThan(100);
  expect(met.resumed).toBeGreaterThan(100);
});

test('a change of what one document says is related to the others alone, and leaves them as they were', () => {
  const cache = new FileCache();
  const load = (contents: readonly string[]) =>
    loadManifests({
      kinds: kindDeclarations,
      files: contents.map((content, index) => ({ path: `${index}.yaml`, content, contentId: content })),
      variables: new Map([['DOMAIN', 'a.example.com']]),
      cache,
    });
  const texts = SOUND.map((one) => one.replaceAll('platform: other', 'platform: default'));
  const before = load(texts);
  const changed = (from: string, to: string) => texts.map((one) => one.replaceAll(from, to));
  const after = load(changed('domain: b.example.com', 'domain: c.example.com'));
  expect([cache.resumed, cache.parsed]).toEqual([1, texts.length + 1]);
  expect([...after.desired.keys()]).toEqual([...before.desired.keys()]);
  const others = [...after.desired].filter(([id, resource]) => before.desired.get(id) !== resource);
  expect(others.map(([id]) => id)).toEqual(['HttpGatewayRule/b']);
  const groups = [before, after].map(({ desired }) => groupByApplication(desired));
  expect(groups[1]?.map((group, index) => group === groups[0]?.[index])).toEqual([true, false]);
  expect(groups[1]?.[1]?.resources.at(-1)).toBe(after.desired.get('HttpGatewayRule/b'));
  // The address of another, which did not change itself.
  const taken = changed('app: blog-b', 'app: shop-a');
  expect(load(taken).problems.map(({ code }) => code)).toEqual(['identity/claimed-twice']);
  expect(cache.resumed).toBe(1);
  expect(load(texts).desired).toEqual(before.desired);
  expect(load(texts).problems).toEqual([]);
  expect(cache.resumed).toBe(2);
});

function said({ desired, problems }: LoadedManifests) {
  const groups = groupByApplication(desired).map(({ application: one, resources }) => [one, ...resources]);
  return { desired: [...desired], problems, groups, snapshot: snapshotId(desired) };
}
