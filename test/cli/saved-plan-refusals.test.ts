import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { commit, repository } from '../source/repositories.ts';
import { runHere } from './running.ts';
import { alterRule, beside, expectRefused, forge, type SavedScene, savePlan, setRegion } from './saved.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const www = rule('www', 'www.example.com', 'weight: 50');
const before = shop(web(PORTS), www);
const after = shop(web(PORTS.replace('RPC', 'GRPC')), rule('www', 'www.example.com', 'weight: 60'));

/** A platform as `before` says, and the saved plan to make it as `after` says. */
async function planned(args: readonly string[] = []): Promise<SavedScene & { readonly scene: Scene }> {
  const scene = await setScene({ manifests: { 'a.yaml': before } });
  await scene.run('apply');
  scene.write('a.yaml', after);
  return { scene, ...(await savePlan(scene, args)) };
}

test.for<readonly [string, (scene: Scene) => void, readonly string[]]>([
  [
    'a value is not what it was',
    (scene) => alterRule(scene, 'www.example.com', { weight: 99 }),
    [
      '  ~ HttpGatewayRule/www: update rule www.example.com/: weight  (not as planned)',
      '      planned  weight: 50 → 60\n      now      weight: 99 → 60',
    ],
  ],
  [
    'something is done already',
    (scene) => scene.alterPort(demo.webServiceId, 9000, { alias: 'GRPC' }),
    ['  - Component/shop-web: change alias of port 9000 to GRPC  (planned, and not in the current plan)'],
  ],
  [
    'something else is to do as well',
    (scene) => scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' }),
    ['  + Component/shop-web: change alias of port 8080 to WEB  (not planned, and in the current plan)'],
  ],
  [
    'a field that nobody manages would be sent with another value',
    (scene) => alterRule(scene, 'www.example.com', { cookie: 'a=b' }),
    ['HttpGatewayRule/www: update rule www.example.com/: weight  (not as planned)', '      now      request: '],
  ],
])('stale, before anything is sent: %s', async ([, change, words]) => {
  const { scene, apply, file } = await planned();
  change(scene);
  const run = await apply();
  expectRefused(scene, run, 4, 'Application/shop  default/team-a/region-1/42\n', ...words);
  expect(run.err).toContain('refused: The saved plan is stale');
  expect(run.err).toContain(`Nothing was sent.\n  Plan again: portolan plan -f ${join(scene.folder, 'manifests')} `);
  expect(run.err).toContain(`--save ${file}\n  [plan/stale]`);
  const json = JSON.parse((await apply(['-o', 'json'])).out) as object;
  expect(json).toMatchObject({ exitCode: 4, outcomes: [], refused: { code: 'plan/stale', difference: {} } });
  expectRefused(scene, await apply(['--dry-run']), 4, ...words);
});

test.for<readonly [string, number, Json, readonly string[]]>([
  ['refused', 1, { code: 20400, msg: 'bad thing', msg_show: 'bad thing', data: {} }, []],
  ['in doubt', 4, { msg: 'what' }, ['- HttpGatewayRule/www: update rule', '! held HttpGatewayRule/www: ']],
])('stale after it was carried out in part, and says what is left: a request was %s', async ([, code, body, words]) => {
  const { scene, apply } = await planned();
  scene.sandbox.setFaults([
    { operation: 'updateRule', fault: { type: 'status', when: 'before', status: 400, body: body as object } },
  ]);
  expect((await apply()).code).toBe(code);
  expect(scene.traffic().writes).toContain('updatePort');
  scene.sandbox.setFaults([]);
  expectRefused(scene, await apply(), 4, '- Component/shop-web: change alias of port 9000 to GRPC', ...words);
});

test('stale once another revision of its source was applied, although it would do the same', async () => {
  const { scene, apply } = await planned(['--target', 'HttpGatewayRule/www']);
  scene.write('a.yaml', shop(web(PORTS.replace('RPC', 'GRPC')), www));
  expect((await scene.run('apply')).code).toBe(0);
  scene.traffic();
  const run = await apply();
  expectRefused(scene, run, 4, 'was applied from its source after it was made', '[plan/superseded]');
});

test('stale by a newer commit, which is named', async () => {
  const scene = await setScene({ manifests: {} });
  const root = repository();
  const of = ['-f', join(root, 'm'), '--revision', 'main'];
  commit(root, { 'm/a.yaml': before });
  await scene.run('apply', of);
  commit(root, { 'm/a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 60')) });
  const { apply } = await savePlan(scene, of);
  const newer = commit(root, { 'm/a.yaml': shop(web(PORTS), www, rule('new', 'new.example.com')) });
  await scene.run('apply', of);
  scene.traffic();
  expectRefused(scene, await apply(), 4, `commit ${newer.slice(0, 12)} was applied from its source`);
});

