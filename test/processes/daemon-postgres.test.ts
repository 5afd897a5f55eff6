import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { runProcess } from '../cli/running.ts';
import { commit } from '../source/repositories.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { ENV, placed, readiness, until, web } from './place.ts';

const PASSWORD = 'canary-token-of-the-daemon';

test('a daemon on PostgreSQL works across a crash of the database, keeps others out, and shows no password', async () => {
  const server = await PostgresServer.create({ access: ['host all ann 127.0.0.1/32 scram-sha-256'] });
  onTestFinished(() => server.remove());
  await server.query(`CREATE ROLE ann LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON DATABASE portolan TO ann`);
  const place = await placed();
  place.ledger = postgresUrl(server.port, 'daemon', 'ann');
  const env = { ...ENV, PGPASSWORD: PASSWORD };
  const daemon = await place.daemon(undefined, env);
  const said = () => daemon.outputSoFar().err;
  await until(() => place.domains().length === 2 && place.port().alias === 'WEB', said);
  expect(readFileSync(`/proc/${daemon.child.pid}/cmdline`, 'utf8')).not.toContain(PASSWORD);

  const ledger = ['--ledger', place.ledger];
  const config = ['--config', place.config];
  const beside = await runProcess(['plan', ...config, '-f', place.checkout, ...ledger], { env });
  expect(beside.code, beside.err).toBe(0);
  const second = await runProcess(['apply', ...config, '-f', place.checkout, '--yes', ...ledger], { env });
  expect([second.code, second.err]).toEqual([6, expect.stringContaining('portolan run')]);

  await server.stop('SIGQUIT');
  commit(place.checkout, { 'web.yaml': web('SITE') });
  await until(() => /ledger\/unreachable/.test(said()) || place.port().alias === 'SITE', said);
  expect(place.port().alias).toBe('WEB');
  await server.start();
  await until(() => place.port().alias === 'SITE', said);
  await until(async () => (await readiness(daemon.url)) === 'True InSync');
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(2);

  daemon.child.kill('SIGTERM');
  const ended = await daemon.ended;
  expect(ended.code, ended.err).toBe(0);
  // Its lease is free at once.
  const next = await runProcess(['apply', ...config, '-f', place.checkout, '--yes', ...ledger], { env });
  const verified = await runProcess(['ledger', 'verify', ...ledger], { env });
  expect([next.code, verified.code], next.err + verified.out).toEqual([0, 0]);
  for (const run of [beside, second, ended, next, verified]) expect(run.out + run.err).not.toContain(PASSWORD);
});
