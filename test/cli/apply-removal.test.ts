import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { install, PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const domains = ({ sandbox }: Scene): string[] =>
  [...sandbox.state.rules.all()]
    .filter((row) => row.type === 1)
    .map((row) => row.domain)
    .sort();

test('extended: a rule that git no longer names stays and is named, until --prune deletes it', async () => {
  const scene = await setScene({
    manifests: { 'a.yaml': shop(web(PORTS), rule('a', 'a.example.com'), rule('b', 'b.example.com', 'weight: 5')) },
  });
  await scene.run('apply');
  // Somebody else's rule is never ours to delete.
  await scene.run('apply', ['--ledger', `${scene.folder}/other.db`]);
  scene.traffic();
  scene.write('a.yaml', shop(web(PORTS), rule('a', 'a.example.com')));
  const without = await scene.run('apply');
  expect(without.code).toBe(0);
  expect(without.out).toContain(
    'rule b.example.com/ was removed from the source; it stays, and apply --prune would delete it',
  );
  expect(scene.traffic().writes).toEqual([]);
  const targeted = await scene.run('apply', ['--prune', '--target', 'Component/shop-web']);
  expect(targeted.code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);

  const pruned = await scene.run('apply', ['--prune']);
  expect(pruned.code).toBe(0);
  expect(pruned.out).toContain(`    - delete rule b.example.com/  (no longer in git)
        weight: 5 → (removed)

`);
  expect(scene.traffic().writes).toEqual(['deleteRule']);
  expect(domains(scene)).toEqual(['a.example.com']);
  expect((await scene.run('apply', ['--prune'])).out).toContain('Everything is in sync.');
  expect(scene.traffic().writes).toEqual([]);
});

test('documented: a rule that git no longer names can only be named, with what to do', async () => {
  const scene = await setScene({
    dialect: 'documented',
    manifests: { 'a.yaml': shop(web(PORTS), rule('a', 'a.example.com'), rule('b', 'b.example.com')) },
  });
  await scene.run('apply');
  scene.traffic();
  scene.write('a.yaml', shop(web(PORTS), rule('a', 'a.example.com')));
  const run = await scene.run('apply', ['--prune']);
  expect(run.code).toBe(0);
  expect(run.out).toContain('this server cannot change or delete rules, so it stays until that is done in the console');
  const [, command = ''] = /\(then: portolan (ledger forget \S+ --reason ".")\)/.exec(run.out) ?? [];
  expect(command).toContain('HttpGatewayRule/b');
  expect(scene.traffic().writes).toEqual([]);
  const forgotten = await scene.portolan(['ledger', 'forget', 'HttpGatewayRule/b', '--reason', 'deleted']);
  expect(forgotten.code, forgotten.err).toBe(0);
  expect((await scene.run('apply', ['--prune'])).out).not.toContain('b.example.com');
});

test('portolan/prune: keep outlives its manifest, and the deletion of the port below it', async () => {
  const keep = 'annotations: { portolan/prune: keep }';
  const scene = await setScene({
    manifests: { 'a.yaml': shop(web(PORTS), rule('a', 'a.example.com', '', keep)) },
  });
  await scene.run('apply');
  scene.traffic();
  scene.write('a.yaml', shop(web(PORTS)));
  const kept = await scene.run('apply', ['--prune']);
  expect(kept.out).toContain('it stays, because its manifest said portolan/prune: keep');
  scene.write('a.yaml', shop(web('ports: []\nunlistedPorts: delete')));
  const held = await scene.run('apply', ['--prune']);
  expect(held.code).toBe(4);
  expect(held.out).toContain('unlisted port 8080 is not deleted: that would also delete a.example.com/');
  expect(domains(scene)).toEqual(['a.example.com']);
  expect(scene.port(demo.webServiceId, 8080)).toBeDefined();
  expect(scene.port(demo.webServiceId, 9000)).toBeUndefined();
});

test.for(['extended', 'documented'] as const)(
  '%s: ports that a manifest does not list are kept, closed or deleted as it says, and only with --prune',
  async (dialect) => {
    const one = 'ports:\n  - { port: 9000, protocol: grpc, alias: RPC, inner: true, outer: false }';
    const scene = await setScene({ dialect, manifests: { 'a.yaml': shop(web(PORTS)) } });
    await scene.run('apply');
    scene.traffic();
    scene.write('a.yaml', shop(web(one)));
    expect((await scene.run('apply', ['--prune'])).code).toBe(0);
    expect(scene.traffic().writes).toEqual([]);

    scene.write('a.yaml', shop(web(`${one}\nunlistedPorts: close`)));
    const asked = await scene.run('apply');
    expect(asked.out).toContain(
      'unlisted ports 8080 (unlistedPorts: close) are left as they are; apply --prune would close them',
    );
    expect(scene.traffic().writes).toEqual([]);
    expect((await scene.run('apply', ['--prune'])).code).toBe(0);
    expect(scene.traffic().writes).toEqual(['updatePort', 'updatePort']);
    expect(scene.port(demo.webServiceId, 8080)).toMatchObject({ outer: false, inner: false });
    expect((await scene.run('apply', ['--prune'])).out).toContain('Everything is in sync.');

    scene.traffic();
    scene.write('a.yaml', shop(web(`${one}\nunlistedPorts: delete`)));
    const removed = await scene.run('apply', ['--prune']);
    if (dialect === 'extended') {
      expect(removed.code).toBe(0);
      expect(scene.traffic().writes).toEqual(['deletePort']);
      expect(scene.port(demo.webServiceId, 8080)).toBeUndefined();
    } else {
      expect(removed.code).toBe(4);
      expect(removed.out).toContain('cannot be deleted: this server does not offer it');
      expect(removed.out).toContain('Write unlistedPorts: close');
      expect(scene.traffic().writes).toEqual([]);
    }
  },
);

test('a removed Application orphans what it had: named in every plan, touched by none', async () => {
  const scene = await setScene();
  await scene.run('apply');
  scene.traffic();
  for (const name of ['application', 'api', 'database', 'web']) scene.write(`shop/${name}.yaml`, undefined);
  for (const flags of [[], ['--prune']]) {
    const run = await scene.run('apply', flags);
    expect(run.code).toBe(0);
    expect(run.out).toContain(
      'i no Application of this source refers to default/team-a/region-1/42 any more; its resources stay there unmanaged: Component/shop-api, Component/shop-db-mysql, Component/shop-web, HttpGatewayRule/shop-api, HttpGatewayRule/shop-www and 1 more.',
    );
    expect(run.out).toContain('portolan ledger forget');
  }
  expect((await scene.run('status')).out).toContain(
    'no Application of this source refers to default/team-a/region-1/42',
  );
  const json = JSON.parse((await scene.run('plan', ['-o', 'json'])).out) as { notes: { code: string }[] };
  expect(json.notes.map((note) => note.code)).toEqual(['scope/orphaned']);
  expect(scene.traffic()).toMatchObject({ writes: [] });
});

test('an application that only cannot be read today is not called orphaned', async () => {
  const scene = await setScene();
  await scene.run('apply');
  const fault = { type: 'status', when: 'before', status: 403, body: {} } as const;
  scene.sandbox.setFaults(['**/apps/42', '**/apps/42/**'].map((path) => ({ path, fault })));
  const run = await scene.run('plan');
  expect(run.code).toBe(5);
  expect(run.out).not.toContain('any more');
});

test('an install is never removed, whatever git says', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(install('db')) } });
  await scene.run('apply');
  scene.traffic();
  scene.write('a.yaml', shop());
  const run = await scene.run('apply', ['--prune']);
  expect(run.out).toContain('StoreInstall/db was removed from the source; installs are never removed');
  expect(scene.traffic().writes).toEqual([]);
  expect([...scene.sandbox.state.installs.all()]).toHaveLength(1);
});
