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
    roles: [],
    sessions: { idleMs: 7_200_000, lifetimeMs: 43_200_000, max: 1_000 },
    webhooks: [],
    metrics: { public: false },
    maxStreams: 128,
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
  [
    'OpenID Connect without a public address',
    '{ oidc: { issuer: "https://login.example.com", clientId: portolan } }',
    'settings/oidc-without-public-url',
    'spec.server.oidc',
  ],
  [
    'a provider at a metadata address',
    '{ publicUrl: "https://p.example.com", oidc: { issuer: "https://169.254.169.254", clientId: portolan } }',
    'settings/forbidden-address',
    'spec.server.oidc.issuer',
  ],
  [
    'a provider of plain http',
    '{ publicUrl: "https://p.example.com", oidc: { issuer: "http://login.example.com", clientId: portolan } }',
    'schema/plain-http',
    'spec.server.oidc.issuer',
  ],
  [
    'a public address of plain http',
    '{ publicUrl: "http://p.example.com" }',
    'schema/plain-http',
    'spec.server.publicUrl',
  ],
  [
    'a scope that is two',
    '{ publicUrl: "https://p.example.com", oidc: { issuer: "https://l.example.com", clientId: p, scopes: ["a b"] } }',
    'schema/pattern',
    'spec.server.oidc.scopes[0]',
  ],
  [
    'a session that is never idle for long',
    '{ sessions: { idle: 13h } }',
    'settings/idle-session',
    'spec.server.sessions.idle',
  ],
  ['an endless session', '{ sessions: { lifetime: 721h } }', 'schema/duration', 'spec.server.sessions.lifetime'],
  [
    'a role for a token that does not exist',
    '{ tokens: [{ name: a, value: { env: A } }], roles: [{ role: viewer, tokens: [a, b] }] }',
    'settings/unknown-token',
    'spec.server.roles[0].tokens[1]',
  ],
  [
    'a role for users without a provider',
    '{ roles: [{ role: viewer, users: [ann] }] }',
    'settings/binding-without-provider',
    'spec.server.roles[0].users',
  ],
  ['a role for no caller', '{ roles: [{ role: viewer }] }', 'settings/empty-binding', 'spec.server.roles[0]'],
  ...[
    'team-a/*/*',
    'default/team-a/region-1/shop',
    'default/team-a/region-1/0',
    'default/team a/*/*',
    'default//*/*',
    'a/b/c/d/1',
  ].map(
    (pattern) =>
      [
        `the pattern ${pattern}`,
        `{ tokens: [{ name: a, value: { env: A } }], roles: [{ role: viewer, tokens: [a], applications: ["*/*/*/*", "${pattern}"] }] }`,
        'schema/pattern',
        'spec.server.roles[0].applications[1]',
      ] as const,
  ),
  [
    'a pattern of a platform that does not exist',
    '{ tokens: [{ name: a, value: { env: A } }], roles: [{ role: viewer, tokens: [a], applications: ["*/*/*/*", "other/*/*/*"] }] }',
    'settings/binding-platform',
    'spec.server.roles[0].applications[1]',
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

test('a client secret that stands there itself is refused, and not repeated', () => {
  const { problems } = load(
    '{ publicUrl: "https://p.example.com", oidc: { issuer: "https://l.example.com", clientId: p, clientSecret: hunter2-hunter2 } }',
  );
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
});
