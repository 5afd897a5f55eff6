/**
 * Neither Helm nor a cluster nor a container engine reads these files here: they are parsed, held to rules of ours, and
 * the chart is rendered by the few lines of helm.ts.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { readOverrides } from '../../src/configuration/overrides.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { DEPLOY, documents, kustomization, plain, read, rendered } from './chart.ts';
import { type Part, pinned, RULES } from './kubernetes.ts';

const SETS: readonly (readonly [string, () => readonly Part[]])[] = [
  ['the manifests', () => plain],
  ['the chart', () => rendered()],
  ['the chart for a public repository', () => rendered(({ git }) => (git.passwordKey = ''))],
  ['the chart with an ingress', () => throughIngress('/portolan')],
  ['the chart with TLS', () => rendered(({ tls }) => (tls.secretName = 'portolan-tls'))],
  [
    'the chart with a class of storage and no policy',
    () =>
      rendered(({ ledger, networkPolicy }) => {
        ledger.storageClassName = 'fast';
        networkPolicy.enabled = false;
      }),
  ],
];

test.for(SETS.flatMap(([set, objects]) => RULES.map(([rule, check]) => [set, rule, objects, check] as const)))(
  '%s: %s',
  ([, , objects, check]) => {
    expect(check(objects())).toEqual([]);
  },
);

/** One thing wrong, and the rule that says so: else the rules might see nothing. */
test.for<[string, (deployment: Part) => void, string]>([
  ['two replicas', ({ spec }) => (spec.replicas = 2), 'two may run at once'],
  ['rolling', ({ spec }) => (spec.strategy = { type: 'RollingUpdate' }), 'two may run at once'],
  ['root', ({ spec }) => (spec.template.spec.securityContext.runAsUser = 0), 'the pod may run as root'],
  ['no class', ({ spec }) => delete spec.template.spec.securityContext.seccompProfile, 'the pod may run as root'],
  [
    'a writable root',
    ({ spec }) => delete spec.template.spec.containers[0].securityContext.readOnlyRootFilesystem,
    'portolan is not confined',
  ],
  ['latest', ({ spec }) => (spec.template.spec.containers[0].image = 'portolan:latest'), 'portolan: portolan:latest'],
  [
    'no limit',
    ({ spec }) => delete spec.template.spec.initContainers[0].resources.limits,
    'git-sync does not say what it needs',
  ],
  [
    'a host path',
    ({ spec }) => (spec.template.spec.volumes[1] = { name: 'git', hostPath: {} }),
    'a path of the host is mounted',
  ],
  ['a lost volume', ({ spec }) => spec.template.spec.volumes.shift(), 'state is no volume'],
  [
    'links of services',
    ({ spec }) => delete spec.template.spec.enableServiceLinks,
    'variables of services may be taken for ours',
  ],
  [
    'a probe elsewhere',
    ({ spec }) => (spec.template.spec.containers[0].livenessProbe.httpGet.path = '/'),
    'a probe is missing or looks elsewhere',
  ],
  ['a short end', ({ spec }) => (spec.template.spec.terminationGracePeriodSeconds = 45), 'it is killed too early'],
  ['other labels', ({ spec }) => (spec.template.metadata.labels = {}), 'Service selects other pods'],
  ['another account', ({ spec }) => (spec.template.spec.serviceAccountName = 'x'), 'there is no ServiceAccount/x'],
])('the rules see %s', ([, change, wrong]) => {
  const objects = structuredClone(plain);
  change(objects.find(({ kind }) => kind === 'Deployment'));
  expect(RULES.flatMap(([, check]) => check(objects))).toContain(wrong);
});

test.for<[string, (egress: Part) => void, string]>([
  ['an open port', ([, out]) => delete out.ports, 'a rule lets everything through'],
  ['the metadata', ([, out]) => delete out.to[0].ipBlock.except, 'the metadata of the machine can be reached'],
  ['the metadata of IPv6', ([, out]) => out.to[1].ipBlock.except.shift(), 'the metadata of the machine can be reached'],
  ['one kind of addresses', ([, out]) => out.to.pop(), 'one kind of addresses is closed'],
])('the rules see a policy of the network with %s', ([, change, wrong]) => {
  const objects = structuredClone(plain);
  change(objects.find(({ kind }) => kind === 'NetworkPolicy').spec.egress);
  expect(RULES.flatMap(([, check]) => check(objects))).toContain(wrong);
});

