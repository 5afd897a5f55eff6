/** Several replicas with the ledger in PostgreSQL: the differences from one replica, as kustomization and as values of the chart. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { runHere } from '../cli/running.ts';
import { DEPLOY, documents, given, plain, read, rendered } from './chart.ts';
import { type Part, RULES } from './kubernetes.ts';
import { patched } from './kustomize.ts';

const overlay = parse(read('kubernetes-postgres', 'kustomization.yaml')) as Part;
const replicated: readonly Part[] = patched(plain, overlay.patches);

const postgres = (ledger: Part): void => void (ledger.postgres.host = 'db.example.com');
const charted = (change: (values: Part) => void = () => {}): Part[] =>
  rendered((values) => {
    postgres(values.ledger);
    change(values);
  });

const SETS: readonly (readonly [string, () => readonly Part[]])[] = [
  ['the manifests', () => replicated],
  ['the chart', () => charted()],
  ['the chart with five replicas, another port and a public CA', () => charted(fiveReplicas)],
];

function fiveReplicas(values: Part): void {
  values.replicas = 5;
  Object.assign(values.ledger.postgres, { port: 6432, caKey: '' });
}

test.for(SETS.flatMap(([set, objects]) => RULES.map(([rule, check]) => [set, rule, objects, check] as const)))(
  '%s: %s',
  ([, , objects, check]) => {
    expect(check(objects())).toEqual([]);
  },
);

const ledgerOf = (deployment: Part): Part =>
  deployment.spec.template.spec.containers[0].env.find(({ name }: Part) => name === 'PORTOLAN_LEDGER');

/** One thing wrong, and the rule that says so: else the rules might see nothing. */
test.for<[string, (deployment: Part) => void, string]>([
  ['one replica', ({ spec }) => (spec.replicas = 1), 'only one runs'],
  ['no surge', ({ spec }) => (spec.strategy.rollingUpdate.maxSurge = 0), 'an old one ends before a new one is ready'],
  ['one node', ({ spec }) => delete spec.template.spec.affinity, 'all may run on one node'],
  ['one zone', ({ spec }) => delete spec.template.spec.topologySpreadConstraints, 'all may run in one zone'],
  [
    'a sudden end',
    ({ spec }) => delete spec.template.spec.containers[0].lifecycle,
    'requests reach a pod that has ended',
  ],
  ['a short end', ({ spec }) => (spec.template.spec.terminationGracePeriodSeconds = 35), 'it is killed within 30 s'],
  [
    'a volume',
    ({ spec }) => (spec.template.spec.volumes[0] = { name: 'state', persistentVolumeClaim: { claimName: 'x' } }),
    'two pods want one volume',
  ],
  [
    'no TLS',
    (one) => (ledgerOf(one).value = 'postgres://portolan@db/x?sslmode=disable'),
    'the database may be another',
  ],
  ['no password', (one) => (ledgerOf(one).value = 'postgres://portolan@db/x?sslmode=verify-full'), 'no password'],
  [
    'a password that is not mounted',
    (one) =>
      (ledgerOf(one).value = 'postgres://portolan@db/x?sslmode=verify-full&passwordFile=/run/secrets/portolan/x'),
    '/run/secrets/portolan/x is not mounted',
  ],
  [
    'the owner',
    (one) => (ledgerOf(one).value = ledgerOf(one).value.replace('portolan@', 'portolan_owner@')),
    'a controller owns the tables',
  ],
  [
    'another port',
    (one) => (ledgerOf(one).value = ledgerOf(one).value.replace(':5432', ':6432')),
    'the database cannot be reached',
  ],
])('the rules see %s', ([, change, wrong]) => {
  const objects = structuredClone(replicated) as Part[];
  change(objects.find(({ kind }) => kind === 'Deployment'));
  expect(RULES.flatMap(([, check]) => check(objects))).toContain(wrong);
});

test('the chart with a database renders to the kustomization, and has no volume of the ledger', () => {
  const byKind = (objects: readonly Part[]) =>
    Object.fromEntries(objects.filter(({ kind }) => kind !== 'ConfigMap').map((one) => [one.kind, one]));
  const same = charted(({ git }) => (git.ref = 'main')).map((one) => {
    const text = JSON.stringify(one)
      .replaceAll('"charted"', '"portolan"')
      .replaceAll(',"app.kubernetes.io/instance":"portolan"', '');
    return JSON.parse(text) as Part;
  });
  expect(byKind(same)).toEqual(byKind(replicated));
  expect(Object.keys(byKind(same))).not.toContain('PersistentVolumeClaim');
});

const hasKubectl = spawnSync('kubectl', ['version', '--client']).error === undefined;

test.runIf(hasKubectl)('kubectl builds from the kustomization the objects that are checked here', () => {
  const built = documents(execFileSync('kubectl', ['kustomize', join(DEPLOY, 'kubernetes-postgres')]).toString());
  const named = (objects: readonly Part[]) =>
    Object.fromEntries(
      objects.map((one) => [one.kind, { ...one, metadata: { ...one.metadata, namespace: 'portolan' } }]),
    );
  expect(named(built)).toEqual(named(replicated));
});

