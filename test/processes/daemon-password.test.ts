import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProcess } from '../cli/running.ts';
import { commit } from '../source/repositories.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { API_TOKEN, ENV, placed, until, web } from './place.ts';

/** The password of a controller's role is changed in the database before it is changed in the file of the controller. */

test('a replica whose password was changed stays ready, refuses commands, and resumes when the file has the new one', async () => {
  const server = await PostgresServer.create({ access: ['host all ann 127.0.0.1/32 scram-sha-256'] });
  onTestFinished(() => server.remove());
  await server.query("CREATE ROLE ann LOGIN PASSWORD 'former'; GRANT CREATE ON DATABASE portolan TO ann");
  const place = await placed();
  const file = join(place.folder, 'password');
  writeFileSync(file, 'former\n');
  place.ledger = `${postgresUrl(server.port, 'changing', 'ann')}&passwordFile=${file}`;
  const daemon = await place.daemon();
  const said = (): string => daemon.outputSoFar().err;
  await until(() => place.domains().length === 2 && place.port().alias === 'WEB', said);

  await server.query(
    "ALTER ROLE ann PASSWORD 'next'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'",
  );
  await until(() => said().includes('password authentication failed'), said);
  const headers = { authorization: `Bearer ${API_TOKEN}` };
  const sync = async () => fetch(`${daemon.url}/api/v1/applications/shop/sync`, { method: 'POST', headers });
  await until(async () => (await sync()).status === 503, said);
  expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
  const env = { ...ENV, PORTOLAN_SERVER_TOKEN: API_TOKEN };
  await until(async () => {
    const { out } = await runProcess(['replicas', '--server', daemon.url], { env });
    return out.includes('This replica cannot read the database');
  }, said);
  commit(place.checkout, { 'web.yaml': web('SITE') });

  writeFileSync(file, 'next\n');
  await until(() => place.port().alias === 'SITE', said);
  await until(async () => (await sync()).status < 300, said);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code, said()).toBe(0);
});
