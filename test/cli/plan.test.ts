import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

/** Everything the ledger says, and its bytes. */
async function ledgerContent(scene: Scene): Promise<object> {
  const ledger = await openSqliteLedger(scene.ledgerFile, {
    clock: scene.clock,
    random: systemRandom,
    actor: 'test',
    readOnly: true,
  });
  const rows = {
    epoch: ledger.epoch,
    objects: await ledger.objects({}),
    intents: await ledger.intents({}),
    history: await ledger.history({ limit: 1000 }),
    snapshot: await ledger.lastSnapshot('default'),
  };
  await ledger.close();
  const bytes = createHash('sha256').update(readFileSync(scene.ledgerFile)).digest('hex');
  return { ...rows, bytes };
}

test.for(['plan', 'status', 'apply --dry-run'] as const)(
  '%s writes nothing: not to the platform, not to the ledger',
  async (line) => {
    const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) } });
    await scene.run('apply');
    scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
    scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com'), rule('more', 'more.example.com')));
    const before = await ledgerContent(scene);
    scene.traffic();
    const [command, ...flags] = line.split(' ') as ['plan' | 'status' | 'apply', ...string[]];
    const run = await scene.run(command, [...flags, ...(command === 'status' ? [] : ['--adopt', '--prune'])]);
    expect(run.code, run.err).toBe(0);
    expect(run.out).toContain('HttpGatewayRule/more');
    expect(scene.traffic().writes).toEqual([]);
    expect(await ledgerContent(scene)).toEqual(before);
  },
);

test('a first plan needs no ledger and makes none, and says so', async () => {
  const scene = await setScene();
  const run = await scene.run('plan');
  expect(run.code).toBe(0);
  expect(run.err).toContain(`there is no ledger at ${scene.ledgerFile} yet`);
  expect(existsSync(scene.ledgerFile)).toBe(false);
  expect(readdirSync(scene.folder).sort()).toEqual(['manifests', 'portolan.yaml']);
  expect(scene.traffic().writes).toEqual([]);
});

test('a plan shows each change with before, after, cause, what else it does, and what is to follow', async () => {
  const scene = await setScene();
  const { out } = await scene.run('plan');
  expect(out).toContain(`Application/shop  default/team-a/region-1/42
  StoreInstall/shop-db
    + install 0a1b2c 8.0.36 from Store/main and build it  (new in git)
`);
  expect(out).toContain(`    ~ change alias of port 8080 to WEB  (new in git)
        ports[8080].alias: "GR6F3C1D8080" → "WEB"
        serviceName: "gr6f3c1d" → "shop-web"
        also: renames the port's environment variables in the component
`);
  expect(out).toContain(`  Component/shop-db-mysql
    … after StoreInstall/shop-db, set the ports of its component mysql: 3306
`);
  expect(out).toMatch(
    /\nPlan: 5 to create, 2 to change, 0 to delete, 2 pending\. 0 resources in sync, 6 unchanged fields not shown\.\nDigest: [0-9a-f]{64} {2}\(total of 2 applications\)\n$/,
  );
});

test('exit codes: 0 with changes, 2 with --detailed-exitcode, 0 in sync, and apply --dry-run is the same', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  const codes = async (): Promise<number[]> => [
    (await scene.run('plan')).code,
    (await scene.run('plan', ['--detailed-exitcode'])).code,
    (await scene.run('apply', ['--dry-run'])).code,
    (await scene.run('apply', ['--dry-run', '--detailed-exitcode'])).code,
  ];
  expect(await codes()).toEqual([0, 2, 0, 2]);
  const plan = await scene.run('plan');
  expect((await scene.run('apply', ['--dry-run'])).out).toBe(plan.out);
  expect((await scene.run('apply')).code).toBe(0);
  expect(await codes()).toEqual([0, 0, 0, 0]);
});

