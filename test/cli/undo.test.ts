import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { commit, repository } from '../source/repositories.ts';
import { install, rule, type Scene, setScene, shop, web } from './scene.ts';

const PORTS = `ports:
  - { port: 8080, protocol: http, inner: true, outer: true }
  - { port: 9000, protocol: grpc, alias: RPC, inner: true, outer: false }`;
const CHANGED = `${PORTS.replace('RPC', 'GRPC')}
  - { port: 9001, protocol: tcp, alias: NINE, inner: true, outer: true }`;
const www = (weight: number) => rule('www', 'www.example.com', `weight: ${weight}`);
const old = rule('old', 'old.example.com', 'weight: 7\nconfiguration: { proxyReadTimeout: 33 }');
const api = rule('api', 'api.example.com');

const BEFORE = shop(web(PORTS), www(50), old);
const AFTER = shop(web(CHANGED), www(20), api, install('shop-db'));

const rulesOf = ({ sandbox }: Scene) =>
  [...sandbox.state.rules.all()]
    .filter(({ type }) => type === 1)
    .map(({ domain, weight }) => `${domain} ${weight}`)
    .sort();
const aliasOf = (scene: Scene) => scene.port(demo.webServiceId, 9000)?.alias;

/** A scene in which run 1 applied the first commit, and run 2 the second one. */
async function twoRuns(before = BEFORE, after = AFTER) {
  const scene = await setScene({ manifests: {} });
  const root = repository();
  const apply = (...args: readonly string[]) =>
    scene.run('apply', ['-f', join(root, 'manifests'), '--revision', 'main', ...args]);
  const put = (text: string) => commit(root, { 'manifests/shop.yaml': text });
  const ids = [];
  for (const text of [before, after]) {
    ids.push(put(text));
    expect((await apply('--prune')).code).toBe(0);
  }
  scene.traffic();
  return { scene, ids, apply, put };
}

test('apply --undo restores the values of before a run, says what git changes back, and what cannot be undone', async () => {
  const { scene, ids, apply } = await twoRuns();
  const kept = await apply('--undo', '2', '--dry-run');
  expect(kept.code).toBe(0);
  expect(kept.out).toContain('ports[9000].alias: "GRPC" → "RPC"');
  expect(kept.out).toContain(
    'i "add port 9001 (tcp, inner open)" of Component/shop-web is not undone without --prune\n',
  );
  expect(kept.out).toContain('Plan: 1 to create, 2 to change, 0 to delete.');
  expect(kept.out).toContain(
    '"create rule api.example.com/ on port 8080 of Component/shop-web" of HttpGatewayRule/api is not',
  );
  expect(kept.out).not.toContain('no longer in git');
  expect(scene.traffic().writes).toEqual([]);

  const undone = await apply('--undo', '2', '--prune');
  expect(undone.code).toBe(0);
  const notes = undone.out.split('\n').filter((line) => line.startsWith('i '));
  expect(notes).toEqual([
    'i git will change Component/shop-web back ("add port 9001 (tcp, inner open)", ports[9000].alias to "GRPC") in the next pass',
    'i git will create HttpGatewayRule/api, which the manifests have, in the next pass',
    'i git will remove HttpGatewayRule/old, which the manifests do not have, in the next pass',
    'i git will change HttpGatewayRule/www back (weight to 20) in the next pass',
    'i "install 0a1b2c 8.0.36 from Store/main and build it" of StoreInstall/shop-db cannot be undone: Portolan never removes an install, and the platform has no downgrade',
    `i the undo lasts until the manifests are applied again; to keep it, undo the commit: portolan history shop --revert ${ids[1]?.slice(0, 12)}`,
  ]);
  expect(rulesOf(scene)).toEqual(['old.example.com 7', 'www.example.com 50']);
  const again = [...scene.sandbox.state.rules.all()].find(({ domain }) => domain === 'old.example.com');
  expect(again?.configuration).toMatchObject({ proxy_read_timeout: 33 });
  expect([aliasOf(scene), scene.port(demo.webServiceId, 9001)]).toEqual(['RPC', undefined]);

  const { out } = await scene.portolan(['history', 'shop', '--limit', '1']);
  expect(out).toContain('undo of run 2  run 3\n');
  expect(out).toContain('~ Component/shop-web: change alias of port 9000 to RPC (undoes an earlier run)');
  // The accepted source is still that of git, whose plan does what the notes said.
  const next = await apply('--dry-run', '--prune');
  expect(next.out).toContain('Plan: 2 to create, 3 to change, 1 to delete.');
  expect((await scene.portolan(['ledger', 'verify'])).code).toBe(0);
  // The same undo continues one that was interrupted; here nothing is left of it.
  expect((await apply('--undo', '2', '--prune')).out).toContain('Nothing to do.');
  // An undo is a run, and can be undone.
  expect((await apply('--undo', '3', '--prune')).code).toBe(0);
  expect(rulesOf(scene)).toEqual(['api.example.com 100', 'www.example.com 20']);
});

