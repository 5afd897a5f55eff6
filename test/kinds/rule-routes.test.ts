import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { weightWarnings } from '../../src/kinds/http-gateway-rule/weights.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { folderOf } from '../cli/platform.ts';
import { runHere } from '../cli/running.ts';

const shop = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: team-a, region: region-1, appId: 42 }
${['web', 'api']
  .map(
    (name, at) => `---
apiVersion: portolan/v1
kind: Component
metadata: { name: ${name} }
spec: { application: shop, serviceId: ${'ab'.charAt(at).repeat(32)}, ports: [{ port: 8080, inner: true, outer: true }] }
`,
  )
  .join('')}`;

const rule = (name: string, spec: string): string => `---
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: ${name} }
spec: { application: shop, port: 8080, domain: g.example.com, ${spec} }
`;

const load = (...rules: readonly string[]) =>
  loadManifests({
    kinds: kindDeclarations,
    files: [{ path: 'shop.yaml', content: Buffer.from([shop, ...rules].join('')) }],
  });

test('one domain and path may lead to several components, as http and as https', () => {
  const { problems, desired } = load(
    rule('a', 'component: web, weight: 70'),
    rule('b', 'component: api, weight: 30'),
    rule('c', 'component: web, certificateId: 7'),
  );
  expect(problems).toEqual([]);
  expect([...weightWarnings(desired)]).toEqual([]);
});

test.for([
  ['', ''],
  ['certificateId: 7', 'certificateId: 8'],
  ['', 'path: /, cookie: beta=1'],
])('two rules that are one to the platform are a fault: %j and %j', ([one, other]) => {
  const { problems } = load(rule('a', `component: web, ${one}`), rule('b', `component: web, ${other}`));
  expect(problems.map(({ code }) => code)).toEqual(['identity/claimed-twice']);
});

test('weights that do not add up are a warning that names all of them, and no fault', async () => {
  const rules = [rule('a', 'component: web, weight: 70'), rule('b', 'component: api')];
  expect(load(...rules).problems).toEqual([]);
  const folder = folderOf({ 'shop.yaml': [shop, ...rules].join('') });
  const run = await runHere(['validate', '-f', join(folder, 'shop.yaml')]);
  expect(run.code).toBe(0);
  expect(run.err).toContain(
    'warning: the weights of g.example.com/ add up to 170, not to 100: HttpGatewayRule/a 70, HttpGatewayRule/b 100.',
  );
});
