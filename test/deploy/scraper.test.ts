/** The token with which Prometheus reads the metrics: its role is the least one that may. */
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { routes } from '../../src/server/routes/table.ts';
import { serve } from '../server/serving.ts';
import { documents, given, plain, read, rendered } from './chart.ts';
import type { Part } from './kubernetes.ts';

const charted = rendered(({ serviceMonitor }) => (serviceMonitor.enabled = true));
const [plainMonitor] = documents(read('monitoring', 'servicemonitor.yaml'));

const SETS: readonly (readonly [string, readonly Part[]])[] = [
  ['the manifests', [...plain, plainMonitor]],
  ['the chart', charted],
];

const ofKind = (objects: readonly Part[], kind: string): Part => objects.find((one) => one.kind === kind);

const PERMITTED = 'a-token-of-prometheus-0123456789';

test.for(SETS)('%s: Prometheus reads with the token of a viewer, and may command nothing', async ([, objects]) => {
  const { credentials } = ofKind(objects, 'ServiceMonitor').spec.endpoints[0].authorization;
  const { volumes } = ofKind(objects, 'Deployment').spec.template.spec;
  const { secret } = volumes.find(({ name }: Part) => name === 'secrets');
  expect(credentials.name).toBe(secret.secretName);
  const file = `/run/secrets/portolan/${secret.items.find(({ key }: Part) => key === credentials.key).path}`;
  const text = ofKind(objects, 'ConfigMap').data['portolan.yaml'] as string;
  const { configuration, problems } = loadConfiguration(kindDeclarations, text, 'portolan.yaml');
  expect(problems).toEqual([]);
  const tokens = configuration.settings.server.tokens.filter(({ value }) => 'file' in value && value.file === file);
  expect(tokens.map(({ role }) => role)).toEqual(['viewer']);

  // The server of the program with this token, and with the roles of that configuration.
  const { roles } = configuration.settings.server;
  const { ask } = await serve({ settings: { tokens, roles }, secrets: { [file]: PERMITTED } });
  const headers = { authorization: `Bearer ${PERMITTED}` };
  expect((await ask('/metrics', { headers })).status).toBe(200);
  const commands = routes.filter(({ access }) => /^(?:operate|approve|admin)/.test(access));
  expect(commands.length).toBeGreaterThan(10);
  for (const { method, path } of commands) {
    const answer = await ask(path.replaceAll(/\{\w+\}/g, 'shop'), { method, headers });
    expect(answer.status, `${method} ${path}`).toBe(403);
  }
});

test('the command of the page creates every key that the manifests and the chart refer to', () => {
  const [, command = ''] = /(create secret generic portolan \\\n[^`]*)```/.exec(read('README.md')) ?? [];
  const created = [...command.matchAll(/--from-file=([\w-]+)=/g)].map(([, key]) => key);
  for (const objects of [plain, rendered()]) {
    const { volumes } = ofKind(objects, 'Deployment').spec.template.spec;
    const keys = volumes.flatMap(({ secret }: Part) => secret?.items ?? []).map(({ key }: Part) => key as string);
    expect(created.toSorted()).toEqual(keys.toSorted());
  }
  expect(given.serviceMonitor.tokenKey).toBe('metrics-token');
});
