import { expect, test } from 'vitest';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { install, PORTS, rule, setScene, shop, until, web } from './scene.ts';

/** An answer that is on the list of definite refusals. */
function refusal(operation: string, rest: Partial<FaultRule> = {}): FaultRule {
  const body = { code: 20400, msg: 'bad thing', msg_show: 'bad thing', data: {} };
  return { operation, ...rest, fault: { type: 'status', when: 'before', status: 400, body } };
}

test('a failed action blocks its dependants and nothing else, in its application and beyond', async () => {
  const scene = await setScene({ dialect: 'documented' });
  scene.sandbox.setFaults([refusal('updatePort', { path: '**/ports/8080' })]);
  const run = await scene.run('apply');
  expect(run.code).toBe(1);
  // What, where, what the platform said, and what to do.
  expect(run.out).toMatch(
    /\n✗ failed Component\/shop-web: open outer access of port 8080\n {4}PUT \/openapi\/v1\/teams\/team-a\/regions\/region-1\/apps\/42\/services\/\w+\/ports\/8080 answered status 400, code 20400: bad thing\n {4}→ The platform refused it and nothing changed\./,
  );
  expect(run.out).toMatch(
    /\n- skipped HttpGatewayRule\/shop-www: create rule .* {2}\(it needs Component\/shop-web#ports\/8080\/open_outer\)\n/,
  );
  expect(run.out).toMatch(/\nApplied: 8 done, 2 failed, 1 skipped\. The next run continues with 3 changes\.\n$/);
  // Not even in a later round of the same run is the rule sent before its port is open.
  const rules = scene.sandbox.requests().filter((entry) => entry.operation === 'createRule');
  expect(rules.map((entry) => entry.status)).toEqual([200]);
  const status = await scene.run('status');
  expect(status.out).toMatch(/HttpGatewayRule\/shop-www +OutOfSync/);
  expect(status.out).toMatch(/Application\/blog +InSync/);

  scene.sandbox.setFaults([]);
  scene.traffic();
  const next = await scene.run('apply');
  expect(next.code, next.out).toBe(0);
  expect(scene.traffic().writes).toEqual(['updatePort', 'updatePort', 'createRule']);
  expect([...scene.sandbox.state.rules.all()].map((row) => row.domain)).toContain('www.shop.example.com');
});

for (const dialect of ['extended', 'documented'] as const) {
  test(`${dialect}: a creation that was refused is no object: it is tried again, and made`, async () => {
    const scene = await setScene({
      dialect,
      manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
    });
    scene.sandbox.setFaults([refusal('createRule'), refusal('addPort')]);
    expect((await scene.run('apply')).code).toBe(1);
    const status = await scene.run('status');
    expect(status.out).toMatch(/HttpGatewayRule\/www +OutOfSync/);
    expect(status.out).toMatch(/Component\/shop-web +OutOfSync +first-apply: .*add port 9000/);
    scene.sandbox.setFaults([]);
    expect((await scene.run('apply')).code).toBe(0);
    expect([...scene.sandbox.state.rules.all()].map((row) => row.domain)).toContain('www.example.com');
    const second = await scene.run('apply');
    expect(second.out).toContain('Everything is in sync.');
  });

  test(`${dialect}: what was refused three times is held, until its manifest changes`, async () => {
    const scene = await setScene({
      dialect,
      manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50')) },
    });
    scene.sandbox.setFaults([refusal('createRule')]);
    for (const attempt of [1, 2, 3]) expect((await scene.run('apply')).code, String(attempt)).toBe(1);
    scene.traffic();
    const held = await scene.run('apply');
    expect(held.code).toBe(4);
    expect(held.out).toContain(
      'tried 3 times in a row, and each time it was refused or changed nothing, so "create rule www.example.com/ on port 8080 of Component/shop-web" is not sent',
    );
    expect(held.out).toContain('Change the manifest, or run `portolan ledger retry');
    expect(scene.traffic().writes).toEqual([]);
    scene.sandbox.setFaults([]);
    scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 60')));
    expect((await scene.run('apply')).code).toBe(0);
    expect(scene.traffic().writes).toEqual(['createRule']);
  });
}

test('an install that the platform refuses is no install, and what comes from it waits', async () => {
  const scene = await setScene({
    manifests: {
      'a.yaml': shop(
        install('db'),
        web('ports: []').replace(/serviceId: .*/, 'from: { install: db, component: mysql }'),
      ),
    },
  });
  scene.sandbox.setFaults([refusal('install')]);
  const refused = await scene.run('apply');
  expect(refused.code).toBe(1);
  expect(refused.out).toMatch(/Applied: 0 done, 1 failed, 0 skipped\. The next run continues with 2 changes\.\n$/);
  scene.sandbox.setFaults([]);
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual(['install', 'install']);
  expect([...scene.sandbox.state.installs.all()]).toHaveLength(1);
});

test('a version that the store does not have is refused at once, not in doubt, and a corrected manifest installs', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(install('db').replace('8.0.36', '1.2.3')) } });
  const run = await scene.run('apply');
  expect(run.code).toBe(1);
  expect(run.out).toContain('answered status 404, code 404: not found; 云端应用版本不存在');
  scene.write('a.yaml', shop(install('db')));
  expect((await scene.run('apply')).code).toBe(0);
  expect([...scene.sandbox.state.installs.all()]).toHaveLength(1);
});