test('a wrong combination of values is refused by the schema of the chart', () => {
  const valid = new Ajv({ strict: false }).compile(JSON.parse(read('helm/values.schema.json')));
  const isTaken = (change: (values: Part) => void): boolean => {
    const values = structuredClone(given);
    values.image.repository = 'registry.example.com/portolan';
    values.git.repo = 'https://git.example.com/acme/shop.git';
    change(values);
    return valid(values);
  };
  const on = (change: (values: Part) => void) => (values: Part) => {
    postgres(values.ledger);
    change(values);
  };
  const taken: readonly ((values: Part) => void)[] = [
    () => {},
    (values) => (values.replicas = 1),
    on(() => {}),
    on((values) => (values.replicas = 1)),
    on((values) => (values.replicas = 5)),
    on(({ ledger }) => delete ledger.postgres.caKey),
  ];
  for (const change of taken) expect(isTaken(change), change.toString()).toBe(true);
  const refused: readonly ((values: Part) => void)[] = [
    (values) => (values.replicas = 2),
    (values) => (values.replicas = 0),
    on((values) => (values.replicas = 0)),
    on((values) => (values.replicas = '2')),
    on(({ ledger }) => (ledger.postgres.host = 'postgres://db.example.com')),
    on(({ ledger }) => (ledger.postgres.user = 'portolan:secret')),
    on(({ ledger }) => (ledger.postgres.password = 'secret')),
    on(({ ledger }) => (ledger.postgres.passwordKey = '')),
    on(({ ledger }) => (ledger.postgres.port = 0)),
  ];
  for (const change of refused) expect(isTaken(change), change.toString()).toBe(false);
});

test('the volume of a ledger stays when the chart moves to a database, or is removed', () => {
  const claim = rendered().find(({ kind }) => kind === 'PersistentVolumeClaim');
  expect(claim.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
});

test('the ledger is copied after the controller has stopped, and before the replicas start', () => {
  const readme = read('README.md');
  const steps = [
    'scale deployment/portolan --replicas=0',
    'wait --for=delete pod',
    'apply --filename examples/deploy/ledger-copy.yaml',
    'wait --for=condition=complete job/portolan-ledger-copy',
    'helm upgrade portolan',
  ].map((step) => readme.indexOf(step));
  expect(steps).not.toContain(-1);
  expect(steps).toEqual([...steps].sort((left, right) => left - right));
  const [job] = documents(read('ledger-copy.yaml'));
  expect(readme).toContain(`job/${job.metadata.name}`);
});

test('a command in a pod names the program by its path in the image', () => {
  const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const program = (JSON.parse(entry) as string[]).join(' ');
  const pages = ['docs/runbook/README.md', 'docs/how-to/several-controllers.md', `${DEPLOY}/README.md`];
  const texts = pages.map((page) => readFileSync(page, 'utf8'));
  const run = texts.flatMap((text) => [...text.matchAll(/ exec .* -- (.*)/g)].map(([, command = '']) => command));
  expect(run.length).toBeGreaterThan(1);
  for (const command of run) expect(command.startsWith(program) || command.startsWith('sh -c'), command).toBe(true);
  expect(texts[1]).toContain(`\`${program}\``);
});

test('the job that copies a ledger has the volume of the one, the role of the owner, and a command that there is', async () => {
  const [job] = documents(read('ledger-copy.yaml'));
  const { spec } = job.spec.template;
  const deployment = plain.find(({ kind }) => kind === 'Deployment');
  const asDeployed = { ...deployment, spec: { ...deployment.spec, template: job.spec.template } };
  const others = plain.filter(
    ({ kind }) => !['Deployment', 'Service', 'NetworkPolicy', 'PodDisruptionBudget'].includes(kind),
  );
  const besides = new Set(['a probe is missing or looks elsewhere', 'Deployment selects other pods']);
  expect(RULES.flatMap(([, check]) => check([...others, asDeployed])).filter((wrong) => !besides.has(wrong))).toEqual(
    [],
  );
  const [copy] = spec.containers;
  expect(copy.image).toBe(deployment.spec.template.spec.containers[0].image);
  const state = deployment.spec.template.spec.volumes.find(({ name }: Part) => name === 'state');
  expect(spec.volumes).toContainEqual(state);
  const service = plain.find(({ kind }) => kind === 'Service');
  expect(job.spec.template.metadata.labels).not.toMatchObject(service.spec.selector);
  const { out: help } = await runHere([...copy.args.slice(0, 2), '--help']);
  expect(help).toContain('Usage: portolan ledger copy');
  const [, , from, to] = copy.args as readonly string[];
  expect(from).toBe(`${copy.volumeMounts[0].mountPath}/portolan.db`);
  const address = parseAddress(to ?? '');
  const controllers = parseAddress(ledgerOf(replicated.find(({ kind }) => kind === 'Deployment')).value);
  expect(address).toMatchObject({ host: controllers.host, database: controllers.database, tls: 'verify-full' });
  const roles = readFileSync('examples/postgres/roles.sql', 'utf8');
  for (const { user } of [address, controllers]) expect(roles).toContain(`CREATE ROLE ${user} LOGIN;`);
  expect(address.user).toBe('portolan_owner');
  const items: string[] = spec.volumes.flatMap(({ secret }: Part) => secret?.items ?? []).map(({ path }: Part) => path);
  expect(items.map((path) => `/run/secrets/portolan/${path}`)).toEqual([address.passwordFile, address.rootCertificate]);
});