test('JSON on stdout alone, and the same plan', async () => {
  const scene = await setScene();
  const run = await scene.run('plan', ['-o', 'json']);
  const document = JSON.parse(run.out) as { digest: string; summary: object; scopes: { application: string }[] };
  expect(document).toMatchObject({
    formatVersion: 1,
    source: 'default',
    revision: null,
    ledger: 'known',
    summary: { create: 5, update: 2, delete: 0, deferred: 2, held: 0 },
    unobserved: [],
    refusals: [],
    notes: [],
  });
  expect(document.scopes.map((scope) => scope.application)).toEqual(['Application/blog', 'Application/shop']);
  expect((await scene.run('plan')).out).toContain(`Digest: ${document.digest}`);
  // A plan of a plan that was not applied is the same plan.
  expect((await scene.run('plan', ['-o', 'json'])).out).toBe(run.out);
});

test('--ledger none: nothing is held for want of a ledger, and causes are unknown', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) } });
  await scene.run('apply');
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  const run = await scene.run('plan', ['--ledger', 'none']);
  expect(run).toMatchObject({ code: 0, err: '' });
  expect(run.out).toContain('change alias of port 8080 to WEB  (no ledger: cause unknown)');
  expect(run.out).toContain('No ledger: ownership and causes of changes are unknown');
  expect(run.out).not.toContain('! held');
  const refused = await scene.run('apply', ['--ledger', 'none']);
  expect(refused).toMatchObject({ code: 3, out: '' });
  expect(refused.err).toContain('apply needs a ledger');
  expect(readdirSync(join(scene.folder))).not.toContain('none');
});

test('manifests from standard input, with variables', async () => {
  const scene = await setScene({ manifests: {} });
  const yaml = shop(web('ports:\n  - { port: 8080, alias: "${ALIAS}" }'));
  const { collectingTerminal } = await import('./running.ts');
  const { terminal, text } = collectingTerminal({ input: yaml });
  const run = await scene.run('plan', ['-f', '-', '--var', 'ALIAS=FROM_FLAG'], { terminal });
  expect(run.code, text.err).toBe(0);
  expect(text.out).toContain('ports[8080].alias: "GR6F3C1D8080" → "FROM_FLAG"');
});

test('faults in manifests are reported all at once, and nothing is asked of the platform', async () => {
  const scene = await setScene({
    manifests: {
      'a.yaml': shop(web('ports:\n  - { port: 80800 }')),
      'b.yaml': rule('x', 'x.example.com').replace('component: shop-web', 'component: shop-wob'),
    },
  });
  for (const command of ['plan', 'apply', 'status'] as const) {
    const run = await scene.run(command);
    expect(run.code).toBe(3);
    expect(run.err + run.out).toMatch(/a\.yaml:\d+:\d+/);
    expect(run.err + run.out).toMatch(/b\.yaml:\d+:\d+/);
    expect(run.err + run.out).toContain('shop-wob');
  }
  expect(scene.traffic()).toEqual({ writes: [], reads: [] });
});

test('an addition to an application that was applied before is new in git, a change of it is changed in git', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  await scene.run('apply');
  const more = PORTS.replace('inner: true, outer: false', 'inner: true, outer: true');
  scene.write('a.yaml', shop(web(`${more}\n  - { port: 9500, protocol: tcp }`), rule('www', 'www.example.com')));
  const rows = [...scene.sandbox.state.ports.all()].filter(({ port }) => port === 8080);
  for (const row of rows) scene.alterPort(row.serviceId, 8080, { alias: 'OTHER' });
  const { out } = await scene.run('plan');
  expect(out.match(/^ {4}[+~] .*/gm)).toEqual([
    '    ~ change alias of port 8080 to WEB  (drift: changed on the platform)',
    '    + add port 9500 (tcp, inner closed)  (new in git)',
    '    ~ open outer access of port 9000  (changed in git)',
    '    + create rule www.example.com/ on port 8080 of Component/shop-web  (new in git)',
  ]);
});