test('every file of the folder is in the kustomization, and every kind is there in both', () => {
  const files = readdirSync(join(DEPLOY, 'kubernetes')).filter((file) => file !== 'kustomization.yaml');
  expect([...kustomization.resources].sort()).toEqual(files.sort());
  const kinds = (objects: readonly Part[]): string[] => objects.map(({ kind }) => kind as string).sort();
  expect(kinds(plain)).toEqual([
    'ConfigMap',
    'Deployment',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'PodDisruptionBudget',
    'Service',
    'ServiceAccount',
  ]);
  expect(kinds(rendered())).toEqual(kinds(plain));
});

const throughIngress = (path = '/') =>
  rendered(({ ingress }) => {
    ingress.enabled = true;
    ingress.path = path;
    ingress.annotations['example.com/a'] = 'b';
  });
const envOf = (objects: readonly Part[]): Readonly<Record<string, string>> => {
  const { containers } = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec;
  return Object.fromEntries(containers[0].env.map(({ name, value }: Part) => [name, value]));
};

test('the ingress of the chart leads to the service, tells the server its address, and is let in', () => {
  const objects = throughIngress('/portolan');
  const ingress = objects.find(({ kind }) => kind === 'Ingress');
  expect(ingress.metadata.annotations).toEqual({
    'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
    'nginx.ingress.kubernetes.io/proxy-body-size': '8m',
    'nginx.ingress.kubernetes.io/affinity': 'cookie',
    'example.com/a': 'b',
  });
  expect(ingress.spec.rules[0].http.paths[0]).toMatchObject({ path: '/portolan', pathType: 'Prefix' });
  expect(envOf(objects)['PORTOLAN_SET_SERVER_PUBLIC_URL']).toBe('https://portolan.example.com/portolan');
  const { ingress: allowed } = objects.find(({ kind }) => kind === 'NetworkPolicy').spec;
  expect(allowed[0].from).toContainEqual({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } },
  });
  // Without an ingress, only pods with the label are let in.
  expect(rendered().find(({ kind }) => kind === 'NetworkPolicy').spec.ingress[0].from).toHaveLength(1);
});

test('the example of an ingress is that of the chart, and refers to the manifests', () => {
  const [example] = documents(read('ingress.yaml'));
  const ofChart = throughIngress().find(({ kind }) => kind === 'Ingress');
  expect(example.spec).toEqual(JSON.parse(JSON.stringify(ofChart.spec).replaceAll('"charted"', '"portolan"')));
  expect({ ...example.metadata.annotations, 'example.com/a': 'b' }).toEqual(ofChart.metadata.annotations);
  expect(example.metadata.namespace).toBe(kustomization.namespace);
  const service = plain.find(({ kind }) => kind === 'Service');
  const backend = example.spec.rules[0].http.paths[0].backend.service;
  expect(backend.name).toBe(service.metadata.name);
  expect(service.spec.ports.map(({ name }: Part) => name)).toContain(backend.port.name);
});

test('one value of the chart disables the dashboard, which is on by default', () => {
  expect(envOf(rendered())).not.toHaveProperty('PORTOLAN_SET_SERVER_DASHBOARD');
  const off = envOf(rendered(({ dashboard }) => (dashboard.enabled = false)));
  expect(off['PORTOLAN_SET_SERVER_DASHBOARD']).toBe('false');
  // Both variables are settings that the program knows.
  const { PORTOLAN_SET_SERVER_PUBLIC_URL: address = '' } = envOf(throughIngress());
  const variables = {
    PORTOLAN_SET_SERVER_DASHBOARD: 'false',
    PORTOLAN_SET_SERVER_PUBLIC_URL: address,
  };
  const text = rendered().find(({ kind }) => kind === 'ConfigMap').data['portolan.yaml'] as string;
  const { configuration, problems } = loadConfiguration(
    kindDeclarations,
    text,
    'portolan.yaml',
    readOverrides([], variables),
  );
  expect(problems).toEqual([]);
  expect(configuration.settings.server).toMatchObject({ dashboard: false, publicUrl: 'https://portolan.example.com/' });
});

test('the chart renders to the manifests, but for the release in names and labels', () => {
  const same = rendered(({ git, configuration: _ }) => (git.ref = 'main')).map((one) => {
    const text = JSON.stringify(one)
      .replaceAll('"charted"', '"portolan"')
      .replaceAll(',"app.kubernetes.io/instance":"portolan"', '')
      .replaceAll(',"annotations":{"helm.sh/resource-policy":"keep"}', '');
    return JSON.parse(text) as Part;
  });
  const byKind = (objects: readonly Part[]) =>
    Object.fromEntries(objects.filter(({ kind }) => kind !== 'ConfigMap').map((one) => [one.kind, one]));
  expect(byKind(same)).toEqual(byKind(plain));
});

