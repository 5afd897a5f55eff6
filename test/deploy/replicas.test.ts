/** Several replicas with the ledger in PostgreSQL: the differences from one replica, as kustomization and as values of the chart. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { temporaryFolder } from '../cli/platform.ts';
import { runHere } from '../cli/running.ts';
import { until } from '../processes/place.ts';
import { DEPLOY, documents, given, plain, read, rendered } from './chart.ts';
import { type Part, RULES } from './kubernetes.ts';
import { patched } from './kustomize.ts';

const overlay = parse(read('kubernetes-postgres', 'kustomization.yaml')) as Part;
const replicated: readonly Part[] = patched(plain, overlay.patches);

const [ledgerPod] = documents(read('ledger-pod.yaml'));

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
  ['a short end', ({ spec }) => (spec.template.spec.terminationGracePeriodSeconds = 50), 'it is killed too early'],
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

const readme = read('README.md');
const section = (title: string): string => {
  const [, text = ''] = readme.split(`### ${title}\n`);
  return text.split(/^##/m)[0] ?? '';
};

/** The lines of the shell blocks of a page, with lines that continue in one. */
const linesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  );

test.for([
  [
    'From one controller to several',
    [
      'scale deployment/portolan --replicas=0',
      'wait --for=delete pod',
      'ledger copy portolan.db "$PORTOLAN_LEDGER"',
      'helm upgrade portolan',
    ],
  ],
  [
    'Back to one controller',
    [
      'scale deployment/portolan --replicas=0',
      'wait --for=delete pod',
      'mv portolan.db* ',
      'ledger copy "$PORTOLAN_LEDGER" portolan.db',
      'delete pod portolan-ledger',
      'helm upgrade portolan',
    ],
  ],
] as const)('%s: the ledger is copied after all have stopped, and before they start', ([title, steps]) => {
  const at = steps.map((step) => section(title).indexOf(step));
  expect(at).not.toContain(-1);
  expect(at).toEqual([...at].sort((left, right) => left - right));
});

test('every command of the pages names the namespace, and is valid shell', () => {
  const others = ['how-to/run-the-controller', 'runbook/rewound-branch'].map((page) => `docs/${page}.md`);
  const commands = [readme, ...others.map((page) => readFileSync(page, 'utf8'))]
    .flatMap(linesOf)
    .filter((line) => /^(?:helm|kubectl) /.test(line));
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    // The kustomization and the files name it themselves.
    const isSaid = /^kubectl (?:create namespace portolan|apply --(?:kustomize|filename) \S+)$/.test(command);
    expect(isSaid || command.includes(' --namespace portolan '), command).toBe(true);
  }
  for (const [, inTable = ''] of readme.matchAll(/`(helm (?:install|upgrade) [^`]*)`/g))
    expect(inTable).toContain(' --namespace portolan ');
  for (const [, block = ''] of readme.matchAll(/^```sh\n([^]*?)^```$/gm)) execFileSync('bash', ['-n', '-c', block]);
});

test.runIf(hasKubectl)('one command adds the keys of the database to the secret, and changes one of them', () => {
  const folder = temporaryFolder();
  const given = { 'platform-token': 'eA==', 'database-password': 'Zm9ybWVy' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'portolan' }, data: given };
  writeFileSync(join(folder, 'secret.json'), JSON.stringify(secret));
  for (const file of ['database-password', 'database-owner-password', 'database-ca.pem'])
    writeFileSync(join(folder, file), file);
  const patch = linesOf(readme).find((line) => line.includes(' patch secret ')) ?? '';
  const local = patch.replace(
    '--namespace portolan patch secret portolan',
    'patch --local --filename secret.json --output json',
  );
  const { data } = JSON.parse(execFileSync('bash', ['-c', local], { cwd: folder }).toString()) as Part;
  expect(data).toMatchObject({ 'platform-token': 'eA==', 'database-password': btoa('database-password') });
  const names = new Set(
    [...replicated.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec), ledgerPod.spec]
      .flatMap(({ volumes }) => volumes.flatMap(({ secret: one }: Part) => one?.items ?? []))
      .map(({ key }: Part) => key as string),
  );
  expect([...names].filter((name) => name.startsWith('database')).sort()).toEqual(
    Object.keys(data)
      .filter((name) => name.startsWith('database'))
      .sort(),
  );
});

test('a command in a pod names the program by its path in the image', () => {
  const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const words = JSON.parse(entry) as string[];
  const program = words.slice(words.indexOf('node')).join(' ');
  const pages = ['docs/runbook/README.md', 'docs/how-to/several-controllers.md', `${DEPLOY}/README.md`];
  const texts = pages.map((page) => readFileSync(page, 'utf8'));
  const run = texts.flatMap((text) =>
    [...text.matchAll(/ exec (.*) -- (.*)/g)].map(([, pod = '', line = '']) => ({ pod, line })),
  );
  expect(run.length).toBeGreaterThan(5);
  for (const { pod, line } of run.filter(({ pod: one }) => !/(?:^| )psql$/.test(one))) {
    expect(line.startsWith(program) || line.startsWith('sh -c'), line).toBe(true);
    if (line.includes('portolan.js')) expect(line).toContain(program);
    expect(['POD -c portolan', 'deploy/portolan -c portolan', '--stdin portolan-ledger', 'portolan-ledger']).toContain(
      pod,
    );
  }
  expect(texts[1]).toContain(`\`${program}\``);
});

