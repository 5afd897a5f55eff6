import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { APPLICATION, web } from '../controller/shop.ts';
import { intent, object, real, shop, snapshot } from '../ledger/fixtures.ts';
import { ask } from '../sandbox/support.ts';
import { MINUTE_MS, shopWithInstall, Workplace } from './workplace.ts';

const fromInstall = `---
apiVersion: portolan/v1
kind: Component
metadata: { name: db }
spec:
  application: shop
  from: { install: shop-db, component: mysql }
  ports: [ { port: 3306, alias: SHOPDB } ]
`;
const installPath = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps/${demo.appId}/install`;

const lost = (when: 'before' | 'after'): FaultRule => ({
  operation: 'install',
  times: 1,
  fault: { type: 'drop', when },
});

test('an install whose answer was lost is settled by a word, and never sent a second time', async () => {
  const place = await Workplace.open('documented', [lost('after')]);
  expect(await place.apply('--first-install', shop)).toMatchObject({ code: 4 });
  const [id = ''] = await place.doubts();
  const early = await place.resolve(id, '--applied', '--reason', 'seen in the console');
  expect(early).toMatchObject({ code: 4, out: '' });
  expect(early.err).toContain('--force');
  expect(await place.doubts()).toEqual([id]);

  place.clock.push(21 * MINUTE_MS);
  const held = await place.apply();
  expect(held.code).toBe(4);
  expect(held.out).toContain(`portolan ledger resolve ${id} --applied|--not-applied --reason "…"`);
  const resolved = await place.resolve(id, '--applied', '--reason', 'seen in the console');
  expect(resolved).toMatchObject({ code: 0, out: expect.stringContaining('was applied') });
  // This server lists no components, and that is said.
  expect(resolved.err).toContain('spec.serviceId');
  expect(await place.list()).toMatchObject({
    intents: [],
    objects: [
      {
        resource: 'StoreInstall/shop-db',
        origin: 'created',
        state: 'present',
        lastApplied: { modelVersion: '8.0.36' },
      },
    ],
  });

  expect(await place.apply()).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect([place.installRequests(), place.installs()]).toEqual([1, 1]);
  const shown = await place.run(['ledger', 'show', id]);
  expect(shown.out).toMatch(
    /, resolved, by portolan ledger resolve by somebody[^]*decision=applied reason="seen in the console"/,
  );
  expect(shown.out).toMatch(/History[^]*resolved[^]*unknown[^]*intent /);
  expect(await place.resolve(id, '--not-applied', '--reason', 'again')).toMatchObject({
    code: 3,
    err: expect.stringContaining('is resolved already'),
  });
  expect(await place.run(['ledger', 'verify'])).toMatchObject({ code: 0 });
});

test('an install that never arrived is sent once more after a person said so', async () => {
  const place = await Workplace.open('documented', [lost('before')]);
  expect(await place.apply('--first-install', shop)).toMatchObject({ code: 4 });
  const [id = ''] = await place.doubts();
  place.clock.push(21 * MINUTE_MS);
  expect(await place.resolve(id, '--not-applied', '--reason', 'nothing there')).toMatchObject({
    code: 0,
    out: expect.stringContaining('was not applied'),
    err: '',
  });
  expect(await place.list()).toEqual(expect.objectContaining({ objects: [], intents: [] }));
  // Nothing of the application is on record yet, so the install is confirmed again.
  expect(await place.apply('--first-install', shop)).toMatchObject({ code: 0 });
  expect([place.installRequests(), place.installs()]).toEqual([2, 1]);
  expect(await place.apply()).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect(place.installRequests()).toBe(2);
});

test('where components can be listed, the install group a person names is recorded with them, and from: finds them', async () => {
  const place = await Workplace.open('extended', [lost('after')], shopWithInstall + fromInstall);
  expect(await place.apply()).toMatchObject({ code: 4 });
  const [id = ''] = await place.doubts();
  // Somebody installs the same model meanwhile: observation cannot tell the two apart.
  const stranger = await ask(place.sandbox, 'POST', installPath, {
    market_url: demo.storeUrl,
    market_domain: demo.storeDomain,
    market_type: demo.storeType,
    market_access_key: null,
    app_model_id: demo.mysqlModelId,
    app_model_version: '8.0.36',
  });
  expect(stranger.status).toBe(200);
  place.clock.push(21 * MINUTE_MS);
  expect(await place.apply()).toMatchObject({ code: 4, out: expect.stringContaining('2 new install groups') });

  const groups = [...place.sandbox.state.components.all()]
    .filter(({ appId, groupId }) => appId === demo.appId && groupId > 0)
    .map(({ groupId, id: serviceId }) => ({ group: String(groupId), serviceId }));
  expect(groups).toHaveLength(2);
  const [mine] = groups;
  const applied = (...args: string[]) => place.resolve(id, '--applied', '--reason', 'by its time', ...args);
  expect(await applied()).toMatchObject({
    code: 3,
    err: expect.stringContaining(groups.map(({ group }) => group).join(', ')),
  });
  expect(await applied('--id', '999')).toMatchObject({ code: 3, err: expect.stringContaining('no component') });
  expect(await applied('--id', 'mysql')).toMatchObject({ code: 3, err: expect.stringContaining('number') });
  expect(await place.doubts()).toEqual([id]);
  expect(await applied('--id', mine?.group ?? '')).toMatchObject({ code: 0, err: '' });
  expect(await place.list()).toMatchObject({
    objects: [
      { remoteId: mine?.group, remoteAux: { components: [{ serviceId: mine?.serviceId, serviceKey: 'mysql' }] } },
    ],
  });

  expect(await place.apply()).toMatchObject({ code: 0 });
  expect([...place.sandbox.state.ports.all()].find(({ serviceId }) => serviceId === mine?.serviceId)?.alias).toBe(
    'SHOPDB',
  );
  expect(place.installRequests()).toBe(2);
});

test('a platform that is named and silent is no platform without components', async () => {
  const place = await Workplace.open('extended', [lost('after')]);
  await place.apply();
  const [id = ''] = await place.doubts();
  place.clock.push(21 * MINUTE_MS);
  await place.sandbox.close();
  const silent = await place.resolve(id, '--applied', '--reason', 'seen');
  expect(silent).toMatchObject({ code: 5, out: '', err: expect.stringContaining('--offline') });
  expect(await place.doubts()).toEqual([id]);
  const offline = await place.resolve(id, '--applied', '--reason', 'seen', '--id', '7', '--offline');
  expect(offline).toMatchObject({ code: 0, err: expect.stringContaining('no platform is configured') });
  expect(await place.list()).toMatchObject({ intents: [], objects: [{ remoteId: '7' }] });
});

test('an upgrade that only the console can do is recorded as the hold says, and installs nothing', async () => {
  const place = await Workplace.open('documented', []);
  expect(await place.apply('--first-install', shop)).toMatchObject({ code: 0 });
  writeFileSync(join(place.folder, 'shop.yaml'), shopWithInstall.replace('8.0.36', '8.0.37'));
  const held = await place.apply();
  expect(held).toMatchObject({ code: 4, out: expect.stringContaining('apply --adopt StoreInstall/shop-db') });
  expect(await place.apply('--adopt', 'StoreInstall/shop-db')).toMatchObject({ code: 0 });
  expect(await place.apply()).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect((await place.list()).objects).toMatchObject([{ lastApplied: { modelVersion: '8.0.37' } }]);
  expect(place.installRequests()).toBe(1);
});

test('an install that was forgotten is not sent again before somebody confirms that it is safe', async () => {
  const place = await Workplace.open('documented', []);
  expect(await place.apply('--first-install', shop)).toMatchObject({ code: 0 });
  const forgotten = await place.run(['ledger', 'forget', 'StoreInstall/shop-db', '--reason', 'deleted in the console']);
  expect(forgotten).toMatchObject({ code: 0, err: expect.stringContaining(`portolan ledger confirm ${shop}`) });
  expect(await place.apply()).toMatchObject({
    code: 4,
    out: expect.stringContaining(`portolan ledger confirm ${shop}`),
  });
  expect(place.installRequests()).toBe(1);
  expect(await place.run(['ledger', 'confirm', shop])).toMatchObject({ code: 0, err: '' });
  expect(await place.apply()).toMatchObject({ code: 0 });
  expect(place.installRequests()).toBe(2);
});

/** A ledger with one intent, as a process that died in the middle would leave it, and maybe the object it is about. */
async function leftBehind(values: Partial<Intent>, before?: OwnedObject): Promise<Workplace> {
  const place = await Workplace.open('documented', []);
  const ledger = await openSqliteLedger(place.ledger, real);
  await ledger.commit({
    scope: shop,
    actor: 'test',
    atMs: 1_000,
    operations: [
      { op: 'accept-snapshot', snapshot: snapshot() },
      ...(before === undefined ? [] : [{ op: 'put-object', object: before } as const]),
      { op: 'open-intent', intent: intent(values) },
    ],
  });
  await ledger.close();
  return place;
}

const ruleKey = 'rule/6f3c/8080/http://www.example.test/';
const ruleUid = `default:${shop}:HttpGatewayRule:${ruleKey}`;
const createRule: Partial<Intent> = {
  uid: ruleUid,
  action: {
    object: ruleKey,
    step: {
      type: 'create',
      open: false,
      rule: { serviceId: '6f3c', port: 8080, domain: 'www.example.test', path: '/', weight: 50 },
    },
  },
};
const heldRule = object({ uid: ruleUid, naturalKey: ruleKey });

test('a request that a dead process left open begins to settle when somebody asks, and --force goes before that', async () => {
  const place = await leftBehind(createRule);
  expect((await place.run(['ledger', 'list'])).out).toContain('302 s after the next apply finds it');
  const args = ['intent-1', '--not-applied', '--reason', 'x'];
  expect(await place.resolve(...args)).toMatchObject({ code: 4, out: '' });
  expect((await place.list()).intents).toMatchObject([
    { id: 'intent-1', state: 'unknown', settles: { isOver: false } },
  ]);
  place.clock.push(4 * MINUTE_MS);
  expect(await place.resolve(...args)).toMatchObject({ code: 4, out: '' });
  const forced = await place.resolve(...args, '--force');
  expect(forced).toMatchObject({ code: 0, err: expect.stringContaining('because of --force') });
  expect(await place.doubts()).toEqual([]);
});

test('a rule is recorded under the id that a person read in the console', async () => {
  const place = await leftBehind(createRule);
  const run = await place.resolve('intent-1', '--applied', '--id', 'rule-9', '--reason', 'x', '--force');
  expect(run).toMatchObject({ code: 0, out: expect.stringContaining('id rule-9') });
  expect((await place.list()).objects).toEqual([
    {
      ...heldRule,
      remoteId: 'rule-9',
      remoteAux: { serviceId: '6f3c' },
      lastApplied: { weight: 50 },
      state: 'present',
    },
  ]);
});

test('without its id a rule is on record as existing, and the person is told what that means', async () => {
  const place = await leftBehind(createRule);
  const run = await place.resolve('intent-1', '--applied', '--reason', 'x', '--force', '-o', 'json');
  expect(JSON.parse(run.out)).toMatchObject({
    decision: 'applied',
    object: { remoteId: null, state: 'unverified' },
    warnings: [expect.stringContaining('--force'), expect.stringContaining('no --id')],
  });
});

test('where rules can be listed, the one that the request made is found, and another one is not taken for it', async () => {
  const rule = `${APPLICATION}---
