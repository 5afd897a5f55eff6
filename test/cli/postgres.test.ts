import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { LEASE_MS } from '../../src/ledger/postgres/lease.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { SqlLedger } from '../../src/ledger/sql-ledger.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { selfSigned } from '../platform/self-signed.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { real } from '../ledger/fixtures.ts';
import { freshSchema, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { type Run, runHere } from './running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

/** Every command on a ledger in PostgreSQL, and the secrets on the way there. */

const MANIFESTS = { 'shop.yaml': shop(web(PORTS), rule('www', 'www.example.com')) };

function onLedger(scene: Scene, url: string) {
  return (args: readonly string[]): Promise<Run> =>
    runHere([...args, '--ledger', url], { env: scene.env, clock: renewing(scene) });
}

/** The clock of the scene, on which only the renewal of a lease takes its time: it would push the clock all the while. */
function renewing({ clock }: Scene): Clock {
  return {
    ...clock.unhurried(),
    sleep: (ms, signal) => (ms === LEASE_MS / 3 ? systemClock : clock).sleep(ms, signal),
  };
}

test('every command works on a ledger in PostgreSQL, which moves to a file and back', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const url = await sharedUrl();
  const portolan = onLedger(scene, url);
  const before = await scene.run('plan', ['--ledger', url]);
  expect([before.code, before.err]).toEqual([0, expect.stringContaining('there is no ledger at postgres://')]);
  expect((await portolan(['ledger', 'list'])).err).toContain('[ledger/missing]');

  const applied = await scene.run('apply', ['--ledger', url], { clock: renewing(scene) });
  expect(applied.code, applied.out + applied.err).toBe(0);
  expect((await scene.run('plan', ['--ledger', url, '--detailed-exitcode'])).code).toBe(0);
  expect((await portolan(['ledger', 'list'])).out).toContain('HttpGatewayRule/www');
  expect((await portolan(['ledger', 'show', 'HttpGatewayRule/www'])).out).toContain('www.example.com');
  expect((await portolan(['ledger', 'history'])).out).toContain('HttpGatewayRule/www#create');
  expect((await portolan(['history', 'shop'])).out).toContain('www');
  expect(await portolan(['ledger', 'verify'])).toMatchObject({ code: 0, out: expect.stringContaining('is intact') });
  expect((await portolan(['ledger', 'compact'])).code).toBe(0);
  expect((await portolan(['ledger', 'migrate'])).code).toBe(0);
  expect(
    (
      await portolan([
        'ledger',
        'rebind',
        'default',
        '--config',
        join(scene.folder, 'portolan.yaml'),
        '--reason',
        'same',
      ])
    ).code,
  ).toBe(0);
  const list = async (ledger: string) => {
    const { objects } = JSON.parse((await onLedger(scene, ledger)(['ledger', 'list', '-o', 'json'])).out) as {
      objects: unknown;
    };
    return objects;
  };

  const file = join(scene.folder, 'moved.db');
  const other = await sharedUrl();
  expect(await runHere(['ledger', 'copy', url, file], { env: scene.env })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/every row is the same\nFrom now on, use only \S+moved\.db: postgres:/),
  });
  expect(await runHere(['ledger', 'copy', file, other], { env: scene.env })).toMatchObject({
    code: 0,
    out: expect.stringContaining(`use only ${other}, with the role of the controllers in its URL: ${file} is retired`),
  });
  const again = await runHere(['ledger', 'copy', file, join(scene.folder, 'again.db')], { env: scene.env });
  expect([again.code, again.err]).toEqual([3, expect.stringContaining('[ledger/retired]')]);
  const written = await scene.run('apply', ['--ledger', url]);
  expect([written.code, written.err]).toEqual([3, expect.stringContaining(`was copied to ${file}`)]);
  const planned = await scene.run('plan', ['--ledger', file]);
  expect(planned.err).toMatch(/warning: the ledger .*moved\.db was copied to postgres:.* at 20.*Z, and does not know/);
  expect((await onLedger(scene, url)(['ledger', 'list'])).err).toContain(`was copied to ${file}`);
  for (const [ledger, copy] of [
    [url, file],
    [file, other],
  ] as const)
    for (const command of [['verify'], ['export'], ['backup', join(scene.folder, 'kept.db'), '--overwrite']]) {
      const read = await runHere(['ledger', ...command, '--ledger', ledger], { env: scene.env });
      expect([read.code, read.err], command[0]).toEqual([0, expect.stringContaining(`was copied to ${copy}`)]);
    }
  for (const command of ['list', 'verify'])
    expect((await onLedger(scene, other)(['ledger', command])).err, command).toBe('');
  for (const ledger of [file, other]) {
    expect(await list(ledger)).toEqual(await list(url));
    expect((await scene.run('plan', ['--ledger', ledger, '--detailed-exitcode'])).code).toBe(0);
  }

  const exported = join(scene.folder, 'all.ndjson');
  expect((await portolan(['ledger', 'export', exported])).code).toBe(0);
  const { out } = await portolan(['ledger', 'export']);
  expect(readFileSync(exported, 'utf8')).toBe(out);
  const moved = (await onLedger(scene, file)(['ledger', 'export'])).out;
  expect(out.split('\n').filter((line) => line.includes('"type":"object"'))).toEqual(
    moved.split('\n').filter((line) => line.includes('"type":"object"')),
  );
});

