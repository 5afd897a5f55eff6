import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../src/model/json.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { commit, repository } from '../source/repositories.ts';
import { alterRule, applyAsked, expectRefused, savePlan } from './saved.ts';
import { PORTS, rule, setScene, shop, web } from './scene.ts';

const www = rule('www', 'www.example.com', 'weight: 50');
const first = { 'a.yaml': shop(web(PORTS), www) };

test('a saved plan is for its owner alone, canonical, whole, and says how to carry it out', async () => {
  const scene = await setScene();
  const { file, planned } = await savePlan(scene);
  expect(planned.code).toBe(0);
  expect(planned.err).toContain(`The plan is saved in ${file}. To apply exactly this plan: portolan apply ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(scene.folder).sort()).toEqual(['manifests', 'plan.json', 'portolan.yaml']);
  const text = readFileSync(file, 'utf8');
  const content = JSON.parse(text) as { plan: { digest: string }; desired: { id: string }[] };
  expect(text).toBe(`${canonicalJson(content as unknown as Json)}\n`);
  expect(planned.out).toContain(`Digest: ${content.plan.digest}  (total of 2 applications)\n`);
  expect(content.desired.map(({ id }) => id)).toContain('StoreInstall/shop-db');
  // What is planned twice is the same, but for the moment.
  const again = await savePlan(scene);
  expect(again.planned.out).toBe(planned.out);
});

test('no secret is in it, in any spelling', async () => {
  const token = 'canary/token+"1"=?';
  const storeKey = 'canary/store+"2"=?';
  const scene = await setScene({ token, storeKey });
  const { file } = await savePlan(scene, ['--var', 'UNUSED=canary-of-a-variable']);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('StoreInstall/shop-db');
  for (const secret of [token, storeKey]) {
    const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
    for (const spelling of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64])
      expect(text).not.toContain(spelling);
  }
  expect(text).not.toContain('canary-of-a-variable');
});

test('a secret that somebody wrote into a manifest is not carried into a file', async () => {
  const scene = await setScene({
    token: 'canary-token-of-the-platform',
    manifests: { 'a.yaml': shop(web(PORTS, 'labels: { note: canary-token-of-the-platform }')) },
  });
  const { planned, file } = await savePlan(scene);
  expect(planned.code).toBe(3);
  expect(planned.err).toContain('[plan/holds-a-secret]');
  expect(readdirSync(scene.folder)).not.toContain('plan.json');
  expect(`${planned.out}${planned.err}${file}`).not.toContain('canary-token');
});

test('it is carried out as apply would, without the manifests, and what is deferred stays within it', async () => {
  const reference = await setScene();
  await reference.run('apply');
  const scene = await setScene();
  const { apply } = await savePlan(scene);
  rmSync(join(scene.folder, 'manifests'), { recursive: true });
  const run = await apply();
  expect(run.code, run.err).toBe(0);
  expect(run.err).toContain('for source default, made ');
  expect(run.out).toContain('Everything is in sync.');
  expect(scene.traffic().writes.toSorted()).toEqual(reference.traffic().writes.toSorted());
});

test('carried out twice, nothing is left to do the second time, and nothing is written anywhere', async () => {
  const scene = await setScene({ manifests: first });
  const { apply } = await savePlan(scene);
  expect((await apply()).code).toBe(0);
  scene.traffic();
  const ledger = await scene.portolan(['ledger', 'export']);
  expectRefused(scene, await apply(), 0, 'Nothing of this plan is left to do', 'Nothing was sent.');
  const json = JSON.parse((await apply(['-o', 'json'])).out) as object;
  expect(json).toMatchObject({ exitCode: 0, outcomes: [], plan: { summary: { create: 0, update: 0 } } });
  const rows = ({ out }: { out: string }): string[] => out.split('\n').filter((line) => !line.includes('"ledger"'));
  expect(rows(await scene.portolan(['ledger', 'export']))).toEqual(rows(ledger));
});

test('permissions are those it was made with: adoption, pruning, targets', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), www, rule('old', 'old.example.com')) } });
  await scene.run('apply');
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 60')));
  const pruning = await savePlan(scene, ['--prune']);
  expect((await pruning.apply()).code).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['deleteRule', 'updateRule']);

  const other = join(scene.folder, 'other.db');
  const whole = 'weight: 70\nextensions: []';
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', whole), rule('more', 'more.example.com')));
  const adopting = await savePlan(scene, ['--ledger', other, '--adopt', '--target', 'HttpGatewayRule/www']);
  const run = await adopting.apply(['--ledger', other]);
  expect(run.code, run.out).toBe(0);
  expect(scene.traffic().writes).toEqual(['updateRule']);
});

test('a variable says no more about what is planned than the plan does', async () => {
  const scene = await setScene({ manifests: first });
  const { apply } = await savePlan(scene);
  const run = await apply([], { PORTOLAN_FILENAME: '/nowhere', PORTOLAN_APPLY_PRUNE: 'true', PORTOLAN_REVISION: 'x' });
  expect(run.code, run.err).toBe(0);
  expect(scene.traffic().writes.length).toBeGreaterThan(0);
});

test('values stand as they were substituted, and what looks like a variable by now is none', async () => {
  const headers = 'configuration: { setHeaders: [{ key: X-Env, value: "${ENV} $${ENV}" }] }';
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', headers)) } });
  const { apply } = await savePlan(scene, ['--var', 'ENV=prod']);
  expect((await apply([], { PORTOLAN_VAR_ENV: 'other' })).code).toBe(0);
  const row = [...scene.sandbox.state.rules.all()].find(({ domain }) => domain === 'www.example.com');
  expect(JSON.stringify(row?.configuration)).toContain('"value":"prod ${ENV}"');
});

test('a plan of a commit needs no repository, says which commit it is, and prunes by it', async () => {
  const scene = await setScene({ manifests: {} });
  const root = repository();
  commit(root, { 'm/a.yaml': shop(web(PORTS), www, rule('old', 'old.example.com')) });
  const of = ['-f', join(root, 'm'), '--revision', 'main'];
  await scene.run('apply', of);
  const id = commit(root, { 'm/a.yaml': shop(web(PORTS), www) });
  const { apply } = await savePlan(scene, [...of, '--prune']);
  rmSync(root, { recursive: true });
  const run = await apply();
  expect(run.code, run.err).toBe(0);
  expect(run.err).toContain(`plan of main@sha1:${id} for source default`);
  expect(scene.traffic().writes).toEqual(['deleteRule']);
  expect((await scene.portolan(['ledger', 'history', '-o', 'json'])).out).toContain(id);
});

test('an empty plan is a plan: what it adopts is put on record', async () => {
  const scene = await setScene({ manifests: first });
  await scene.run('apply');
  const ledger = join(scene.folder, 'fresh.db');
  const { apply } = await savePlan(scene, ['--ledger', ledger, '--adopt']);
  const run = await apply(['--ledger', ledger]);
  expect(run.code, run.out).toBe(0);
  expectRefused(scene, await scene.run('plan', ['--ledger', ledger, '--detailed-exitcode']), 0, 'No changes.');
});

test('what moves while somebody still thinks about the question is not sent', async () => {
  const scene = await setScene({ manifests: first });
  await scene.run('apply');
  scene.write('a.yaml', shop(web(PORTS.replace('RPC', 'GRPC')), rule('www', 'www.example.com', 'weight: 60')));
  const { file } = await savePlan(scene);
  const run = await applyAsked(scene, file, () => {
    alterRule(scene, 'www.example.com', { weight: 7 });
    scene.clock.push(60_000);
  });
  expect(run.code).toBe(4);
  expect(run.out).toContain('appeared during the run. It was not in the plan and was not done');
  expect(scene.traffic().writes).toEqual(['updatePort']);
  expect([...scene.sandbox.state.rules.all()].find(({ domain }) => domain === 'www.example.com')?.weight).toBe(7);
  expect(scene.port(demo.webServiceId, 9000)?.alias).toBe('GRPC');
});
