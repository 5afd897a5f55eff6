import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { runHere } from './running.ts';
import { install, PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

// What one command says must agree with what another says, and with what was done.

const LOST: FaultRule['fault'] = { type: 'drop', when: 'after' };

function answers(status: number, body: object, operation: string, times?: number): FaultRule {
  return {
    operation,
    ...(times === undefined ? {} : { times }),
    fault: { type: 'status', when: 'before', status, body },
  };
}

/** The last line of an apply. */
const footer = ({ out }: { readonly out: string }): string => out.trimEnd().split('\n').at(-1) ?? '';

/** Every moment that a text names, without its milliseconds. */
const times = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g)].map(([time]) => time)),
];

test('the footer of an apply names the waiting times that status names', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), install('db')) } });
  scene.sandbox.setFaults([{ operation: 'install', times: 1, fault: LOST }]);
  const first = await scene.run('apply');
  expect(first.code).toBe(4);
  const status = await scene.run('status');
  const told = times(status.out);
  expect(told).toHaveLength(2);
  expect(times(footer(first)).toSorted()).toEqual(told.toSorted());
  const [soonest = '', latest = ''] = told.toSorted();
  expect(footer(first)).toContain(`Run the same command again after ${soonest}`);
  expect(footer(first)).toContain(`until ${latest}`);
  // And so does the next one, which has sent nothing.
  const second = await scene.run('apply');
  expect(times(footer(second)).toSorted()).toEqual(told.toSorted());
  expect(footer(second)).not.toContain('The next run goes on');
});

test('a run that has sent something never says that nothing was sent', async () => {
  const scene = await setScene({
    dialect: 'documented',
    settings: '{ settle: { install: 2s } }',
    manifests: { 'a.yaml': shop(install('db')) },
  });
  scene.sandbox.setFaults([{ operation: 'install', times: 1, fault: LOST }]);
  const run = await scene.run('apply', ['--wait']);
  expect(run.code).toBe(4);
  expect(run.err).toContain('including 1 write');
  expect(run.out).not.toContain('Nothing was sent');
  expect(footer(run)).toMatch(/^Applied: 0 done, 0 failed, 1 in doubt, 0 skipped, 1 held\./);
});

test('what a wait has shown to be done counts as done', async () => {
  const scene = await setScene({
    settings: '{ settle: { creation: 2s } }',
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
  });
  scene.sandbox.setFaults([{ operation: 'createRule', times: 1, fault: LOST }]);
  const run = await scene.run('apply', ['--wait']);
  expect(run.code, run.out).toBe(0);
  expect(run.err).toContain('including 3 writes');
  expect(footer(run)).toContain('Applied: 3 done, 0 failed, 0 skipped.');
});

test.each<readonly [string, string, FaultRule[]]>([
  ['that cannot be reached', 'http://127.0.0.1:1', []],
  ['that fails', '', [answers(500, { code: 10401, msg: 'database is gone' }, 'getApplication')]],
])('a command on a platform %s does not promise to try again by itself', async (_what, url, faults) => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  if (url !== '') scene.configure({ url });
  scene.sandbox.setFaults(faults);
  for (const command of ['plan', 'apply', 'status'] as const) {
    const run = await scene.run(command);
    expect(run.code).not.toBe(0);
    expect(run.out + run.err).not.toMatch(/by itself/);
  }
});

test('a rule that is not on record is not said to be of someone else, for that is not known', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) } });
  expect((await scene.run('apply')).code).toBe(0);
  const other = await scene.run('apply', ['--ledger', `${scene.folder}/other.db`]);
  expect(other.code).toBe(4);
  expect(other.out).toContain('(rule/not-ours)');
  expect(other.out).not.toMatch(/someone else|somebody else/);
});

test('what is held after three refusals says what the platform said', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  scene.sandbox.setFaults([answers(400, { code: 20400, msg: 'the quota of ports is used up', data: {} }, 'addPort')]);
  for (let run = 0; run < 3; run += 1) expect((await scene.run('apply')).code).toBe(1);
  const held = await scene.run('plan');
  expect(held.out).toContain('(effect/not-taken)');
  expect(held.out).toContain('HTTP 400, code 20400: the quota of ports is used up');
});

