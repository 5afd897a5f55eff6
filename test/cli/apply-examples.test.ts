import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requestFloor } from '../support/request-floor.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { setScene } from './scene.ts';

const dialects = [
  ['extended', 'extended'],
  ['extended', 'auto'],
  ['documented', 'documented'],
  ['documented', 'auto'],
] as const;

for (const [dialect, configuredDialect] of dialects) {
  test(`examples on a server of the ${dialect} dialect, configured ${configuredDialect}: applied once, and then in sync`, async () => {
    const scene = await setScene({ dialect, configuredDialect });
    const first = await scene.run('apply');
    expect(first.code, first.out + first.err).toBe(0);
    expect(first.out).toMatch(/\nApplied: \d+ done, 0 failed, 0 skipped\. Everything is in sync\.\n$/);
    const { writes } = scene.traffic();
    expect(writes.filter((name) => name === 'install')).toHaveLength(2);
    expect(writes.filter((name) => name === 'createRule')).toHaveLength(2);
    expect(scene.port(demo.webServiceId, 8080)).toMatchObject({ alias: 'WEB', outer: true, serviceName: 'shop-web' });
    expect(scene.port(demo.webServiceId, 9000)).toMatchObject({ alias: 'RPC', protocol: 'grpc', outer: false });
    expect(scene.port(demo.apiServiceId, 8000)).toMatchObject({ alias: 'API', outer: true });
    const made = [...scene.sandbox.state.rules.all()].filter((row) => row.type === 1);
    expect(made.map(({ domain, path, weight }) => `${domain}${path} ${weight}`).sort()).toEqual([
      'api.shop.example.com/v1 100',
      'www.shop.example.com/ 100',
    ]);

    const before = readFileSync(scene.ledgerFile);
    const second = await scene.run('apply');
    expect(second).toMatchObject({ code: 0, err: '' });
    expect(second.out).toBe(
      'No changes. 8 resources in sync, 32 unchanged fields not shown.\nNothing to do. Everything is in sync.\n',
    );
    expect(scene.traffic().writes).toEqual([]);

    // The run above has seen that what was installed is built; nothing of an install is read from then on.
    expect(await scene.run('apply')).toMatchObject({ code: 0, out: second.out, err: '' });
    const traffic = scene.traffic();
    expect(traffic.writes).toEqual([]);
    const size = { platform: 1, 'team and region': 1, application: 2, component: 4 };
    expect(countBy(traffic.reads)).toEqual(requestFloor(dialect, size));
    expect(before.length).toBeGreaterThan(0);
  });
}

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

test('what was found out about a server is remembered, so that nothing is asked for twice', async () => {
  const scene = await setScene({ dialect: 'documented', configuredDialect: 'auto' });
  await scene.run('apply');
  const unknown = scene.sandbox.requests().filter((entry) => entry.operation === 'unknown');
  expect(unknown.length).toBeGreaterThan(0);
  scene.traffic();
  scene.alterPort(demo.webServiceId, 8080, { outer: false });
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.sandbox.requests().filter((entry) => entry.operation === 'unknown')).toEqual([]);
});
