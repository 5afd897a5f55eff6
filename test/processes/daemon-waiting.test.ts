import { expect, onTestFinished, test } from 'vitest';
import { runProcess, startProgram } from '../cli/running.ts';
import { freePort } from '../support/free-port.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { ENV, type Place, placed, until } from './place.ts';

/** A controller that starts before its database does. */

async function started(place: Place, ledger: string, ...options: readonly string[]) {
  const port = await freePort();
  const args = ['--config', place.config, '-f', place.checkout, '--ledger', ledger, '--listen', `127.0.0.1:${port}`];
  const run = startProgram(['run', ...args, ...options, '--log-format', 'json'], { env: ENV });
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const said = (): string => run.outputSoFar().err;
  const url = `http://127.0.0.1:${port}`;
  await until(() => said().includes(`${url}/readyz answers 503`), said);
  return { ...run, url, said };
}

const problemOf = async (url: string) =>
  (await (await fetch(`${url}/api/v1/status`)).json()) as { readonly code: string };

test('a controller that starts before its database is alive and not ready, says why, and begins when the database does, with the reload that was requested meanwhile', async () => {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  await server.stop();
  const { url, said, child, ended } = await started(place, postgresUrl(server.port, 'late'));
  const lines = said()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ code }) => code === 'ledger/unreachable')).toEqual([
    expect.objectContaining({
      level: 'error',
      msg: expect.stringContaining('cannot be reached'),
      remedy: expect.stringContaining('Check that PostgreSQL runs'),
    }),
  ]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { ready: false, reasons: ['waits for the ledger: the log says why'] },
  ]);
  const status = await fetch(`${url}/api/v1/status`);
  expect([status.status, status.headers.get('retry-after'), await status.json()]).toEqual([
    503,
    '5',
    expect.objectContaining({ code: 'ledger/unreachable', remedy: expect.any(String) }),
  ]);
  expect(place.sandbox.requests()).toEqual([]);
  child.kill('SIGHUP');

  await server.start();
  await until(() => place.domains().length === 2 && place.port().alias === 'WEB', said);
  await until(() => said().includes('the changed configuration'), said);
  await until(async () => (await fetch(`${url}/readyz`)).status === 200, said);
  expect(said()).toContain('the ledger can be used, after');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
});

test('a controller on a read-only database leads nothing, names the remedy, and begins when it may write', async () => {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  const ledger = postgresUrl(server.port, 'standby');
  const made = await runProcess(['ledger', 'migrate', '--ledger', ledger], { env: ENV });
  expect(made.code, made.err).toBe(0);
  await server.query('ALTER DATABASE portolan SET default_transaction_read_only = on');
  const { child, ended, said, url } = await started(place, ledger);
  await until(() => /ledger\/refused.*Name the primary server/.test(said()), said);
  expect(said()).not.toContain('leads platform');
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect(await problemOf(url)).toMatchObject({ code: 'ledger/refused' });
  expect(place.writes()).toBe(0);
  await server.stop();
  await until(async () => (await problemOf(url)).code === 'ledger/unreachable', said);
  await server.start();
  await server.query('ALTER DATABASE portolan RESET ALL', 'postgres');
  await server.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'portolan'",
    'postgres',
  );
  await until(() => place.domains().length === 2 && place.port().alias === 'WEB', said);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
});

test('a controller beside one of another source waits until that one has ended, and says why', async () => {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  const ledger = postgresUrl(server.port, 'sources');
  const args = ['--config', place.config, '-f', place.checkout, '--ledger', ledger, '--source', 'shop'];
  const shop = startProgram(['run', ...args, '--listen', '127.0.0.1:0'], { env: ENV });
  onTestFinished(() => void shop.child.kill('SIGKILL'));
  await until(
    () => place.domains().length === 2,
    () => shop.outputSoFar().err,
  );
  const { child, ended, said, url } = await started(place, ledger, '--source', 'blog');
  expect(said()).toMatch(/controller\/other-source.*\?schema=NAME.*works on another source, .*shop/);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  const problem = await problemOf(url);
  expect(problem).toMatchObject({ status: 503, code: 'controller/other-source' });
  expect(JSON.stringify(problem), 'everybody may read it').not.toMatch(/shop|blog|postgres|schema/i);
  expect(said()).not.toContain('leads platform');
  shop.child.kill('SIGTERM');
  expect((await shop.ended).code).toBe(0);
  await until(() => said().includes('leads platform:default'), said);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
});

test('one that waits ends at once when it is asked to', async () => {
  const place = await placed();
  const { child, ended, said } = await started(place, postgresUrl(await freePort(), 'nowhere'));
  child.kill('SIGTERM');
  expect((await ended).code, said()).toBe(0);
  expect(said()).toContain('before the ledger could be used');
});

test('what only a person can correct ends a controller at once, with the remedy', async () => {
  const server = await PostgresServer.create({ access: ['host all ann 127.0.0.1/32 scram-sha-256'] });
  onTestFinished(() => server.remove());
  await server.query("CREATE ROLE ann LOGIN PASSWORD 'right'; GRANT CREATE ON DATABASE portolan TO ann");
  await server.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0", 'postgres');
  await server.query('CREATE ROLE poor LOGIN');
  const place = await placed();
  const url = (user: string, schema = 'portolan'): string => postgresUrl(server.port, schema, user);
  const first = await runProcess(['ledger', 'migrate', '--ledger', url('administrator', 'newer')], { env: ENV });
  expect(first.code, first.err).toBe(0);
  await server.query("UPDATE newer.meta SET v = '99' WHERE k = 'schema'");
  const cases = [
    ['a wrong password', url('ann'), 'ledger/refused', 'passwordFile'],
    ['a server without TLS', `${url('administrator')}&sslmode=verify-full`, 'ledger/refused', 'sslmode=disable'],
    [
      'a missing database',
      url('administrator').replace('/portolan?', '/absent?'),
      'ledger/refused',
      'Create the database',
    ],
    ['a missing privilege', url('poor'), 'ledger/refused', 'grants.sql'],
    [
      'another encoding',
      url('administrator').replace('/portolan?', '/latin?'),
      'ledger/refused',
      '--encoding UTF8 --template template0',
    ],
    ['a newer schema', url('administrator', 'newer'), 'ledger/newer', 'version of Portolan'],
  ] as const;
  for (const [what, ledger, code, remedy] of cases) {
    const args = ['--config', place.config, '-f', place.checkout, '--ledger', ledger];
    const run = await runProcess(['run', ...args], { env: { ...ENV, PGPASSWORD: 'wrong' } });
    expect([run.code, run.err], what).toEqual([3, expect.stringContaining(`[${code}]`)]);
    expect(run.err, what).toContain(remedy);
    expect(run.err, what).not.toContain('Waiting for it');
  }
});