test('a URL with a mistake is no ledger for any command, and no file of that name is created', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const wrong = 'postgress://ann:canary-of-a-url@db/fleet';
  const file = join(scene.folder, 'ledger.db');
  const refused = [
    await scene.run('plan', ['--ledger', wrong]),
    await scene.run('apply', ['--ledger', wrong]),
    await runHere(['ledger', 'verify'], { env: { ...scene.env, PORTOLAN_LEDGER: wrong } }),
    ...(await Promise.all(
      [
        ['run', '--ledger', wrong],
        ['replicas', '--ledger', wrong],
        ['ledger', 'list', '--ledger', wrong],
        ['ledger', 'copy', wrong, file],
        ['ledger', 'copy', file, wrong],
      ].map((args) => runHere(args, { env: scene.env })),
    )),
  ];
  for (const { code, out, err } of refused) {
    expect([code, err], err).toEqual([3, expect.stringContaining('[ledger/bad-address]')]);
    expect(out + err).not.toContain('canary-of-a-url');
  }
  expect(existsSync('postgress:')).toBe(false);
});

test('a command whose machine is suspended after an intent sends nothing: another process may have the ledger', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const url = await sharedUrl();
  let suspendedMs = 0;
  const clock = renewing(scene);
  const sinceBoot: Clock['sinceBoot'] = () => {
    const { uptimeMs, ...rest } = clock.sinceBoot();
    return { ...rest, uptimeMs: uptimeMs + suspendedMs };
  };
  const commit = SqlLedger.prototype.commit;
  const suspending = vi.spyOn(SqlLedger.prototype, 'commit').mockImplementation(async function (this: Ledger, change) {
    await commit.call(this as SqlLedger, change);
    if (change.operations.some(({ op }) => op === 'open-intent')) suspendedMs += 60_000;
  });
  onTestFinished(() => suspending.mockRestore());
  const apply = () => scene.run('apply', ['--ledger', url], { clock: { ...clock, sinceBoot } });
  const applied = await apply();
  expect(suspendedMs).toBeGreaterThan(0);
  expect(scene.traffic().writes).toEqual([]);
  expect(applied.code, applied.out + applied.err).toBe(1);
  expect(applied.out.match(/not sent: more than 2000 ms passed since the intent was written/g)).toHaveLength(3);
  expect(applied.out).toContain('Applied: 0 done, 3 failed, 0 skipped. The next run continues with 3 changes.');

  suspending.mockRestore();
  expect((await apply()).code).toBe(0);
  expect(scene.traffic().writes).not.toEqual([]);
});

