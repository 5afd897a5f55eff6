import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { defaultSettings, loadConfiguration } from '../../src/configuration/configuration.ts';

/** The configuration that has this `spec.server`. */
function load(server: string) {
  return loadConfiguration(
    kindDeclarations,
    `apiVersion: portolan/v1\nkind: Settings\nspec:\n  server: ${server}\n`,
    'portolan.yaml',
  );
}

test('by default it listens on this machine only, and opens to nobody', () => {
  expect(defaultSettings().server).toEqual({
    listen: '127.0.0.1:7780',
    connectionsPerAddress: 256,
    planRequests: 6_000,
    trustedProxies: [],
    hosts: [],
    tokens: [],
    webhooks: [],
    metrics: { public: false },
    maxStreams: 32,
  });
});

test('tokens and webhooks take their secrets by reference', () => {
  const { configuration, problems } = load(
    '{ listen: "[::]:0", tokens: [{ name: ci, role: viewer, value: { env: CI } }], webhooks: [{ name: hub, type: github, secret: { file: /s } }] }',
  );
  expect(problems).toEqual([]);
  expect(configuration.settings.server).toMatchObject({
    listen: '[::]:0',
    tokens: [{ name: 'ci', role: 'viewer', value: { env: 'CI' } }],
    webhooks: [{ name: 'hub', type: 'github', secret: { file: '/s' } }],
  });
});

test.for([
  ['a port that is none', '{ listen: "127.0.0.1:65536" }', 'settings/listen', 'spec.server.listen'],
  ['no port', '{ listen: localhost }', 'schema/pattern', 'spec.server.listen'],
  [
    'two of a name',
    '{ tokens: [{ name: a, role: viewer, value: { env: A } }, { name: a, role: admin, value: { env: B } }] }',
    'settings/double-name',
    'spec.server.tokens[1].name',
  ],
  [
    'a role that is none',
    '{ tokens: [{ name: a, role: root, value: { env: A } }] }',
    'schema/enum',
    'spec.server.tokens[0].role',
  ],
  ['half of TLS', '{ tls: { certFile: /c } }', 'schema/missing-field', 'spec.server.tls'],
] as const)('%s is refused', ([, server, code, path]) => {
  expect(load(server).problems.map((problem) => [problem.code, problem.path])).toEqual([[code, path]]);
});

test('a token that stands there itself is refused, and not repeated', () => {
  const { problems } = load('{ tokens: [{ name: a, role: viewer, value: hunter2-hunter2-hunter2 }] }');
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
});
