import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { defaultSettings, loadConfiguration } from '../../src/configuration/configuration.ts';
import { FileCache } from '../../src/manifest/file-cache.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { renderProblems } from '../../src/manifest/render.ts';

const application = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: team-a, region: region-1, appId: 42 }
`;
const serviceId = '6f3c0000000000000000000000000042';
const component = (spec: string, annotations = '') => `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web, annotations: { ${annotations} } }
spec: { application: shop, serviceId: ${serviceId}, ${spec} }
`;
const rule = (name: string, spec: string) => `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: ${name} }
spec: { application: shop, component: shop-web, port: 8080, ${spec} }
`;

function load(text: string, variables: Readonly<Record<string, string>> = {}) {
  return loadManifests({
    kinds: kindDeclarations,
    files: [{ path: 'a.yaml', content: text }],
    variables: new Map(Object.entries(variables)),
  });
}

/** The spec of Component/shop-web; fails with the report if there is a fault. */
function specOf(spec: string, variables: Readonly<Record<string, string>>, annotations = ''): unknown {
  const { desired, problems } = load(`${application}---\n${component(spec, annotations)}`, variables);
  expect(renderProblems(problems, { color: false })).toBe('');
  return desired.get('Component/shop-web')?.spec;
}

test.for([
  ['a number', 'ports: [ { port: "${V}" } ]', '8080', { ports: [{ port: 8080 }] }],
  ['a boolean', 'ports: [ { port: 1, inner: "${V}" } ]', 'true', { ports: [{ port: 1, inner: true }] }],
  ['part of a text', 'serviceName: "shop-${V}"', 'web', { serviceName: 'shop-web' }],
] as const)('a variable gives %s', ([, spec, value, wanted]) => {
  expect(specOf(spec, { V: value })).toMatchObject(wanted);
});

test('a variable that looks like a number is text where the field wants text', () => {
  const text = `${application}---
apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: shop-db, labels: { build: "\${BUILD}" } }
spec:
  application: shop
  store: main
  model: { id: 0a1b2c, version: "\${VERSION}" }