test('guards stand: a region that is closed meanwhile is not written to', async () => {
  const { scene, apply } = await planned();
  setRegion(scene, '3');
  expectRefused(scene, await apply(), 4, 'region region-1 is under maintenance');
});

test('a platform that cannot be looked at is no proof of anything', async () => {
  const { scene, apply } = await planned();
  scene.sandbox.setFaults([
    { path: '**/apps/42', fault: { type: 'status', when: 'before', status: 403, body: { msg: 'no' } } },
  ]);
  expectRefused(scene, await apply(), 5, 'could not be observed', 'Nothing was sent.');
});

const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, 'utf8')));
type Desired = { kind: string; spec: Record<string, Json> }[];

test.for<readonly [string, (file: string, scene: Scene) => void, readonly string[], string]>([
  [
    'a letter of it was changed',
    (file) => edit(file, (text) => text.replace('GRPC', 'HACK')),
    [],
    'plan/saved-damaged',
  ],
  ['it is cut off', (file) => edit(file, (text) => text.slice(0, -9)), [], 'plan/not-a-saved-plan'],
  [
    'it is nested without end',
    (file) =>
      writeFileSync(
        file,
        `{"format":"portolan-saved-plan","formatVersion":1,"plan":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      ),
    [],
    'plan/saved-damaged',
  ],
  ['it is a manifest', (file) => writeFileSync(file, before), [], 'plan/not-a-saved-plan'],
  ['it is not there', (file) => rmSync(file), [], 'cli/unreadable-file'],
  [
    'another version wrote it',
    (file) => forge(file, (content) => (content['formatVersion'] = 2)),
    [],
    'plan/saved-by-another-version',
  ],
  [
    'its digest is not that of its actions',
    (file) => forge(file, ({ plan }) => ((plan as { digest: string }).digest = '0'.repeat(64))),
    [],
    'plan/saved-inconsistent',
  ],
  ['a part is missing', (file) => forge(file, (content) => delete content['allowed']), [], 'plan/saved-inconsistent'],
  [
    'a part is not what it should be',
    (file) => forge(file, (content) => (content['command'] = [{}] as Json)),
    [],
    'plan/saved-inconsistent',
  ],
  [
    'a stranger put a platform of his own into it',
    (file) =>
      forge(file, ({ desired }) => {
        for (const resource of desired as unknown as Desired) resource.kind = 'Platform';
      }),
    [],
    "belongs to the operator's configuration",
  ],
  [
    'a stranger put a wish into it that no manifest may have',
    (file) =>
      forge(file, ({ desired }) => {
        const rules = (desired as unknown as Desired).filter(({ kind }) => kind === 'HttpGatewayRule');
        for (const { spec } of rules) spec['url'] = 'http://evil.example.com';
      }),
    [],
    'plan.json (HttpGatewayRule/www):',
  ],
  ['manifests are named beside it', () => {}, ['-f', '.'], '-f cannot be used with the saved plan'],
  ['a flag contradicts it', () => {}, ['--prune'], '--prune cannot be used with the saved plan'],
  ['it is of another source', () => {}, ['--source', 'other'], 'plan/other-source'],
  ['another digest is expected', () => {}, ['--expect', '0'.repeat(63)], '64 characters'],
  [
    'the platform is at another address',
    (_file, scene) => scene.configure({ url: 'http://127.0.0.1:1' }),
    [],
    'plan/other-platform',
  ],
  [
    'it was made with another ledger',
    (_file, { ledgerFile }) => {
      rmSync(ledgerFile);
    },
    [],
    'ledger/missing',
  ],
])('refused with 3, and nobody is asked anything: %s', async ([, change, args, words]) => {
  const { scene, apply, file } = await planned();
  change(file, scene);
  const run = await apply(args);
  expectRefused(scene, run, 3, words);
  expect(scene.traffic().reads).toEqual([]);
});

test('the ledger that is named must be the one of the plan, and none is made in looking for it', async () => {
  const { scene, file } = await planned();
  const other = join(scene.folder, 'other.db');
  const [config = '', path = ''] = beside(scene);
  const apply = () =>
    runHere(['apply', file, config, path, '--ledger', other, '--yes'], { env: scene.env, clock: scene.clock });
  expectRefused(scene, await apply(), 3, `There is no ledger at ${other}`);
  expect(existsSync(other)).toBe(false);
  scene.write('a.yaml', before);
  await scene.run('apply', ['--ledger', other]);
  scene.traffic();
  expectRefused(scene, await apply(), 3, 'was planned with another ledger', '[plan/other-ledger]');
});

test.for<readonly [string, readonly string[], (scene: Scene) => void, string, number]>([
  ['without a ledger nothing is known', ['--ledger', 'none'], () => {}, 'cli/save-without-ledger', 3],
  [
    'what is there is something else',
    [],
    ({ folder }) => writeFileSync(join(folder, 'plan.json'), 'dear diary'),
    'exists and is not a saved plan',
    3,
  ],
  [
    'a guard refuses the plan',
    [],
    (scene) => scene.configure({ settings: '{ scopes: { allow: ["team-b/*/*"] } }' }),
    'plan.json was not written: a guard',
    4,
  ],
  [
    'the plan is incomplete',
    [],
    ({ sandbox }) =>
      sandbox.setFaults([
        { path: '**/apps/42', fault: { type: 'status', when: 'before', status: 403, body: { msg: 'no' } } },
      ]),
    'plan.json was not written: the plan is incomplete',
    5,
  ],
  ['it is not the plan that is expected', ['--expect', '0'.repeat(64)], () => {}, 'plan/not-expected', 4],
])('not saved: %s', async ([, args, prepare, words, code]) => {
  const scene = await setScene({ manifests: { 'a.yaml': before } });
  prepare(scene);
  const { planned: run, file } = await savePlan(scene, args);
  expect(run.code, run.err).toBe(code);
  expect(run.err).toContain(words);
  expect(existsSync(file) ? readFileSync(file, 'utf8') : '').not.toContain('portolan-saved-plan');
});

test('not saved: a server keeps its own', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': before } });
  const file = join(scene.folder, 'plan.json');
  const args = ['plan', ...scene.options, '--save', file, '--server', 'http://127.0.0.1:1'];
  const run = await runHere(args, { env: scene.env, clock: scene.clock });
  expect(run.code, run.err).toBe(3);
  expect(run.err).toContain('cli/save-on-server');
  expect(existsSync(file)).toBe(false);
});

test.for(['plan', 'apply --dry-run', 'apply'] as const)('%s --expect takes one plan and no other', async (line) => {
  const scene = await setScene({ manifests: { 'a.yaml': before } });
  const [command, ...flags] = line.split(' ') as ['plan' | 'apply', ...string[]];
  const run = (digest: string) => scene.run(command, [...flags, '--expect', digest]);
  const { out } = await scene.run('plan');
  const [, digest = ''] = /^Digest: ([0-9a-f]{64})$/m.exec(out) ?? [];
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 51')));
  scene.traffic();
  expectRefused(
    scene,
    await run(digest),
    4,
    `${digest} was expected`,
    'Nothing was sent.',
    '[plan/not-expected]',
    'weight: 51',
  );
  scene.write('a.yaml', before);
  expect((await run(digest.toUpperCase())).code).toBe(0);
  expect(scene.traffic().writes.length > 0).toBe(line === 'apply');
  await scene.run('apply');
  scene.traffic();
  // It is done. An apply that is run once more has nothing to refuse; a plan is taken at its digest.
  expectRefused(scene, await run(digest), command === 'apply' ? 0 : 4);
});

test('a saved plan is expected by its digest as well', async () => {
  const { scene, apply, file } = await planned();
  expectRefused(scene, await apply(['--expect', '0'.repeat(64)]), 4, '[plan/not-expected]');
  const { plan } = JSON.parse(readFileSync(file, 'utf8')) as { plan: { digest: string } };
  expect((await apply(['--expect', plan.digest])).code).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['updatePort', 'updateRule']);
});

test('a manifest that is pointed at another component is another plan, although the same would change there', async () => {
  const at = (serviceId: string): string =>
    shop(web('ports: [{ port: 9200, protocol: http, alias: X }]').replace(demo.webServiceId, serviceId));
  const scene = await setScene({ manifests: { 'a.yaml': at(demo.webServiceId) } });
  const planOf = async () => {
    const { out } = await scene.run('plan', ['-o', 'json']);
    const { digest, scopes } = JSON.parse(out) as { digest: string; scopes: { actions: { changes: Json }[] }[] };
    return { digest, changes: scopes.map(({ actions }) => actions.map(({ changes }) => changes)) };
  };
  const agreed = await planOf();
  scene.write('a.yaml', at(demo.apiServiceId));
  const now = await planOf();
  expect(now.changes).toEqual(agreed.changes);
  expect(now.digest).not.toBe(agreed.digest);
  expectRefused(scene, await scene.run('apply', ['--expect', agreed.digest]), 4, '[plan/not-expected]');
});
