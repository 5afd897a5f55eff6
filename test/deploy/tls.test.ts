/** TLS in the controller itself: as a value of the chart, and as a component of the kustomization. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, relative, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { readOverrides } from '../../src/configuration/overrides.ts';
import { temporaryFolder } from '../cli/platform.ts';
import { selfSigned } from '../platform/self-signed.ts';
import { serve, TOKENS } from '../server/serving.ts';
import { DEPLOY, documents, given, kustomization, plain, read, rendered } from './chart.ts';
import { execForm, stagesOf, textsOf } from './containerfile.ts';
import type { Part } from './kubernetes.ts';
import { patched } from './kustomize.ts';

const SECRET = 'portolan-internal-tls';
const component = parse(read('kubernetes-tls', 'kustomization.yaml')) as Part;
const charted = (change: (values: Part) => void = () => {}): Part[] =>
  rendered((values) => {
    values.tls.secretName = SECRET;
    values.serviceMonitor.enabled = true;
    values.ingress.enabled = true;
    change(values);
  });
const ofKind = (objects: readonly Part[], kind: string): Part => objects.find((one) => one.kind === kind);
const podOf = (objects: readonly Part[]): Part => ofKind(objects, 'Deployment').spec.template.spec;

const SETS: readonly (readonly [string, () => readonly Part[]])[] = [
  ['the manifests with the component', () => patched(plain, component.patches)],
  ['the chart', () => charted()],
];

test.for(SETS)('%s: the controller gets the certificate, and is probed over HTTPS', ([, objects]) => {
  const { containers, volumes } = podOf(objects());
  const [portolan] = containers;
  for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(portolan[name].httpGet, name).toMatchObject({ port: 'http', scheme: 'HTTPS' });
  // The configuration of these objects with these variables, as the program reads both.
  const variables = Object.fromEntries(portolan.env.map(({ name, value }: Part) => [name, value])) as Record<
    string,
    string
  >;
  const text = ofKind(objects(), 'ConfigMap').data['portolan.yaml'] as string;
  const overrides = readOverrides([], variables);
  const { configuration, problems } = loadConfiguration(kindDeclarations, text, 'portolan.yaml', overrides);
  expect(problems).toEqual([]);
  const { mountPath } = portolan.volumeMounts.find(({ name }: Part) => name === 'tls');
  const { secret } = volumes.find(({ name }: Part) => name === 'tls');
  expect(secret.secretName).toBe(SECRET);
  const pathOf = (wanted: string): string =>
    `${mountPath}/${secret.items.find(({ key }: Part) => key === wanted).path}`;
  expect(configuration.settings.server.tls).toEqual({ certFile: pathOf('tls.crt'), keyFile: pathOf('tls.key') });
});

test('without the value, the chart uses plain HTTP everywhere', () => {
  const objects = charted(({ tls }) => (tls.secretName = ''));
  expect(JSON.stringify(objects)).not.toMatch(/tls\.crt|SERVER_TLS|"scheme"|tlsConfig|backend-protocol/);
  expect(given.tls.secretName).toBe('');
});

test('the chart with TLS and the component are the same deployment', () => {
  const same = ofKind(
    charted(({ ingress }) => (ingress.enabled = false)),
    'Deployment',
  );
  const text = JSON.stringify(same)
    .replaceAll('"charted"', '"portolan"')
    .replaceAll(',"app.kubernetes.io/instance":"portolan"', '');
  expect(JSON.parse(text)).toEqual(ofKind(patched(plain, component.patches), 'Deployment'));
});

test('Prometheus and the ingress reach a controller with TLS, and Prometheus checks its name', async () => {
  const objects = charted();
  const { annotations } = ofKind(objects, 'Ingress').metadata;
  expect(annotations['nginx.ingress.kubernetes.io/backend-protocol']).toBe('HTTPS');
  const [endpoint] = ofKind(objects, 'ServiceMonitor').spec.endpoints;
  expect(endpoint).toMatchObject({
    scheme: 'https',
    tlsConfig: { serverName: 'charted.apps.svc', ca: { secret: { name: SECRET, key: 'ca.crt' } } },
  });
  const [publicly] = ofKind(
    charted(({ tls }) => (tls.caKey = '')),
    'ServiceMonitor',
  ).spec.endpoints;
  expect(publicly.tlsConfig).toEqual({ serverName: 'charted.apps.svc' });

  // As Prometheus does: to an address, with the name of the ServiceMonitor.
  const scrape = async (host: string): Promise<number | string | undefined> => {
    const { url, close, ca } = await controllerFor([host]);
    const headers = { authorization: `Bearer ${TOKENS.viewer}` };
    const { serverName: servername } = endpoint.tlsConfig;
    const result = await new Promise<number | string | undefined>((done) => {
      request(`${url}/metrics`, { ca, servername, headers, agent: false }, (response) => {
        response.resume();
        done(response.statusCode);
      })
        .on('error', (error: NodeJS.ErrnoException) => done(error.code))
        .end();
    });
    await close();
    return result;
  };
  expect(await scrape('charted.apps.svc')).toBe(200);
  expect(await scrape('another.apps.svc')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
});

test('the name in the certificate is one that the server accepts, and its secret is not that of the ingress', () => {
  const certified = `${ofKind(plain, 'Service').metadata.name}.${kustomization.namespace}.svc`;
  const texts = [given.configuration as string, ofKind(plain, 'ConfigMap').data['portolan.yaml'] as string];
  for (const text of texts) {
    const { configuration } = loadConfiguration(kindDeclarations, text, 'portolan.yaml');
    expect(configuration.settings.server.hosts).toContain(certified);
  }
  const [example] = documents(read('ingress.yaml')) as [Part];
  for (const { spec } of [example, ofKind(charted(), 'Ingress')]) expect(spec.tls[0].secretName).not.toBe(SECRET);
  expect(read('ingress.yaml')).toContain('# nginx.ingress.kubernetes.io/backend-protocol: HTTPS\n');
});

test('the ServiceMonitor is in the namespace of its service, and the chart gives it the labels of an operator', () => {
  const [monitor] = documents(read('monitoring', 'servicemonitor.yaml')) as [Part];
  expect(monitor.metadata.namespace).toBe(kustomization.namespace);
  const labels = { release: 'prometheus' };
  const { metadata } = ofKind(
    charted(({ serviceMonitor }) => (serviceMonitor.labels = labels)),
    'ServiceMonitor',
  );
  expect(metadata.labels).toEqual({ ...ofKind(charted(), 'ServiceMonitor').metadata.labels, ...labels });
});

test('the ServiceMonitor for the manifests has the lines about TLS of the chart, as comments', () => {
  const text = read('monitoring', 'servicemonitor.yaml').replaceAll(/^( +)# (scheme|tlsConfig):/gm, '$1$2:');
  const [{ spec }] = documents(text) as [Part];
  const [ofChart] = ofKind(charted(), 'ServiceMonitor').spec.endpoints;
  const release = ofKind(plain, 'Service').metadata.name as string;
  const serverName = `${release}.${kustomization.namespace}.svc`;
  expect(spec.endpoints[0].scheme).toBe(ofChart.scheme);
  expect(spec.endpoints[0].tlsConfig).toEqual({ ...ofChart.tlsConfig, serverName });
});

test('the schema of the chart takes the name of a secret only', () => {
  const valid = new Ajv({ strict: false }).compile(JSON.parse(read('helm/values.schema.json')));
  const isTaken = (tls: Part): boolean => {
    const values = structuredClone(given);
    values.image.repository = 'registry.example.com/portolan';
    values.git.repo = 'https://git.example.com/acme/shop.git';
    values.tls = tls;
    return valid(values);
  };
  for (const tls of [{ secretName: '' }, { secretName: SECRET, caKey: '' }]) expect(isTaken(tls)).toBe(true);
  for (const tls of [{}, { secretName: 'Portolan/TLS' }, { secretName: SECRET, certFile: '/x' }, SECRET])
    expect(isTaken(tls), JSON.stringify(tls)).toBe(false);
});

/** A server of the program with a certificate for these names, which nothing else trusts. */
async function controllerFor(hosts: readonly string[]) {
  const folder = temporaryFolder();
  const { certPem, keyPem } = selfSigned(hosts);
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  writeFileSync(tls.certFile, certPem);
  writeFileSync(tls.keyFile, keyPem);
  return { ...(await serve({ settings: { tls } })), ca: certPem };
}

