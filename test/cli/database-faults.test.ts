import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl } from '../support/postgres-shared.ts';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { configurationFor, folderOf } from './platform.ts';
import { shop, web } from './scene.ts';

/** What a replica shows while its database hangs, or once it has lost records. */

const TOKEN = 'viewer-viewer-viewer-viewer';
const SETTINGS = `---
apiVersion: portolan/v1
kind: Settings
metadata: { name: settings }
spec: { server: { listen: '127.0.0.1:0', tokens: [{ name: prometheus, role: viewer, value: { env: VIEWER } }] } }
`;

async function replica(schema: string): Promise<DaemonHere> {
  const folder = folderOf({
    'portolan.yaml': `${configurationFor('http://127.0.0.1:1')}${SETTINGS}`,
    'shop.yaml': shop(web('ports: []')),
  });
  const [manifest, configuration] = [join(folder, 'shop.yaml'), join(folder, 'portolan.yaml')];
  const given = ['-f', manifest, '--config', configuration, '--ledger', await sharedUrl(schema)];
  const daemon = await startDaemonHere(given, { PORTOLAN_TOKEN: 'a-token', VIEWER: TOKEN });
  await expect.poll(async () => (await fetch(`${daemon.url}/readyz`)).status).toBe(200);
  return daemon;
}

/** What Prometheus waits for an answer by default. */
const SCRAPE_MS = 10_000;

async function get({ url }: DaemonHere, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(SCRAPE_MS) });
  expect(response.status, path).toBe(200);
  return response.text();
}

test('while the database hangs, metrics and pages are answered with the last state', async () => {
  const schema = freshSchema();
  const daemon = await replica(schema);
  const before = await get(daemon, '/metrics');
  expect(before).toMatch(/^portolan_ledger_intents\{state="open"\} 0$/m);
  const session = new pg.Client(postgresUrl(await sharedPort(), schema).replace(/\?.*$/, ''));
  await session.connect();
  onTestFinished(() => session.end());
  await session.query('BEGIN');
  for (const table of ['meta', 'intent', 'history', 'lease', 'replica', 'event'])
    await session.query(`LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`);
  // A text of metrics answers the scrapes of some seconds.
  await expect.poll(() => get(daemon, '/metrics')).not.toMatch(/^portolan_ledger_intents\{/m);
  expect(await get(daemon, '/metrics')).toMatch(/^portolan_database_silence_seconds [\d.]+$/m);
  const [replicas, platform, events] = await Promise.all(
    ['/api/v1/replicas', '/api/v1/platform', '/api/v1/events'].map((path) => get(daemon, path)),
  );
  expect(JSON.parse(replicas ?? '')).toMatchObject({
    isCurrent: false,
    units: [{ unit: 'platform:default', leader: expect.any(String) }, { unit: 'source:default' }],
  });
  expect(JSON.parse(platform ?? '')).toMatchObject({ ledger: { isReadable: false } });
  expect(JSON.parse(events ?? '')).toMatchObject({ items: expect.any(Array) });
  await session.query('ROLLBACK');
  await expect.poll(async () => get(daemon, '/metrics')).toMatch(/^portolan_ledger_intents\{state="open"\} 0$/m);
});

test('a replica says that records of another one are lost, which died together with the primary server', async () => {
  const schema = freshSchema();
  const daemon = await replica(schema);
  const lease = (serial: number): string =>
    `INSERT INTO ${schema}.lease VALUES ('platform:other', '', 'a dead replica', 1, 0, 0, ${serial})`;
  await querySharedServer(lease(29));
  // It reads the leaders twice a second.
  await systemClock.sleep(2_000);
  expect(await get(daemon, '/metrics')).toMatch(/^portolan_records_lost_total 0$/m);
  await querySharedServer(`UPDATE ${schema}.lease SET serial = 28 WHERE scope = 'platform:other'`);
  await expect.poll(() => get(daemon, '/metrics')).toMatch(/^portolan_records_lost_total 1$/m);
  expect(daemon.log()).toMatch(
    /error +the database has lost records: the last record of platform:other had the serial 29.*installs of all applications wait/,
  );
  expect(daemon.log()).toMatch(/ledger\/replaced.*portolan ledger backup FILE --ledger URL/);
});