test('a backup of PostgreSQL is restored there or into a file, and installs wait', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const url = await sharedUrl();
  const portolan = onLedger(scene, url);
  await scene.run('apply', ['--ledger', url], { clock: renewing(scene) });
  const backup = join(scene.folder, 'backup.db');
  expect(await portolan(['ledger', 'backup', backup])).toMatchObject({ code: 0 });
  expect((await portolan(['ledger', 'backup', backup])).err).toContain('[cli/file-exists]');
  const { out: before } = await portolan(['ledger', 'export']);
  scene.write('more.yaml', rule('more', 'more.example.com'));
  await scene.run('apply', ['--ledger', url], { clock: renewing(scene) });
  expect((await portolan(['ledger', 'list'])).out).toContain('more.example.com');

  const ledger = await openSharedLedger(trusting(url), { ...real, replica: 'a' });
  const args = { args: ['demo/shop', 'ann', 'an incident'] };
  await ledger.commands.add({ unit: 'platform:default', method: 'suspend', args, by: 'ann' });
  await ledger.close();
  const restored = await portolan(['ledger', 'restore', backup, '--yes']);
  expect(restored.code, restored.err).toBe(0);
  expect(restored.out).toMatch(/^refused, because it had no result: suspend of demo\/shop by ann at 20\S+Z$/m);
  const kept = /kept as (\S+\.db)/.exec(restored.out)?.[1] ?? '';
  expect((await onLedger(scene, kept)(['ledger', 'list'])).out).toContain('more.example.com');
  const after = (await portolan(['ledger', 'export'])).out;
  const objects = (text: string) => text.split('\n').filter((line) => line.includes('"type":"object"'));
  expect(objects(after)).toEqual(objects(before));
  expect(after).toContain('"key":"ledger/restored"');
  expect((await portolan(['ledger', 'verify'])).code).toBe(0);

  const file = join(scene.folder, 'from-backup.db');
  expect((await onLedger(scene, file)(['ledger', 'restore', backup])).code).toBe(0);
  expect((await onLedger(scene, file)(['ledger', 'verify'])).code).toBe(0);
});

const PASSWORD = 'canary-token-of-the-database+/=';
const ROLE = 'ann';
let server: PostgresServer;
const { certPem, keyPem } = selfSigned();

