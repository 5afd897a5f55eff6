import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { spellingsOf } from '../support/spellings.ts';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { type Run, runProcess, startProgram } from './running.ts';

/** Characters that change in URLs, JSON and base64, so that each spelling is a different text. */
const canaries = {
  token: 'canary-token "1"/+=&?%41',
  storeKey: 'canary-store-key\\2/+=<>',
  inline: 'canary-inline-3',
} as const;

function expectNoCanary(run: Run): void {
  for (const secret of Object.values(canaries)) {
    for (const spelling of [...spellingsOf(secret), Buffer.from(secret).toString('hex')])
      expect(run.out + run.err).not.toContain(spelling);
  }
}

const store = `---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: https://store.example.com, domain: market-1, type: rainstore, accessKey: { file: store.key } }
`;
const manifests = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: team-a, region: region-1, appId: 42 }
`;

const installManifest = `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: shop-db }
spec:
  application: shop
  store: main
  model: { id: ${demo.mysqlModelId}, version: ${JSON.stringify(demo.mysqlVersions[0])} }
  build: true
`;
const componentManifest = `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web }
spec:
  application: shop
  serviceId: ${demo.webServiceId}
  ports:
    - { port: 8080, protocol: http, alias: CANARY, inner: true, outer: false }
`;

test('no output of any command shows a secret, in any spelling, whatever the server says', async () => {
  // A server that repeats what it was sent, in an error, in a record and in an address that leads elsewhere.
  const echo = { msg: `bad token ${canaries.token}`, msg_show: encodeURIComponent(canaries.token), code: 20400 };
  const faults = [
    { operation: 'listRegions', times: 1, fault: { type: 'status', when: 'before', status: 401, body: echo } },
    {
      operation: 'listRegions',
      times: 1,
      fault: { type: 'redirect', location: `/x?t=${encodeURIComponent(canaries.token)}` },
    },
    {
      operation: 'listRegions',
      times: 1,
      fault: { type: 'status', when: 'before', status: 200, body: canaries.token },
    },
    { operation: 'listRegions', times: 1, fault: { type: 'status', when: 'before', status: 200, body: [echo] } },
  ] as const;
  const sandbox = await sandboxFor({ token: canaries.token, faults });
  const cwd = folderOf({
    'portolan.yaml': configurationFor(sandbox.url) + store,
    'inline.yaml': configurationFor(sandbox.url).replace('{ env: PORTOLAN_TOKEN }', canaries.inline),
    'broken.yaml': `${configurationFor(sandbox.url)}  accessKey: ${canaries.inline}\n :`,
    'store.key': `${canaries.storeKey}\n`,
    'shop.yaml': manifests,
  });
  const env = { PORTOLAN_TOKEN: canaries.token, PORTOLAN_REGIONS_PLATFORM: '', PORTOLAN_VAR_UNUSED: canaries.storeKey };
  const verbose = ['--log-level', 'debug'];
  const runs = [
    ...['text', 'json', 'text', 'json', 'text'].map((format) => ['regions', '--log-format', format, ...verbose]),
    ['regions', '-o', 'json', ...verbose],
    ['monitor', 'shop', '-f', 'shop.yaml', ...verbose],
    ['monitor', 'default/team-a/region-1/999', ...verbose],
    ['validate', '-f', 'shop.yaml', '-o', 'json'],
    ['validate', '-f', 'shop.yaml', '-c', 'inline.yaml'],
    ['validate', '-f', 'shop.yaml', '-c', 'broken.yaml'],
    ['regions', '-c', 'inline.yaml'],
    ['validate', '-f', 'shop.yaml', '--var', canaries.inline],
    ['version', '-o', 'json'],
  ];
  const codes: number[] = [];
  for (const args of runs) {
    const run = await runProcess(args, { cwd, env });
    expectNoCanary(run);
    codes.push(run.code);
  }
  // The runs did what they were meant to do: failed at each fault, then worked.
  expect(codes).toEqual([5, 1, 1, 1, 0, 0, 0, 1, 0, 3, 3, 3, 3, 0]);
  const wrongVariable = await runProcess(['sandbox'], { cwd, env: { PORTOLAN_SANDBOX_PORT: canaries.token } });
  expect(wrongVariable.code).toBe(3);
  expectNoCanary(wrongVariable);
});

test('neither the output of plan, apply and status nor the ledger holds a secret, whatever the server says', async () => {
  // A server that repeats the key of the store and the token: refusing once, then leaving the outcome open.
  const echo = {
    code: 20400,
    msg: `key ${canaries.storeKey} and token ${canaries.token}`,
    msg_show: canaries.storeKey,
  };
  const faults = [
    { operation: 'install', times: 1, fault: { type: 'status', when: 'before', status: 400, body: echo } },
    { operation: 'install', times: 1, fault: { type: 'status', when: 'after', status: 502, body: echo } },
    { operation: 'updatePort', times: 1, fault: { type: 'status', when: 'before', status: 500, body: echo } },
  ] as const;
  const sandbox = await sandboxFor({ token: canaries.token, faults });
  const cwd = folderOf({
    'portolan.yaml': configurationFor(sandbox.url) + store,
    'store.key': canaries.storeKey,
    'shop.yaml': manifests,
    'db.yaml': installManifest,
    'web.yaml': componentManifest,
  });
  const env = { PORTOLAN_TOKEN: canaries.token, PORTOLAN_LOG_LEVEL: 'debug', PORTOLAN_FILENAME: '.' };
  const runs = [
    ['apply', '--yes', '-o', 'json'],
    ['apply', '--yes'],
    ['plan', '-o', 'json', '--log-format', 'json'],
    ['plan'],
    ['status', '-o', 'json'],
    ['status'],
  ];
  for (const args of runs) expectNoCanary(await runProcess(args, { cwd, env }));
  expect(sandbox.requests().filter(({ operation }) => operation === 'install').length).toBeGreaterThan(0);
  const files = readdirSync(cwd).filter((name) => name.startsWith('portolan.db'));
  expect(files).toContain('portolan.db');
  for (const name of files) {
    const bytes = readFileSync(join(cwd, name)).toString('latin1');
    for (const secret of Object.values(canaries)) {
      for (const spelling of [...spellingsOf(secret), Buffer.from(secret).toString('hex')])
        expect(bytes.includes(spelling), `${name}: ${spelling}`).toBe(false);
    }
  }
});

test('the sandbox does not repeat a token of one’s own, and does not log what it is sent', async () => {
  const args = ['sandbox', '--port', '0', '--log-level', 'debug'];
  const { child, ended, outputSoFar } = startProgram(args, { env: { PORTOLAN_SANDBOX_TOKEN: canaries.inline } });
  await expect.poll(() => outputSoFar().out).toContain('Ctrl-C');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(outputSoFar().out)?.[0] ?? '';
  const headers = { authorization: canaries.inline };
  expect((await fetch(`${url}/openapi/v1/regions`, { headers })).status).toBe(200);
  child.kill('SIGTERM');
  expectNoCanary(await ended);
});
