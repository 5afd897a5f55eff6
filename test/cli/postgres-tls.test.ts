import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { postgresAccess } from '../../src/cli/session/postgres.ts';
import { createRedaction } from '../../src/cli/session/redaction.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { errorOf, real } from '../ledger/fixtures.ts';
import { selfSigned } from '../platform/self-signed.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';

/** Certificates of the database's connection are rotated while a replica runs. */

let server: PostgresServer;
let folder: string;
beforeEach(async () => {
  const { certPem, keyPem } = selfSigned();
  server = await PostgresServer.create({
    settings: ['ssl=on', 'ssl_cert_file=server.crt', 'ssl_key_file=server.key'],
    files: { 'server.crt': certPem, 'server.key': keyPem },
  });
  folder = mkdtempSync(join(tmpdir(), 'portolan-tls-'));
  put('ca.pem', certPem);
  onTestFinished(async () => {
    rmSync(folder, { recursive: true });
    await server.remove();
  });
});

const put = (name: string, content: string): void => writeFileSync(join(folder, name), content);

function accessWith(...parameters: readonly string[]) {
  const files = parameters.map((one) => `&${one.replace('=', `=${folder}/`)}`).join('');
  const url = `${postgresUrl(server.port, 'portolan')}&sslmode=verify-full&sslrootcert=${folder}/ca.pem${files}`;
  return postgresAccess(url, { env: {}, clock: real.clock, redaction: createRedaction() });
}

/** Ends all connections, so that the next statement needs a new one. */
async function cut(): Promise<void> {
  await server.query(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'portolan' AND pid <> pg_backend_pid()",
  );
}

test('a new CA is used for the next connection, and a file that is missing then is named', async () => {
  const shared = await openSharedLedger(accessWith(), { ...real, replica: 'one' });
  onTestFinished(() => shared.close());
  const { certPem, keyPem } = selfSigned();
  writeFileSync(join(server.folder, 'data', 'server.crt'), certPem);
  writeFileSync(join(server.folder, 'data', 'server.key'), keyPem);
  await server.query('SELECT pg_reload_conf()');
  await cut();
  expect((await errorOf(shared.leaders())).code).toBe('ledger/refused');
  put('ca.pem', certPem);
  expect(await shared.leaders()).toEqual([]);
  await cut();
  rmSync(join(folder, 'ca.pem'));
  const missing = await errorOf(shared.leaders());
  expect([missing.code, missing.disposition, missing.message]).toEqual([
    'ledger/unreachable',
    'retry',
    expect.stringContaining(`the CA of the database cannot be read from ${folder}/ca.pem: there is no such file)`),
  ]);
  put('ca.pem', certPem);
  expect(await shared.leaders()).toEqual([]);
});

test('a client certificate and its key are used once both were replaced', async () => {
  const [former, next] = [selfSigned(), selfSigned()];
  put('client.pem', former.certPem);
  put('client.key', former.keyPem);
  const access = accessWith('sslcert=client.pem', 'sslkey=client.key');
  const shared = await openSharedLedger(access, { ...real, replica: 'one' });
  onTestFinished(() => shared.close());
  put('client.pem', next.certPem);
  await cut();
  const between = await errorOf(shared.leaders());
  expect([between.code, between.disposition, between.message]).toEqual([
    'ledger/unreachable',
    'retry',
    expect.stringContaining(`${folder}/client.pem, ${folder}/client.key`),
  ]);
  put('client.key', next.keyPem);
  expect(await shared.leaders()).toEqual([]);
  expect(access.certificates()).toMatchObject({ client: next.certPem, key: next.keyPem });
});

test('files that do not fit together are reported before anything is opened', () => {
  put('client.pem', selfSigned().certPem);
  put('client.key', selfSigned().keyPem);
  expect(() => accessWith('sslcert=client.pem', 'sslkey=client.key')).toThrow(
    expect.objectContaining({ code: 'ledger/refused', disposition: 'invalid' }),
  );
});
