/** The job of the chart that copies the ledger: its object, and its script with the real program on a real ledger. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../cli/platform.ts';
import { runHere } from '../cli/running.ts';
import { placed, until } from '../processes/place.ts';
import { builtProgram } from '../support/program.ts';
import { given, read, rendered } from './chart.ts';
import { type Part, RULES } from './kubernetes.ts';

const CLAIM = 'portolan-backup';
const charted = (host = ''): Part[] =>
  rendered(({ backup, ledger }) => {
    Object.assign(backup, { enabled: true, claimName: CLAIM, keep: 2 });
    ledger.postgres.host = host;
  });
const ofKind = (objects: readonly Part[], kind: string): Part => objects.find((one) => one.kind === kind);
const jobOf = (objects: readonly Part[]): Part => ofKind(objects, 'CronJob').spec.jobTemplate.spec.template;
const envOf = ({ spec }: Part): Part =>
  Object.fromEntries(spec.containers[0].env.map(({ name, value }: Part) => [name, value]));

test('the job is off by default, and the schema requires a claim for it', () => {
  expect(ofKind(rendered(), 'CronJob')).toBeUndefined();
  const valid = new Ajv({ strict: false }).compile(JSON.parse(read('helm/values.schema.json')));
  const isTaken = (changes: Part): boolean => {
    const values = structuredClone(given);
    values.image.repository = 'registry.example.com/portolan';
    values.git.repo = 'https://git.example.com/acme/shop.git';
    Object.assign(values.backup, { enabled: true, claimName: CLAIM }, changes);
    return valid(values);
  };
  for (const taken of [{}, { schedule: '@daily' }, { schedule: '*/30 2-4 * * MON,TUE', keep: 1 }])
    expect(isTaken(taken), JSON.stringify(taken)).toBe(true);
  for (const refused of [{ claimName: '' }, { schedule: 'daily' }, { schedule: '0 3 * *' }, { keep: 0 }, { every: 1 }])
    expect(isTaken(refused), JSON.stringify(refused)).toBe(false);
});

test.for([
  ['on a volume', ''],
  ['in PostgreSQL', 'db.example.com'],
])('a ledger %s: the pod of the job is confined, and reaches the ledger as a controller does', ([, host]) => {
  const objects = charted(host);
  const pod = jobOf(objects);
  const deployment = ofKind(objects, 'Deployment');
  const asDeployed = { ...deployment, spec: { ...deployment.spec, template: pod } };
  const others = objects.filter(({ kind }) =>
    ['ServiceAccount', 'ConfigMap', 'CronJob', 'PersistentVolumeClaim'].includes(kind),
  );
  const besides = new Set([
    'Deployment selects other pods',
    `there is no PersistentVolumeClaim/${CLAIM}`,
    // Kubernetes starts the job again if it is killed.
    'it is killed too early',
    // Only one pod runs, and none is replaced.
    'all may run on one node',
    'all may run in one zone',
    'requests reach a pod that has ended',
    'two pods want one volume',
  ]);
  expect(RULES.flatMap(([, check]) => check([...others, asDeployed])).filter((wrong) => !besides.has(wrong))).toEqual(
    [],
  );
  expect(pod.metadata.labels).not.toMatchObject(ofKind(objects, 'Service').spec.selector);
  expect(pod.spec.containers[0].image).toBe(deployment.spec.template.spec.containers[0].image);
  expect(envOf(pod)['PORTOLAN_LEDGER']).toBe(envOf(deployment.spec.template)['PORTOLAN_LEDGER']);
  const affinity = pod.spec.affinity?.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0];
  const state = pod.spec.volumes.find(({ name }: Part) => name === 'state');
  if (host === '') {
    // The file that the image names, on the node of the controller.
    expect(readFileSync('Dockerfile', 'utf8')).toContain('PORTOLAN_LEDGER=/var/lib/portolan/portolan.db');
    expect(pod.spec.containers[0].volumeMounts).toContainEqual({ name: 'state', mountPath: '/var/lib/portolan' });
    expect(affinity.labelSelector.matchLabels).toEqual(deployment.spec.selector.matchLabels);
    expect(deployment.spec.template.spec.volumes).toContainEqual(state);
  } else expect([affinity, state]).toEqual([undefined, undefined]);
});

test('the script of the job copies the ledger of a running controller, verifies it, and removes the oldest copies', async () => {
  const place = await placed();
  const daemon = await place.daemon();
  await until(
    () => place.domains().length === 2,
    () => daemon.outputSoFar().err,
  );
  const folder = join(temporaryFolder(), 'backup');
  mkdirSync(folder);
  const former = ['ledger-20260101-030000.db', 'ledger-20260102-030000.db', 'ledger-20260103-030000.db'];
  for (const name of [...former, 'another.db']) writeFileSync(join(folder, name), '');
  const [shell = '', flags = '', script = ''] = jobOf(charted()).spec.containers[0].command as string[];
  const here = script.replaceAll('/backup', folder).replaceAll('node /app/dist/portolan.js', '"$NODE" "$PROGRAM"');
  const env = {
    PATH: process.env['PATH'],
    NODE: process.execPath,
    PROGRAM: builtProgram(),
    PORTOLAN_LEDGER: place.ledger,
  };
  execFileSync(shell, [flags, here], { env, stdio: 'pipe' });
  const [other, kept, made = '', ...more] = readdirSync(folder).sort();
  expect([other, kept, more]).toEqual(['another.db', former.at(-1), []]);
  expect(made).toMatch(/^ledger-\d{8}-\d{6}\.db$/);
  const { out } = await runHere(['ledger', 'list', '--ledger', join(folder, made)]);
  expect(out).toContain('HttpGatewayRule/rule-1');
  // A copy that fails keeps the former ones, and fails the job.
  const gone = { ...env, PORTOLAN_LEDGER: join(folder, 'no', 'ledger.db') };
  expect(() => execFileSync(shell, [flags, here], { env: gone, stdio: 'pipe' })).toThrow('Command failed');
  expect(readdirSync(folder)).toContain(former.at(-1));
});