test('--fail-fast begins nothing new after the first failure, in any application', async () => {
  const scene = await setScene();
  scene.sandbox.setFaults([refusal('install')]);
  const run = await scene.run('apply', ['--fail-fast', '--parallelism', '1']);
  expect(run.code).toBe(1);
  expect(scene.traffic().writes).toEqual(['install']);
  expect(run.out).toContain('(not begun after a failure, by --fail-fast)');
  expect(run.out).toMatch(/\nApplied: 0 done, 1 failed, \d+ skipped\. The next run continues with \d+ changes\.\n$/);
});

test('an application that cannot be read delays no other, and is not called in sync', async () => {
  const scene = await setScene();
  scene.sandbox.setFaults([
    {
      path: '**/apps/42',
      fault: { type: 'status', when: 'before', status: 404, body: { msg: 'no found app', code: 404 } },
    },
  ]);
  const run = await scene.run('apply');
  expect(run.code).toBe(1);
  expect(run.out).toContain('application 42 of team team-a in region region-1');
  expect(run.out).toMatch(/\nApplied: 2 done, 0 failed, 0 skipped, 1 application not observed\.\n$/);
  expect(scene.sandbox.requests().filter((entry) => entry.isWrite && entry.path.includes('/apps/42'))).toEqual([]);
});

test('what is accepted without effect is tried three times, then held with both values', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  // The server says yes and does nothing.
  scene.sandbox.setFaults([
    {
      operation: 'updatePort',
      fault: { type: 'status', when: 'before', status: 200, body: { code: 200, msg: 'success', data: { bean: {} } } },
    },
  ]);
  const run = await scene.run('apply');
  // What was accepted and shows no change has failed.
  expect(run.code, run.out + run.err).toBe(1);
  expect(run.out).toContain('ports[8080].alias is "GR6F3C1D8080", wanted "WEB"');
  expect(scene.traffic().writes.filter((name) => name === 'updatePort').length).toBeLessThanOrEqual(6);
  const again = await scene.run('apply');
  expect(again.code).toBe(4);
  expect(scene.traffic().writes).toEqual([]);
});

test('what comes up while a run is under way waits for the next run, and is said', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  await scene.run('apply');
  scene.write('a.yaml', shop(web(`${PORTS}\n  - { port: 9001, protocol: tcp, alias: NEW, inner: true }`)));
  scene.sandbox.setFaults([{ operation: 'addPort', fault: { type: 'delay', ms: 150 } }]);
  const ended = scene.run('apply');
  await until(() => scene.sandbox.faults()[0]?.struck === 1);
  scene.alterPort(demo.webServiceId, 9000, { alias: 'HAND' });
  const run = await ended;
  expect(run.code).toBe(4);
  expect(run.out).toContain('Component/shop-web: "change alias of port 9000 to RPC" appeared during the run');
  expect(run.out).toMatch(/\nApplied: 1 done, 0 failed, 0 skipped\. The next run continues with 1 change\.\n$/);
  expect((await scene.run('apply')).code).toBe(0);
});