beforeAll(async () => {
  server = await PostgresServer.create({
    settings: ['ssl=on', 'ssl_cert_file=server.crt', 'ssl_key_file=server.key', 'password_encryption=scram-sha-256'],
    files: { 'server.crt': certPem, 'server.key': keyPem },
    access: [`hostssl all ${ROLE} 127.0.0.1/32 scram-sha-256`, `host all ${ROLE} 0.0.0.0/0 reject`],
  });
  await server.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON DATABASE portolan TO ${ROLE}`);
});
afterAll(() => server.remove());

test('passwords come by reference, TLS checks the server, and no output shows a password', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const file = (name: string, content: string): string => {
    writeFileSync(join(scene.folder, name), content);
    return join(scene.folder, name);
  };
  const ca = file('ca.pem', certPem);
  const otherCa = file('other.pem', selfSigned().certPem);
  const secret = file('password', `${PASSWORD}\n`);
  const otherSecret = file('other', 'wrong-password');
  const base = postgresUrl(server.port, freshSchema(), ROLE);
  const tls = `${base}&sslmode=verify-full&sslrootcert=${ca}`;
  const pgpass = file(
    'pgpass',
    `# comment\n127.0.0.1:1:*:*:wrong\n*:*:portolan:${ROLE}:${PASSWORD.replaceAll(/[:\\]/g, '\\$&')}\n`,
  );
  const said: Run[] = [];
  const attempt = async (ledger: string, env: Readonly<Record<string, string>> = {}): Promise<Run> => {
    const run = await runHere(['ledger', 'migrate', '--ledger', ledger], { env: { ...scene.env, ...env } });
    said.push(run);
    return run;
  };
  expect(await attempt(`${tls}&passwordFile=${secret}`)).toMatchObject({ code: 0 });
  expect(await attempt(tls, { PGPASSWORD: PASSWORD })).toMatchObject({ code: 0 });
  expect(await attempt(tls, { PGPASSFILE: pgpass })).toMatchObject({ code: 0 });
  const fromVariable = await runHere(['ledger', 'verify'], {
    env: { ...scene.env, PORTOLAN_LEDGER: tls, PGPASSWORD: PASSWORD },
  });
  expect(fromVariable).toMatchObject({ code: 0 });

  const withPassword = (url: string): string => url.replace(`${ROLE}@`, `${ROLE}:${encodeURIComponent(PASSWORD)}@`);
  for (const [run, code, text] of [
    [await attempt(tls), 3, 'the server requires a password'],
    [
      await attempt(tls, { PGPASSWORD: 'wrong-password' }),
      3,
      `password authentication failed for user "${ROLE}" (it comes from the environment variable PGPASSWORD)`,
    ],
    [await attempt(`${tls}&passwordFile=${otherSecret}`), 3, `(it comes from the file ${otherSecret})`],
    [await attempt(base, { PGPASSWORD: PASSWORD }), 3, 'Use TLS: pass ?sslmode=verify-full'],
    [await attempt(`${base}&sslmode=verify-full`, { PGPASSWORD: PASSWORD }), 3, 'sslrootcert=FILE'],
    [await attempt(tls.replace(ca, otherCa), { PGPASSWORD: PASSWORD }), 3, '[ledger/refused]'],
    [await attempt(tls.replace('127.0.0.1', 'localhost'), { PGPASSWORD: PASSWORD }), 3, '[ledger/refused]'],
    [await attempt(tls.replace(ca, '/nowhere/ca.pem')), 3, '[cli/unreadable-file]'],
    [
      await attempt(`${base}&passwordFile=/nowhere/password`),
      3,
      `the secret of the ledger ${base} cannot be read from /nowhere/password: there is no such file`,
    ],
    [await attempt(withPassword(tls)), 3, '[ledger/inline-password]'],
    [await attempt(`${tls}&password=${encodeURIComponent(PASSWORD)}`), 3, '[ledger/inline-password]'],
  ] as const)
    expect(run, run.err).toMatchObject({ code, err: expect.stringContaining(text) });

  const session = { env: { ...scene.env, PGPASSWORD: PASSWORD }, clock: renewing(scene) };
  said.push(
    fromVariable,
    await scene.run('apply', ['--ledger', tls], session),
    await scene.run('plan', ['--ledger', tls], session),
    await runHere(['plan', ...scene.options, '--ledger', withPassword(tls)], session),
    await runHere(['ledger', 'copy', withPassword(tls), 'x.db'], session),
    await runHere(['ledger', 'no-such-command', withPassword(tls)], session),
    await runHere(['plan', '--no-such-flag', withPassword(tls)], session),
    await runHere(['config', '--config', join(scene.folder, 'portolan.yaml')], {
      env: { ...session.env, PORTOLAN_LEDGER: withPassword(tls) },
    }),
    await runHere(['ledger', 'export', '--ledger', tls], session),
    await runHere(['ledger', 'list', '-o', 'json', '--ledger', tls], session),
  );
  const everything = JSON.stringify(said);
  for (const spelling of [
    PASSWORD,
    'wrong-password',
    encodeURIComponent(PASSWORD),
    Buffer.from(PASSWORD).toString('base64').slice(0, -2),
  ])
    expect(everything).not.toContain(spelling);
  expect(existsSync('x.db')).toBe(false);
  expect(said.filter(({ err }) => err.includes('bug')).map(({ err }) => err)).toEqual([]);
});