test('what the chart cannot guess must be given', () => {
  expect(() => rendered(({ image }) => (image.repository = ''))).toThrow(
    'image.repository: where the image was pushed',
  );
  expect(() => rendered(({ git }) => (git.repo = ''))).toThrow('git.repo: the repository with the manifests');
});

const configurations: readonly (readonly [string, () => string])[] = [
  ['the manifests', () => plain.find(({ kind }) => kind === 'ConfigMap').data['portolan.yaml']],
  ['the chart', () => rendered().find(({ kind }) => kind === 'ConfigMap').data['portolan.yaml']],
  ['compose', () => read('compose', 'portolan.yaml')],
];

test.for(configurations)('the configuration of %s has no fault, and its server can be probed', ([name, text]) => {
  const { configuration, problems } = loadConfiguration(kindDeclarations, text(), 'portolan.yaml');
  expect(problems).toEqual([]);
  expect(configuration.platforms.size).toBe(1);
  expect(configuration.settings.server.listen).toBe('0.0.0.0:7780');
  expect(configuration.settings.server.tokens.length).toBeGreaterThan(0);
  if (name === 'compose') return;
  const secrets = JSON.stringify([...configuration.platforms.values(), configuration.settings]).matchAll(
    /"file":"([^"]+)"/g,
  );
  // Every file that it refers to is mounted.
  const { volumes } = plain.find(({ kind }) => kind === 'Deployment').spec.template.spec;
  const items: string[] = volumes
    .find((volume: Part) => volume.name === 'secrets')
    .secret.items.map(({ path }: Part) => path);
  for (const [, file = ''] of secrets) expect(items).toContain(file.replace('/run/secrets/portolan/', ''));
});

test('git-sync reads a changed password without a restart, which versions before 4.6 do not', () => {
  const images = [plain, rendered()].map((objects) => {
    const { initContainers } = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec;
    return initContainers[0].image as string;
  });
  for (const image of images) {
    const [, major, minor] = /git-sync:v(\d+)\.(\d+)\.\d+$/.exec(image) ?? [];
    expect([Number(major), Number(minor) >= 6], image).toEqual([4, true]);
  }
});

test('the sidecar and Portolan see the checkout under one path, and git-sync fetches the whole history', () => {
  const { initContainers, containers } = plain.find(({ kind }) => kind === 'Deployment').spec.template.spec;
  const [sync] = initContainers;
  const [portolan] = containers;
  const path = (one: Part): string => one.volumeMounts.find(({ name }: Part) => name === 'git').mountPath;
  expect(path(portolan)).toBe(path(sync));
  expect(sync.restartPolicy).toBe('Always');
  expect(sync.args).toContain('--depth=0');
  const value = (name: string): string => portolan.env.find((one: Part) => one.name === name).value;
  expect(value('PORTOLAN_FILENAME')).toBe('/git/current/manifests');
  const config = portolan.volumeMounts.find(({ name }: Part) => name === 'config').mountPath as string;
  expect(value('PORTOLAN_CONFIG')).toBe(`${config}/portolan.yaml`);
});

test('compose: two confined services of one image, the API on this machine alone', () => {
  const { services, volumes } = parse(read('compose.yaml')) as Part;
  expect(Object.keys(services).sort()).toEqual(['portolan', 'sandbox']);
  for (const [name, service] of Object.entries<Part>(services)) {
    expect(service, name).toMatchObject({
      image: 'portolan:local',
      user: '1000:1000',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
    });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const volume of service.volumes) {
      const [from, , mode] = volume.split(':');
      if (!from.startsWith('.')) expect(Object.keys(volumes)).toContain(from);
      else {
        expect(mode).toBe('ro');
        expect(() => readdirSync(join(DEPLOY, from, '..'))).not.toThrow();
      }
    }
  }
  // The sandbox listens on 127.0.0.1 alone, so they share a network.
  expect(services.portolan.network_mode).toBe('service:sandbox');
  expect(services.portolan.environment.PORTOLAN_TOKEN).toBe(SANDBOX_TOKEN);
  expect(services.portolan.environment.PORTOLAN_API_TOKEN).toMatch(/^\$\{PORTOLAN_API_TOKEN:\?/);
});

test.for([
  ['portolan', false],
  ['portolan:latest', false],
  ['portolan:1', false],
  ['portolan:1.2', true],
  ['registry.example.com:5000/portolan', false],
  ['node:24.21.0-bookworm-slim', true],
  [`portolan@sha256:${'a'.repeat(64)}`, true],
] as const)('%s is pinned: %s', ([image, isPinned]) => {
  expect(pinned('it', image)).toHaveLength(isPinned ? 0 : 1);
});