${web('WEB')}---
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: new }
spec: { application: shop, component: shop-web, port: 8080, domain: new.example.com, weight: 50 }
`;
  const drop: FaultRule = { operation: 'createRule', times: 1, fault: { type: 'drop', when: 'after' } };
  const place = await Workplace.open('extended', [drop], rule);
  await place.apply();
  const [id = ''] = await place.doubts();
  place.clock.push(10 * MINUTE_MS);
  const { state } = place.sandbox;
  const [made] = [...state.rules.all()].filter(({ domain }) => domain === 'new.example.com');
  if (made === undefined) throw new Error('the request took effect');
  const applied = () => place.resolve(id, '--applied', '--reason', 'seen');
  const rules = (...rows: readonly (typeof made)[]): void =>
    place.sandbox.alter(({ rules: table }) => {
      for (const row of table.all()) if (row.domain === made.domain) table.delete(row.id);
      for (const row of rows) table.put(row);
    });

  rules();
  expect(await applied()).toMatchObject({ code: 3, err: expect.stringContaining('use --not-applied') });
  rules({ ...made, weight: 70 });
  expect(await applied()).toMatchObject({ code: 3, err: expect.stringContaining('weight is not what was sent') });
  rules(made, { ...made, id: 'f'.repeat(32), row: made.row + 1 });
  expect(await applied()).toMatchObject({ code: 3, err: expect.stringContaining('2 new rules have this key') });
  expect(await place.doubts()).toEqual([id]);
  rules(made);
  expect(await applied()).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`id ${made.id}`) });
  expect(await place.apply()).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
});

test('a delete that was done leaves the object to be read back once more', async () => {
  const step = { type: 'delete', ruleId: 'rule-1', key: ruleKey };
  const place = await leftBehind(
    { ...createRule, operation: 'deleteRule', action: { object: ruleKey, step } },
    heldRule,
  );
  expect(await place.resolve('intent-1', '--applied', '--reason', 'x', '--force')).toMatchObject({ code: 0 });
  expect((await place.list()).objects).toEqual([{ ...heldRule, state: 'deleting' }]);
});

test('a port that was added is on record as ours', async () => {
  const key = 'port/6f3c/9000';
  const step = { type: 'add_port', serviceId: '6f3c', port: 9000, protocol: 'http', alias: 'RPC', inner: true };
  const place = await leftBehind({
    uid: `default:${shop}:Component:${key}`,
    resource: 'Component/web',
    operation: 'addPort',
    action: { object: key, step },
    preimage: null,
  });
  expect(await place.resolve('intent-1', '--applied', '--id', '9000', '--reason', 'x', '--force')).toMatchObject({
    code: 3,
    err: expect.stringContaining('no id of its own'),
  });
  expect(await place.resolve('intent-1', '--applied', '--reason', 'x', '--force')).toMatchObject({ code: 0 });
  expect((await place.list()).objects).toMatchObject([
    { naturalKey: key, origin: 'created', state: 'present', lastApplied: { alias: 'RPC', inner: true } },
  ]);
});

test.for([
  [['no-such-intent', '--applied', '--reason', 'x'], 'no intent no-such-intent'],
  [['intent-1', '--reason', 'x'], 'Neither --applied nor --not-applied'],
  [['intent-1', '--applied', '--not-applied', '--reason', 'x'], 'Both --applied and --not-applied'],
  [['intent-1', '--applied'], 'No reason'],
  [['intent-1', '--not-applied', '--id', '7', '--reason', 'x'], '--id names the object that a request created'],
] as const)('ledger resolve %j is refused in words, and changes nothing', async ([args, words]) => {
  const place = await leftBehind(createRule);
  expect(await place.resolve(...args)).toMatchObject({ code: 3, out: '', err: expect.stringContaining(words) });
  expect((await place.list()).intents).toMatchObject([{ id: 'intent-1', state: 'open' }]);
});
