import { expect, test } from 'vitest';
import { setScene, type SceneSettings, shop, web } from './scene.ts';
import { runHere, type Run } from './running.ts';

const CLOSED = shop(
  web('ports:\n  - { port: 8080, protocol: http, inner: false }'),
  `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: www }
spec: { application: shop, component: shop-web, port: 8080, domain: www.example.com, certificate: main }
`,
);
const BY_NAME = `apiVersion: portolan/v1
kind: Application
metadata: { name: blog }
spec: { team: team-a, region: region-1, app: blog }
`;

/** Runs `validate` on manifests with a configuration. Nothing of it reads the platform. */
async function validated(settings: SceneSettings): Promise<Run> {
  const scene = await setScene(settings);
  const run = await runHere(['validate', ...scene.options], { env: {}, clock: scene.clock });
  expect(scene.traffic()).toEqual({ writes: [], reads: [] });
  return run;
}

test('validate says what plan refuses whatever the platform says, each with its position', async () => {
  const run = await validated({
    dialect: 'documented',
    settings: '{ scopes: { allow: ["team-b/*/*", "team-a/region-2/*"] } }',
    manifests: { 'shop.yaml': CLOSED, 'blog.yaml': BY_NAME },
  });
  expect(run.code).toBe(3);
  const faults = [...run.out.matchAll(/^error: .* \[([\w/-]+)\]\n *--> .*\/(\S+)  (\S+ \S+)$/gm)].map(([, ...facts]) =>
    facts.join(' '),
  );
  expect(faults).toEqual([
    'guard/scope blog.yaml:4:15 Application/blog spec.team',
    'application/needs-number blog.yaml:4:46 Application/blog spec.app',
    'guard/scope shop.yaml:4:15 Application/shop spec.team',
    'rule/inner-closed shop.yaml:18:55 HttpGatewayRule/www spec.port',
    'rule/certificate-unlisted shop.yaml:18:99 HttpGatewayRule/www spec.certificate',
  ]);
  expect(run.out).toContain(
    'error: Application/shop is application team-a/region-1/42, which spec.scopes.allow of Settings does not allow',
  );
  expect(run.out).toContain('ask the operator to add "team-a/region-1/42" there');
});

test.for([
  ['a pattern that matches', '*/region-1/*', 'team-a', 'valid: '],
  ['an application by name, whose number only the platform knows', 'team-a/region-1/4*', 'team-a', 'valid: '],
  ['a team by id, whose name only the platform knows', 'team-a/*/*', '0123456789abcdef0123456789abcdef', 'valid: '],
  ['a team by id in another region', 'team-a/region-2/*', '0123456789abcdef0123456789abcdef', 'guard/scope'],
] as const)('validate and scopes.allow: %s', async ([, pattern, team, result]) => {
  const run = await validated({
    settings: `{ scopes: { allow: ["${pattern}"] } }`,
    manifests: { 'blog.yaml': BY_NAME.replace('team-a', team) },
  });
  expect(run.out).toContain(result);
});