test('psql checks the server, and finds the certificate in the pod', () => {
  const pod = linesOf(readme).find((line) => line.includes(' run psql ')) ?? '';
  const [, certificate] = / --env=PGSSLMODE=verify-full --env=PGSSLROOTCERT=(\S+) /.exec(pod) ?? [];
  expect(linesOf(readme)).toContain(`kubectl --namespace portolan cp database-ca.pem psql:${certificate}`);
});

test('the page for every place gives a controller as much time to end as the manifests', () => {
  const [, stated] =
    /SIGTERM\*\* and give it (\d+) seconds/.exec(readFileSync('docs/how-to/run-the-controller.md', 'utf8')) ?? [];
  const { terminationGracePeriodSeconds: seconds } = plain.find(({ kind }) => kind === 'Deployment').spec.template.spec;
  expect(Number(stated)).toBe(seconds);
});

test('a pod for commands that has ended is removed before the next one is made', () => {
  const lines = linesOf(readme);
  const makes = lines.flatMap((line, at) => {
    const [, run, file] = / run (\S+) .*--restart=Never|apply --filename (\S+pod\.yaml)/.exec(line) ?? [];
    const name = file === undefined ? run : (parse(readFileSync(file, 'utf8')) as Part).metadata.name;
    return name === undefined ? [] : [[lines[at - 1], name as string] as const];
  });
  expect(makes.map(([, name]) => name)).toEqual(['psql', 'portolan-ledger']);
  for (const [before, name] of makes)
    expect(before).toBe(`kubectl --namespace portolan delete pod ${name} --ignore-not-found`);
});