test('apply --undo passes the guards, and refuses where it would do more or less than restore', async () => {
  const { scene, apply, put } = await twoRuns();
  const refused = async (args: readonly string[], code: number, why: RegExp): Promise<void> => {
    const run = await apply('--undo', ...args);
    expect(run.code, run.err).toBe(code);
    expect(`${run.out}${run.err}`.replace(/\s+/g, ' ')).toMatch(why);
    expect(scene.traffic().writes).toEqual([]);
  };
  await refused(['2', '--prune', '--max-prunes', '1'], 4, /guard\/prunes|at most 1/);
  await refused(['1'], 4, /Run 1 cannot be undone: run 2 changed the same values of \S+\. .*Undo run 2 first/);
  await refused(['9'], 3, /has no run 9\. .*portolan history APPLICATION/);
  await refused(['2', '--target', 'HttpGatewayRule/www'], 3, /--target does not fit --undo/);
  await refused(['2', '--ledger', 'none', '--dry-run'], 3, /needs the ledger that recorded the run/);
  // What was changed on the platform since is not overwritten.
  scene.alterPort(demo.webServiceId, 9000, { alias: 'BY_HAND' });
  await refused(['2'], 4, /ports\[9000\]\.alias of Component\/shop-web is "BY_HAND", and the run left "GRPC"/);
  scene.alterPort(demo.webServiceId, 9000, { alias: 'GRPC' });
  // Changes of git that were not applied are not applied along.
  put(AFTER.replace('port: 8080, protocol: http,', 'port: 8080, protocol: http, alias: OTHER,'));
  await refused(['2'], 4, /also change ports\[8080\]\.alias of Component\/shop-web.*--revision/);
  expect([rulesOf(scene), aliasOf(scene)]).toEqual([['api.example.com 100', 'www.example.com 20'], 'GRPC']);

  // The same command continues an undo with a write in doubt, after its settle window.
  put(AFTER);
  const body = { msg: 'no found app', code: 404 };
  scene.sandbox.setFaults([{ operation: 'updateRule', fault: { type: 'status', when: 'before', status: 404, body } }]);
  expect((await apply('--undo', '2', '--prune')).code).toBe(4);
  expect([rulesOf(scene).includes('www.example.com 20'), aliasOf(scene)]).toEqual([true, 'RPC']);
  scene.sandbox.setFaults([]);
  scene.clock.push(defaultTiming.settleTargetStateMs + 1_000);
  const continued = await apply('--undo', '2', '--prune');
  expect(continued.code, continued.out + continued.err).toBe(0);
  expect([rulesOf(scene), aliasOf(scene)]).toEqual([['old.example.com 7', 'www.example.com 50'], 'RPC']);
});

test('apply --undo follows renamed resources, and keeps what a removed manifest said', async () => {
  const keep = 'annotations: { portolan/prune: keep }';
  const { scene, apply, put } = await twoRuns(
    shop(web(PORTS, keep), www(50)),
    shop(web(PORTS.replace('RPC', 'GRPC'), keep), www(20)),
  );
  const renamed = rule('shop-www', 'www.example.com', 'weight: 20', 'annotations: { portolan/moved-from: www }');
  put(shop(web(PORTS.replace('RPC', 'GRPC'), keep), renamed));
  expect((await apply()).code).toBe(0);
  const { out } = await apply('--undo', '2', '--dry-run');
  expect(out).toContain('Plan: 0 to create, 2 to change, 0 to delete.');
  expect(out).toContain('git will change HttpGatewayRule/shop-www back (weight to 20)');

  // The Component was removed, and its port stays.
  put(shop());
  expect((await apply()).code).toBe(0);
  expect((await apply('--undo', '2')).out).toContain('cannot be undone: no manifest describes the component');
  expect((await apply('--prune')).code).toBe(0);
  expect(aliasOf(scene)).toBe('GRPC');
});

test('apply --undo does not change a port that someone created in place of a deleted one', async () => {
  const { scene, apply } = await twoRuns(shop(web(CHANGED)), shop(web(PORTS)));
  const port = scene.port(demo.webServiceId, 9000);
  if (port === undefined) throw new Error('there is no such port');
  const byHand = { ...port, port: 9001, protocol: 'http', alias: 'BY_HAND' };
  scene.sandbox.alter((state) => state.ports.put(byHand));
  const refused = await apply('--undo', '2');
  expect(refused.code, refused.out).toBe(4);
  expect(refused.err).toContain('undo/changed-since');
  expect(scene.traffic().writes).toEqual([]);
});

test('apply --undo of a deletion creates a rule with its last values, also those that only the ledger has', async () => {
  const extended = (value: string) =>
    shop(web(PORTS), rule('www', 'www.example.com', `extensions: [{ key: lb-type, value: ${value} }]`));
  const { scene, apply, put } = await twoRuns(extended('first'), extended('second'));
  put(shop(web(PORTS)));
  expect((await apply('--prune')).code).toBe(0);
  const undone = await apply('--undo', '3');
  expect(undone.code, undone.out + undone.err).toBe(0);
  const [again] = [...scene.sandbox.state.rules.all()].filter(({ domain }) => domain === 'www.example.com');
  expect(again?.extensions).toEqual([{ key: 'lb-type', value: 'second' }]);
});

test('apply --undo does not remove a port that was changed since the run created it', async () => {
  const { scene, apply } = await twoRuns(shop(web(PORTS)), shop(web(CHANGED)));
  scene.alterPort(demo.webServiceId, 9001, { alias: 'BY_HAND' });
  const refused = await apply('--undo', '2', '--prune');
  expect(refused.code, refused.out).toBe(4);
  expect(refused.err).toContain('ports[9001].alias of Component/shop-web is "BY_HAND"');
  expect(scene.traffic().writes).toEqual([]);
});
