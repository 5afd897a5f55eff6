import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { portKey } from '../../src/sandbox/state.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const www = (weight: number, metadata = ''): string => rule('www', 'www.example.com', `weight: ${weight}`, metadata);

async function applied(): Promise<Scene> {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), www(50)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.traffic();
  return scene;
}

function setWeight(scene: Scene, weight: number): void {
  scene.sandbox.alter((state) => {
    for (const row of state.rules.all()) state.rules.put({ ...row, weight });
  });
}

test('drift is named as such, with what was last applied, and healed', async () => {
  const scene = await applied();
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  setWeight(scene, 7);
  const plan = await scene.run('plan', ['--detailed-exitcode']);
  expect(plan.code).toBe(2);
  expect(plan.out).toContain(`    ~ change alias of port 8080 to WEB  (drift: changed on the platform)
        ports[8080].alias: "HAND" → "WEB"  last applied: "WEB"
`);
  expect(plan.out).toContain(`    ~ update rule www.example.com/: weight  (drift: changed on the platform)
        weight: 7 → 50  last applied: 50
`);
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual(['updatePort', 'updateRule']);
  expect(scene.port(demo.webServiceId, 8080)?.alias).toBe('WEB');
  expect((await scene.run('plan', ['--detailed-exitcode'])).code).toBe(0);
});

test('a change in git and drift of the same field are told apart, and together', async () => {
  const scene = await applied();
  scene.write('a.yaml', shop(web(PORTS), www(60)));
  expect((await scene.run('plan')).out).toContain('update rule www.example.com/: weight  (changed in git)\n');
  setWeight(scene, 7);
  expect((await scene.run('plan')).out).toContain(`(changed in git, and drifted on the platform)
        weight: 7 → 60  last applied: 50
`);
  expect((await scene.run('apply')).code).toBe(0);
});

test('a rule and a port that vanished are drift, to the last field, and are made again', async () => {
  const scene = await applied();
  scene.sandbox.alter((state) => {
    for (const row of state.rules.all()) state.rules.delete(row.id);
    for (const row of state.ports.all()) if (row.port === 9000) state.ports.delete(portKey(row.serviceId, row.port));
  });
  expect(scene.port(demo.webServiceId, 9000)).toBeUndefined();
  const plan = await scene.run('plan');
  expect(plan.out).toContain(
    'create rule www.example.com/ on port 8080 of Component/shop-web  (drift: changed on the platform)',
  );
  expect(plan.out).toContain('add port 9000 (grpc, inner open)  (drift: changed on the platform)');
  expect(plan.out).not.toContain('git');
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes.toSorted()).toEqual(['addPort', 'createRule']);
});

test('annotations: what is only reported is shown and left, what is suspended is not even compared', async () => {
  const scene = await applied();
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  setWeight(scene, 7);
  const report = 'annotations: { portolan/reconcile: report }';
  const suspend = 'annotations: { portolan/reconcile: suspend }';
  scene.write('a.yaml', shop(web(PORTS, report), www(50, suspend)));
  const run = await scene.run('apply');
  expect(run.code).toBe(0);
  expect(run.out).toContain('Component/shop-web differs in ports[8080].alias; it is only reported');
  expect(run.out).toContain('ports[8080].alias: "HAND" → "WEB"  last applied: "WEB"');
  expect(run.out).toContain('HttpGatewayRule/www is suspended by its annotation');
  expect(run.out).toMatch(
    /\nNothing to do\. Everything else is in sync; 1 resource only reported, 1 resource suspended\.\n$/,
  );
  expect(scene.traffic().writes).toEqual([]);
  expect((await scene.run('plan', ['--detailed-exitcode'])).code).toBe(0);
  // A suspended manifest is still a manifest: its rule is not pruned.
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
  scene.write('a.yaml', shop(web(PORTS), www(50)));
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual(['updatePort', 'updateRule']);
});