test('the pod for commands has the volume, the role of the owner, and what a replica lacks', async () => {
  const { metadata, spec } = ledgerPod;
  // The tables are made before the release is.
  expect(spec.serviceAccountName).toBeUndefined();
  expect([ledgerPod.apiVersion, ledgerPod.kind, metadata.namespace]).toEqual(['v1', 'Pod', overlay.namespace]);
  const deployment = plain.find(({ kind }) => kind === 'Deployment');
  const asDeployed = { ...deployment, spec: { ...deployment.spec, template: ledgerPod } };
  const others = plain.filter(
    ({ kind }) => !['Deployment', 'Service', 'NetworkPolicy', 'PodDisruptionBudget'].includes(kind),
  );
  const besides = new Set([
    'Deployment selects other pods',
    'a controller owns the tables',
    // Only one pod has the volume, and none is replaced.
    'only one runs',
    'an old one ends before a new one is ready',
    'all may run on one node',
    'all may run in one zone',
    'requests reach a pod that has ended',
    'two pods want one volume',
  ]);
  expect(RULES.flatMap(([, check]) => check([...others, asDeployed])).filter((wrong) => !besides.has(wrong))).toEqual(
    [],
  );
  const [ledger] = spec.containers;
  expect(ledger.image).toBe(deployment.spec.template.spec.containers[0].image);
  const state = deployment.spec.template.spec.volumes.find(({ name }: Part) => name === 'state');
  expect(spec.volumes).toContainEqual(state);
  const [mount] = ledger.volumeMounts;
  expect(readFileSync('Dockerfile', 'utf8')).toContain(`WORKDIR ${mount.mountPath}\n`);
  const service = plain.find(({ kind }) => kind === 'Service');
  expect(metadata.labels).not.toMatchObject(service.spec.selector);
  const address = parseAddress(ledgerOf(asDeployed).value);
  const controllers = parseAddress(ledgerOf(replicated.find(({ kind }) => kind === 'Deployment')).value);
  expect(address).toMatchObject({ host: controllers.host, database: controllers.database, tls: 'verify-full' });
  const roles = readFileSync('examples/postgres/roles.sql', 'utf8');
  for (const { user } of [address, controllers]) expect(roles).toContain(`CREATE ROLE ${user} LOGIN;`);
  expect(address.user).toBe('portolan_owner');
  // A key that the secret does not have, such as the CA, does not keep the pod from starting.
  const { secret } = spec.volumes.find(({ name }: Part) => name === 'secrets');
  expect(secret.optional).toBe(true);
  const items: string[] = secret.items.map(({ path }: Part) => path);
  expect(items.map((path) => `/run/secrets/portolan/${path}`)).toEqual([address.passwordFile, address.rootCertificate]);
  // It ends at once when it is deleted.
  const child = spawn(ledger.command[0], ledger.command.slice(1), { detached: true });
  const pid = child.pid ?? 0;
  onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
  const exited = once(child, 'exit');
  await until(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('a rehearsal copies into another database of the same server', () => {
  const [, expression = ''] =
    /"\$\((echo "\$PORTOLAN_LEDGER" \| sed .*?)\)"/.exec(section('From one controller to several')) ?? [];
  const env = {
    PATH: process.env['PATH'],
    PORTOLAN_LEDGER: ledgerOf({ spec: { template: ledgerPod } }).value as string,
  };
  const address = parseAddress(execFileSync('sh', ['-c', expression], { env }).toString().trim());
  expect(address).toEqual({
    ...parseAddress(env.PORTOLAN_LEDGER.replace('/portolan?', '/portolan_test?')),
    database: 'portolan_test',
  });
});

test('the folder for temporary files of a replica is as small as the page says', () => {
  const [, stated] = /`\/tmp` is (\d+ MiB) of memory/.exec(readme) ?? [];
  const { volumes } = plain.find(({ kind }) => kind === 'Deployment').spec.template.spec;
  expect(volumes.find(({ name }: Part) => name === 'tmp').emptyDir).toEqual({
    medium: 'Memory',
    sizeLimit: stated?.replace(' MiB', 'Mi'),
  });
});

test('the variable that permits a rewind once is one of run', async () => {
  const page = readFileSync('docs/runbook/rewound-branch.md', 'utf8');
  const { out } = await runHere(['run', '--help']);
  const variables = [...page.matchAll(/PORTOLAN_\w+/g)].map(([name]) => name);
  expect(variables).toEqual(['PORTOLAN_RUN_ALLOW_REWIND', 'PORTOLAN_RUN_ALLOW_REWIND']);
  expect(out.replaceAll(/\s+/g, ' ')).toContain('[$PORTOLAN_RUN_ALLOW_REWIND]');
});
