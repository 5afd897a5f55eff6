import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Run, runProcess } from './running.ts';
import { install, PORTS, rule, setScene, shop, web } from './scene.ts';

test('--target does one resource and leaves the rest, drift included', async () => {
  const scene = await setScene({
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com'), install('db')) },
  });
  // Its rule opens the port by being created; opened by itself, the port would be published under a default domain.
  const one = await scene.run('apply', ['--target', 'Component/shop-web']);
  expect(one.code).toBe(4);
  expect(one.out).toContain(
    'outer access of port 8080 stays closed: the creation of HttpGatewayRule/www should open it',
  );
  expect(one.out).toContain('add it to --target');
  expect(scene.traffic().writes.toSorted()).toEqual(['addPort', 'updatePort']);
  const two = await scene.run('apply', ['--target', 'Component/shop-web', '--target', 'HttpGatewayRule/www']);
  expect(two.code, two.out).toBe(0);
  expect(scene.traffic().writes).toEqual(['createRule']);
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  expect((await scene.run('apply', ['--target', 'StoreInstall/db'])).code).toBe(0);
  expect(scene.traffic().writes).toEqual(['install']);
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual(['updatePort']);
  const unknown = await scene.run('apply', ['--target', 'Component/shop-wob']);
  expect(unknown).toMatchObject({ code: 3, out: '' });
  expect(unknown.err).toContain(
    '--target names Component/shop-wob, which is not among the manifests. Nothing was done.',
  );
  expect(unknown.err).toContain('Component/shop-web');
});

test('-o json: one document on stdout, whatever happened, and progress on stderr', async () => {
  const scene = await setScene();
  interface Result {
    readonly exitCode: number;
    readonly plan: { readonly scopes: readonly object[]; readonly refusals: readonly object[] };
    readonly outcomes: readonly { type: string; results?: { status: string; answer: { code?: number } }[] }[];
  }
  const json = async (args: readonly string[] = []): Promise<{ run: Run; result: Result }> => {
    const run = await scene.run('apply', ['-o', 'json', ...args]);
    return { run, result: JSON.parse(run.out) as Result };
  };
  const body = { code: 20400, msg: 'bad thing', data: {} };
  scene.sandbox.setFaults([
    { operation: 'createRule', times: 1, fault: { type: 'status', when: 'before', status: 400, body } },
    { operation: 'createRule', times: 1, fault: { type: 'drop', when: 'after' } },
  ]);
  const first = await json();
  expect(first.run.code).toBe(1);
  expect(first.result.exitCode).toBe(1);
  const statuses = first.result.outcomes.flatMap((outcome) => (outcome.results ?? []).map(({ status }) => status));
  expect(statuses).toEqual(expect.arrayContaining(['done', 'failed', 'in-doubt']));
  expect(first.run.err).toContain('✓ StoreInstall/shop-db: install');
  expect(first.run.err).toContain('? HttpGatewayRule/');

  const held = await json();
  expect([held.run.code, held.result.exitCode]).toEqual([4, 4]);
  scene.sandbox.setFaults([]);
  scene.clock.push(5 * 60_000);
  const last = await json();
  expect([last.run.code, last.result.exitCode]).toEqual([0, 0]);
  scene.configure({ settings: '{ scopes: { allow: ["team-b/*/*"] } }' });
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  const refused = await json();
  expect([refused.run.code, refused.result.exitCode]).toEqual([4, 4]);
  scene.configure({ settings: '{}', url: 'http://127.0.0.1:1' });
  // The ledger belongs to the platform at the address it was used with: another address needs another ledger.
  const lost = await json(['--ledger', join(scene.folder, 'other.db')]);
  expect([lost.run.code, lost.result.exitCode]).toEqual([5, 5]);
  expect(lost.result.outcomes.map((outcome) => outcome.type)).toEqual(['unobserved', 'unobserved']);
});