test('what the platform says exists already is held with its words', async () => {
  const scene = await setScene({
    dialect: 'documented',
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
  });
  expect((await scene.run('apply')).code).toBe(0);
  const other = ['--ledger', `${scene.folder}/other.db`];
  expect((await scene.run('apply', other)).code).toBe(4);
  const held = await scene.run('plan', other);
  expect(held.out).toContain('(rule/exists-not-ours)');
  expect(held.out).toContain('策略已存在');
});

test('what is in doubt says which answer left it so', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) } });
  scene.sandbox.setFaults([
    {
      operation: 'createRule',
      times: 1,
      fault: { type: 'status', when: 'after', status: 500, body: { code: 10401, msg: 'lock wait timeout' } },
    },
  ]);
  expect((await scene.run('apply')).code).toBe(4);
  const status = await scene.run('status');
  expect(status.out).toContain('intent/settling');
  expect(status.out).toContain('HTTP 500, code 10401: lock wait timeout');
});

const SECOND = (name: string, appId: number): string => `apiVersion: portolan/v1
kind: Application
metadata: { name: ${name} }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${appId} }
`;

const three = { 'a.yaml': [shop(web(PORTS)), SECOND('blog', 43), SECOND('billing', 44)].join('---\n') };

test.each<readonly [string, (scene: Scene) => object, string]>([
  [
    'a platform that cannot be reached',
    (scene) => (scene.configure({ url: 'http://127.0.0.1:1' }), {}),
    'ECONNREFUSED 127',
  ],
  ['a token that is refused', ({ env }) => ({ env: { ...env, PORTOLAN_TOKEN: 'wrong' } }), 'HTTP 401'],
  ['a region that is disabled', (scene) => (disable(scene), {}), 'is disabled'],
])('%s is reported once for three applications', async (_what, prepare, cause) => {
  const scene = await setScene({ manifests: three });
  const changes = prepare(scene);
  for (const command of ['plan', 'apply', 'status'] as const) {
    const { out, code } = await scene.run(command, [], changes);
    expect(code).not.toBe(0);
    expect(out.split(cause), `${command}\n${out}`).toHaveLength(2);
    for (const name of ['shop', 'blog', 'billing']) expect(out).toContain(`Application/${name}`);
  }
});

function disable({ sandbox }: Scene): void {
  sandbox.alter((state) => {
    const region = state.regions.get(demo.region);
    if (region !== undefined) state.regions.put({ ...region, status: '2' });
  });
}

const elsewhere = ({ folder, env }: Scene, ...args: readonly string[]) =>
  runHere([...args, '--config', `${folder}/portolan.yaml`], { env });

async function foreignServer(status: number, body: unknown): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test.each<readonly [string, number, unknown, string]>([
  ['an empty object', 200, {}, 'an empty object'],
  ['an empty list', 200, [], 'an empty list'],
  [
    'a search engine',
    200,
    { name: 'n', cluster_name: 'es', tagline: 'You Know' },
    'an object with cluster_name, name, tagline',
  ],
  [
    'a framework’s 404',
    404,
    { timestamp: 1, status: 404, error: 'Not Found', path: '/x' },
    'HTTP 404: an object with error, path, status, timestamp',
  ],
  ['a gateway’s 404', 404, { message: 'no Route matched with those values' }, 'no Route matched with those values'],
  [
    'the API of a cluster',
    404,
    { kind: 'Status', apiVersion: 'v1', message: 'not found here', code: 404 },
    'not found here',
  ],
])(
  'another server at spec.url, %s: an error that says what answered and what was expected',
  async (_what, status, body, shown) => {
    const scene = await setScene({
      configuredDialect: 'auto',
      manifests: { 'a.yaml': shop(web(PORTS)), 'b.yaml': shop(web(PORTS)).replace('appId: 42', 'app: shop') },
    });
    scene.configure({ url: await foreignServer(status, body), configuredDialect: 'auto' });
    const named = ['-f', `${scene.folder}/manifests/b.yaml`];
    const numbered = ['-f', `${scene.folder}/manifests/a.yaml`];
    for (const run of [
      await scene.run('plan', numbered),
      await scene.run('plan', named),
      await scene.run('apply', numbered),
      await elsewhere(scene, 'regions'),
      await elsewhere(scene, 'export', '--team', demo.team),
    ]) {
      const text = run.out + run.err;
      expect(run.code, text).toBe(1);
      expect(text).toContain('platform/not-the-api');
      expect(text).toContain(shown);
      expect(text).toMatch(/the API answers with (a list of|an? )/);
      expect(text).toContain('spec.url of the Platform');
    }
  },
);