/** Runs the health check of the image, with another default port. @returns its exit code, and what it wrote. */
async function checkHealth(url: string, env: Readonly<Record<string, string>>) {
  const image = stagesOf(readFileSync('Dockerfile', 'utf8')).at(-1) ?? [];
  const [, command = ''] = /CMD (\[.*\])/.exec(textsOf(image, 'HEALTHCHECK')[0] ?? '') ?? [];
  expect(command).toContain(':7780/');
  const [, ...args] = execForm(command.replaceAll(':7780/', `:${new URL(url).port}/`));
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...env } });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (written += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, written };
}

test('the health check of the image finds a controller with TLS, and one without', async () => {
  const withTls = await controllerFor([]);
  expect(await checkHealth(withTls.url, {})).toEqual({ code: 0, written: '' });
  const named = { PORTOLAN_HEALTH_URL: `${withTls.url}/healthz` };
  expect(await checkHealth(withTls.url, named)).toEqual({ code: 0, written: '' });
  const plainly = { PORTOLAN_HEALTH_URL: `${withTls.url.replace('https:', 'http:')}/healthz` };
  expect((await checkHealth(withTls.url, plainly)).code, 'another address is not tried').toBe(1);
  // Its log does not grow by these checks.
  expect(withTls.said.filter((line) => !/^debug|listening/.test(line))).toEqual([]);
  const without = await serve();
  expect(await checkHealth(without.url, {})).toEqual({ code: 0, written: '' });
  await without.close();
  expect((await checkHealth(without.url, {})).code).toBe(1);
});

const hasKubectl = spawnSync('kubectl', ['version', '--client']).error === undefined;

test.runIf(hasKubectl).for(['kubernetes', 'kubernetes-postgres'])('kubectl adds the component to %s', (base) => {
  const folder = temporaryFolder();
  const pathOf = (name: string): string => relative(folder, resolve(DEPLOY, name));
  writeFileSync(
    join(folder, 'kustomization.yaml'),
    `resources: ["${pathOf(base)}"]\ncomponents: ["${pathOf('kubernetes-tls')}"]\n`,
  );
  const built = documents(execFileSync('kubectl', ['kustomize', folder]).toString());
  const expected = podOf(patched(plain, component.patches));
  const { containers, volumes } = podOf(built);
  expect(volumes).toContainEqual(expected.volumes.at(-1));
  expect(containers[0].readinessProbe).toEqual(expected.containers[0].readinessProbe);
  expect(containers[0].env).toEqual(expect.arrayContaining(expected.containers[0].env));
});