`;
  for (const [version, build] of [
    ['8.0', 'true'],
    ['012', '1e3'],
    ['12345678901234567890', '~'],
  ] as const) {
    const { desired, problems } = load(text, { VERSION: version, BUILD: build });
    expect(renderProblems(problems, { color: false })).toBe('');
    const install = desired.get('StoreInstall/shop-db');
    expect(install?.spec).toMatchObject({ model: { version } });
    expect(install?.labels).toEqual({ build });
  }
});

test('an escaped reference and a document without substitution keep their dollars', () => {
  const header = (value: string, annotations: string) =>
    load(
      `${application}---\n${component('ports: []')}---\n${rule('r', `domain: a.example.com, header: "${value}"`).replace('{ name: r }', `{ name: r, annotations: { ${annotations} } }`)}`,
    ).desired.get('HttpGatewayRule/r')?.spec;
  expect(header('$${HOST} $5 $$', '')).toMatchObject({ header: '${HOST} $5 $$' });
  expect(header('${HOST}', 'portolan/substitute: disabled')).toMatchObject({ header: '${HOST}' });
});

test.for([
  [
    'two rules that differ in path',
    `${rule('a', 'domain: a.example.com')}---\n${rule('b', 'domain: a.example.com, path: /b')}`,
  ],
  [
    'two rules that differ in domain',
    `${rule('a', 'domain: a.example.com')}---\n${rule('b', 'domain: "*.a.example.com"')}`,
  ],
  ['an internationalised domain', rule('a', 'domain: www.xn--bcher-kva.example')],
  ['a rule that opens its port', rule('a', 'domain: a.example.com, openOuter: true')],
  [
    'a former name that is gone',
    component('ports: []', 'portolan/moved-from: old-web').replace('shop-web', 'new-web').replace(serviceId, 'x1'),
  ],
] as const)('%s: no fault', ([, more]) => {
  const { problems } = load(`${application}---\n${component('ports: [ { port: 8080 } ]')}---\n${more}`);
  expect(renderProblems(problems, { color: false })).toBe('');
});

test('a document that cannot be read is not missed by those that refer to it', () => {
  const { problems } = load(`${application.replace('name: shop', 'name: "shop')}---\n${component('ports: []')}`);
  expect(problems.map(({ code }) => code)).not.toContain('reference/dangling');
  expect(problems).not.toEqual([]);
});

test('a set with a fault gives nothing to apply, and says every fault once in the order of the files', () => {
  const bad = component('ports: [ { port: 0 } ]');
  const { desired, problems } = loadManifests({
    kinds: kindDeclarations,
    files: [
      { path: 'b.yaml', content: bad },
      { path: 'a.yaml', content: application.replace('42', '"x"') },
    ],
  });
  expect(desired.size).toBe(0);
  expect(problems.map(({ position: { file, line } }) => `${file}:${line}`)).toEqual(['a.yaml:4', 'b.yaml:4']);
});

test('files that were read before are not read again, unless a variable changed', () => {
  const cache = new FileCache();
  const files = [
    { path: 'app.yaml', content: application, contentId: '1' },
    { path: 'web.yaml', content: component('ports: [ { port: "${PORT}" } ]'), contentId: '2' },
  ];
  const port = (value: string) =>
    loadManifests({ kinds: kindDeclarations, files, cache, variables: new Map([['PORT', value]]) }).desired.get(
      'Component/shop-web',
    )?.spec;
  const first = port('80');
  expect(first).toMatchObject({ ports: [{ port: 80 }] });
  expect(port('80')).toBe(first);
  expect(port('81')).toMatchObject({ ports: [{ port: 81 }] });
});

test('configuration: defaults, names, and settings of a file that has none', () => {
  const { configuration, problems } = loadConfiguration(
    kindDeclarations,
    'apiVersion: portolan/v1\nkind: Platform\nspec: { url: "https://console.example.com" }\n',
    'portolan.yaml',
  );
  expect(problems).toEqual([]);
  expect(configuration.platforms.get('default')).toEqual({
    url: 'https://console.example.com',
    dialect: 'auto',
    limits: { concurrency: 16, requestsPerSecond: 50, timeoutMs: 30_000 },
    allowPlainHttp: false,
  });
  expect(configuration.settings).toEqual(defaultSettings());
  expect(configuration.settings).toMatchObject({
    scopes: { allow: ['*/*/*'] },
    prune: { enabled: true, maxObjects: 10 },
    settle: { targetStateMs: 90_000, creationMs: 300_000, installMs: 1_200_000 },
    installs: { ambiguous: 'hold' },
    source: { signatures: { by: 'nobody' } },
    notifications: { receivers: [], rules: [] },
    telemetry: { traces: { headers: [], sampleShare: 1 } },
  });
});

test.for([
  ['{ by: ssh }', 'spec.source.signatures'],
  ['{ by: gpg }', 'spec.source.signatures'],
  ['{ by: ssh, keys: allowed_signers }', 'spec.source.signatures.keys'],
] as const)(
  'signatures %s are refused: whose keys are good is not said, or by the checkout itself',
  ([policy, path]) => {
    const text = `apiVersion: portolan/v1\nkind: Settings\nspec: { source: { signatures: ${policy} } }\n`;
    expect(loadConfiguration(kindDeclarations, text, 'portolan.yaml').problems).toMatchObject([
      { code: 'settings/signers', path },
    ]);
  },
);

test.for(['http://127.0.0.1:7070', 'http://localhost:7070', 'http://[::1]:7070', 'https://console.example.com/base'])(
  '%s needs no permission',
  (url) => {
    const text = `apiVersion: portolan/v1\nkind: Platform\nspec: { url: "${url}" }\n`;
    expect(renderProblems(loadConfiguration(kindDeclarations, text, 'portolan.yaml').problems, { color: false })).toBe(
      '',
    );
  },
);

test('plain http to another machine needs a word of permission', () => {
  const text = (more: string) => `apiVersion: portolan/v1\nkind: Platform\nspec: { url: "http://10.0.0.5"${more} }\n`;
  expect(loadConfiguration(kindDeclarations, text(''), 'p.yaml').problems.map(({ code }) => code)).toEqual([
    'schema/plain-http',
  ]);
  expect(loadConfiguration(kindDeclarations, text(', allowPlainHttp: true'), 'p.yaml').problems).toEqual([]);
});

test('colour only changes the colour', () => {
  const { problems } = load('kind: Componant\n');
  const coloured = renderProblems(problems, { color: true });
  // oxlint-disable-next-line eslint/no-control-regex -- It is what colour is made of.
  expect(coloured.replace(/\u001b\[[0-9;]*m/g, '')).toBe(renderProblems(problems, { color: false }));
  expect(coloured).toContain('\u001b[1;31merror');
});

test('ten thousand documents in one load', () => {
  const files = Array.from({ length: 10_000 }, (_, index) => ({
    path: `${index}.yaml`,
    content: component('ports: [ { port: 8080, protocol: http, alias: WEB, inner: true, outer: true } ]')
      .replace('shop-web', `c-${index}`)
      .replace(serviceId, `s-${index}`),
  }));
  files.push({ path: 'app.yaml', content: application });
  const before = process.cpuUsage();
  const { desired, problems } = loadManifests({ kinds: kindDeclarations, files });
  expect(problems).toEqual([]);
  expect(desired.size).toBe(10_001);
  // About three seconds of processor time; a quadratic step would take minutes.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(60_000);
});

test('a name that every object of JavaScript has is a name like another, and a map has no names but its own', () => {
  const { desired, problems } = load(
    `${application}---\n${component('', 'toString: "a", valueOf: "b", hasOwnProperty: "c"')}`,
  );
  expect(renderProblems(problems, { color: false })).toBe('');
  const annotations = desired.get('Component/shop-web')?.annotations ?? {};
  expect(Object.entries(annotations)).toEqual([
    ['toString', 'a'],
    ['valueOf', 'b'],
    ['hasOwnProperty', 'c'],
  ]);
  const spec = desired.get('Component/shop-web')?.spec as object;
  expect('isPrototypeOf' in annotations || 'constructor' in spec || '__proto__' in spec).toBe(false);
});
