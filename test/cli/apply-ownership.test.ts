import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { runHere } from './running.ts';
import { install, PORTS, rule, setScene, shop, web } from './scene.ts';

for (const dialect of ['extended', 'documented'] as const) {
  test(`${dialect}: a rule that is there and not ours is held, and taken over only with --adopt`, async () => {
    const scene = await setScene({
      dialect,
      manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
    });
    await scene.run('apply', ['--ledger', `${scene.folder}/another.db`]);
    scene.traffic();
    const first = await scene.run('apply');
    expect(first.code).toBe(4);
    expect(first.out).toContain('apply --adopt HttpGatewayRule/www');
    // A server that lists nothing says it by refusing; it is asked once.
    expect(scene.traffic().writes).toEqual(dialect === 'extended' ? [] : ['createRule']);
    expect((await scene.run('apply')).code).toBe(4);
    expect(scene.traffic().writes).toEqual([]);
    const adopted = await scene.run('apply', ['--adopt', 'HttpGatewayRule/www']);
    expect(adopted.code).toBe(0);
    expect(adopted.out).toContain('is adopted');
    expect(scene.traffic().writes).toEqual([]);
    expect((await scene.run('apply')).code).toBe(0);
    expect([...scene.sandbox.state.rules.all()].filter((row) => row.domain === 'www.example.com')).toHaveLength(1);
  });

  test(`${dialect}: a second copy under another name is held; portolan/moved-from renames the one there is`, async () => {
    const scene = await setScene({ dialect, manifests: { 'a.yaml': shop(install('db')) } });
    await scene.run('apply');
    scene.traffic();
    scene.write('a.yaml', shop(install('base')));
    const held = await scene.run('apply');
    expect(held.code).toBe(4);
    expect(held.out).toContain('installed as StoreInstall/db; StoreInstall/base would install a second copy');
    expect(held.out).toContain('portolan/moved-from: db');
    expect(held.out).toContain('allowSecondCopy: true');
    scene.write('a.yaml', shop(install('base', '', 'annotations: { portolan/moved-from: db }')));
    const moved = await scene.run('apply');
    expect(moved.code).toBe(0);
    expect(moved.out).toContain('StoreInstall/db is recorded under its new name StoreInstall/base');
    expect(moved.out).not.toContain('no longer');
    expect(scene.traffic().writes).toEqual([]);
    // The annotation may stay or go.
    scene.write('a.yaml', shop(install('base')));
    expect((await scene.run('apply')).out).toContain('Everything is in sync.');
    scene.write('a.yaml', shop(install('base'), install('second', ', allowSecondCopy: true')));
    expect((await scene.run('apply')).code).toBe(0);
    expect(scene.traffic().writes).toEqual(['install']);
    expect([...scene.sandbox.state.installs.all()]).toHaveLength(2);
  });
}

test('on the documented dialect only --adopt Kind/name records a change that was made in the console', async () => {
  const scene = await setScene({
    dialect: 'documented',
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
  });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50')));
  scene.traffic();
  const bare = await scene.run('apply', ['--adopt']);
  expect(bare.code).toBe(4);
  expect(bare.out).toContain('apply --adopt HttpGatewayRule/www');
  expect((await scene.run('apply')).code, 'nothing was recorded').toBe(4);
  const named = await scene.run('apply', ['--adopt', 'HttpGatewayRule/www']);
  expect(named.code, named.out).toBe(0);
  expect(named.out).toContain('is recorded as its manifest says');
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
  const help = await runHere(['apply', '--help'], {});
  expect(help.out.replaceAll(/\s+/g, ' ')).toContain('only Kind/name records a change that was made in the console');
});

test('an install that somebody else made is held, and adopted with its components', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(install('db')) } });
  await scene.run('apply', ['--ledger', `${scene.folder}/another.db`]);
  scene.traffic();
  const held = await scene.run('apply');
  expect(held.code).toBe(4);
  expect(held.out).toContain('already has an install of model 0a1b2c that this ledger does not know');
  const adopted = await scene.run('apply', ['--adopt']);
  expect(adopted.code).toBe(0);
  expect(adopted.out).toContain('StoreInstall/db is adopted unchanged, with 1 components');
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
});

test('two sources on one ledger: what belongs to the other is held and not touched', async () => {
  const scene = await setScene({
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 5')) },
  });
  expect((await scene.run('apply', ['--source', 'first'])).code).toBe(0);
  scene.traffic();
  scene.write('a.yaml', shop(web(PORTS.replace('WEB', 'OTHER')), rule('www', 'www.example.com', 'weight: 6')));
  const second = await scene.run('apply', ['--source', 'second', '--adopt']);
  expect(second.code).toBe(4);
  expect(second.out).toContain('belongs to the source "first"');
  expect(second.out).toContain('run with the --source that owns it');
  expect(scene.traffic().writes).toEqual([]);
  // Nor does pruning for one source see the other's objects.
  scene.write('a.yaml', shop());
  expect((await scene.run('apply', ['--source', 'second', '--prune'])).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
  expect(scene.port(demo.webServiceId, 8080)?.alias).toBe('WEB');
});