test('--parallelism: applications side by side, and within one never two writes at once', async () => {
  const latencyMs = 15;
  const scene = await setScene({ sandbox: { latencyMs } });
  const turns = async (parallelism: string): Promise<number> => {
    scene.sandbox.clearRequests();
    expect((await scene.run('apply', ['--parallelism', parallelism, '--max-share', '1'])).code).not.toBe(1);
    const writes = scene.sandbox.requests().filter(({ isWrite }) => isWrite);
    const appOf = ({ path }: (typeof writes)[number]): string => /\/apps\/(\d+)\//.exec(path)?.[1] ?? path;
    const apps = writes.map(appOf);
    for (const [at, write] of writes.entries()) {
      const before = writes.slice(0, at).findLast((other) => appOf(other) === apps[at]);
      // Each is answered after the latency, so the next one arrives no sooner.
      if (before !== undefined) expect(write.atMs - before.atMs).toBeGreaterThanOrEqual(latencyMs - 1);
    }
    return apps.filter((app, at) => at > 0 && app !== apps[at - 1]).length;
  };
  expect(await turns('10')).toBeGreaterThan(1);
  for (const row of scene.sandbox.state.ports.all())
    scene.alterPort(row.serviceId, row.port, { alias: `X${row.port}` });
  expect(await turns('1')).toBe(1);
});

test('variables reach apply as they reach plan', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web('ports:\n  - { port: 8080, alias: "${ALIAS}" }')) } });
  const missing = await scene.run('apply');
  expect(missing.code).toBe(3);
  expect(missing.out + missing.err).toMatch(/a\.yaml:\d+:\d+[^]*ALIAS/);
  expect((await scene.run('apply', ['--var', 'ALIAS=FROM_VAR'])).code).toBe(0);
  expect(scene.port(demo.webServiceId, 8080)?.alias).toBe('FROM_VAR');
});

/** A secret in every form that somebody may find it in. */
function forms(secret: string): string[] {
  return [secret, Buffer.from(secret).toString('base64').replace(/=+$/, ''), encodeURIComponent(secret)];
}

test('neither the token nor the key of a store is in any output, in the ledger or beside it', async () => {
  const token = 'tok/3n+with?odd&chars=5f2c91';
  const storeKey = 'st0re key/with+odd&chars=77ab01';
  const scene = await setScene({
    token,
    storeKey,
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com'), install('db')) },
  });
  const args = ['--yes', ...scene.options, '--ledger', scene.ledgerFile, '--log-level', 'debug'];
  const echo = { msg: `you sent ${token} and ${storeKey}`, msg_show: storeKey, code: 400 };
  const refuse = (operation: string, status: number, code = 400) =>
    ({ operation, times: 1, fault: { type: 'status', when: 'before', status, body: { ...echo, code } } }) as const;
  scene.sandbox.setFaults([refuse('addPort', 400, 20400), refuse('createRule', 400, 20400), refuse('install', 500)]);
  // Real processes: everything that they print, and the files that they leave, the write-ahead log among them.
  const runs: Run[] = [];
  runs.push(
    await runProcess(['apply', ...args, '--target', 'Component/shop-web', '--target', 'HttpGatewayRule/www'], {
      env: scene.env,
    }),
  );
  runs.push(await runProcess(['apply', ...args, '-o', 'json'], { env: scene.env }));
  const bounced = { msg: `${token} may not do this`, code: 400 };
  scene.sandbox.setFaults([{ method: 'GET', fault: { type: 'status', when: 'before', status: 403, body: bounced } }]);
  runs.push(await runProcess(['apply', ...args], { env: scene.env }));
  expect(runs.map((run) => run.code)).toEqual([1, 4, 5]);
  expect(runs[0]?.out).toContain('you sent [secret]');
  expect(runs[1]?.out).toContain('"in-doubt"');
  const files = readdirSync(scene.folder).filter((name) => name.startsWith('portolan.db'));
  expect(files.length).toBeGreaterThan(0);
  const texts = [
    ...runs.flatMap((run) => [run.out, run.err]),
    ...files.map((name) => readFileSync(join(scene.folder, name), 'latin1')),
  ];
  for (const secret of [...forms(token), ...forms(storeKey)])
    for (const text of texts) expect(text.includes(secret), `${secret} in ${text.slice(0, 2000)}`).toBe(false);
});
