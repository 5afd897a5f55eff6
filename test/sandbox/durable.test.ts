import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { recordedSeed } from '../../src/sandbox/seeds/recorded.ts';
import { storeKey } from '../../src/sandbox/state.ts';
import { ask, shopPath, startTestSandbox, webPorts } from './support.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sandbox-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('a restart finds everything as it was, in the same order, and ignores the seed', async () => {
  const first = await startTestSandbox({ dataDir });
  await ask(first, 'POST', `${shopPath}/${webPorts}`, { port: 443, protocol: 'tcp', is_inner_service: true });
  await ask(first, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'open_outer' });
  await ask(first, 'POST', `${shopPath}/${webPorts}`, { port: 5000, protocol: 'tcp', is_inner_service: false });
  await ask(first, 'DELETE', `${shopPath}/${webPorts}/5000`);
  const before = first.state.dump();
  await first.close();

  const second = await startTestSandbox({ dataDir, seed: recordedSeed });
  expect(second.state.dump()).toEqual(before);
  const ports = await ask(second, 'GET', `${shopPath}/${webPorts}`);
  expect(ports.body.data.list.map((port: { container_port: number }) => port.container_port)).toEqual([8080, 443]);
  await second.close();
});

test('a directory of an older version gets what that version did not keep', async () => {
  const first = await startTestSandbox({ dataDir });
  const install = {
    market_url: demo.storeUrl,
    market_domain: demo.storeDomain,
    market_type: demo.storeType,
    market_access_key: null,
    app_model_id: demo.mysqlModelId,
    app_model_version: '8.0.36',
  };
  expect((await ask(first, 'POST', `${shopPath}/install`, install)).status).toBe(200);
  await ask(first, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'change_protocol', protocol: 'tcp' });
  await ask(first, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'open_outer' });
  first.alter((state) => {
    for (const { answers: _new, ...store } of state.stores.all()) state.stores.put(store as never);
    for (const { issuedTo: _new, expiresMs: _newer, ...row } of state.certificates.all()) {
      state.certificates.put(row as never);
    }
    for (const { url, domain } of state.markets.all()) state.markets.delete(storeKey(url, domain));
    for (const { id } of state.tcpRules.all()) state.tcpRules.delete(id);
  });
  await first.close();

  for (let restart = 0; restart < 2; restart += 1) {
    const later = await startTestSandbox({ dataDir });
    expect((await ask(later, 'GET', `${shopPath}/upgrade`)).body).toMatchObject([{ market_name: 'main' }]);
    expect((await ask(later, 'GET', `${shopPath}/domains?query=tcp`)).body.tcp).toMatchObject([
      { end_point: 'tcp.region-1.apps.example.com:30002', is_outer_service: true },
    ]);
    expect((await ask(later, 'GET', `/openapi/v1/teams/${demo.team}/certificates`)).body.list).toMatchObject([
      { id: 7, has_expired: false },
    ]);
    expect([...later.state.stores.all()]).toMatchObject([{ answers: 'keys' }]);
    await later.close();
  }
});

test('a change that cannot be kept did not happen, in memory either', async () => {
  const first = await startTestSandbox({ dataDir });
  const before = first.state.dump();
  const unkeepable = { ...[...first.state.ports.all()][0], serviceName: 1n } as never;
  expect(() => first.alter((state) => state.ports.put(unkeepable))).toThrow(/BigInt/);
  expect(first.state.dump()).toEqual(before);
  expect((await ask(first, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'open_outer' })).status).toBe(200);
  await first.close();
  const second = await startTestSandbox({ dataDir });
  expect([...second.state.ports.all()][0]).toMatchObject({ serviceName: 'gr6f3c1d', outer: true });
  await second.close();
});

test('two sandboxes cannot share a directory', async () => {
  const first = await startTestSandbox({ dataDir });
  await expect(startTestSandbox({ dataDir })).rejects.toMatchObject({
    code: 'sandbox/data-locked',
    disposition: 'locked',
  });
  await first.close();
  const again = await startTestSandbox({ dataDir });
  await again.close();
});

test('a directory that cannot be used is said so', async () => {
  await expect(startTestSandbox({ dataDir: '/dev/null/nowhere' })).rejects.toMatchObject({
    code: 'sandbox/data-unreadable',
  });
});

test('a port that is taken is said so', async () => {
  const first = await startTestSandbox();
  await expect(startTestSandbox({ port: first.port })).rejects.toMatchObject({
    code: 'sandbox/cannot-listen',
    message: expect.stringContaining(String(first.port)),
  });
  await first.close();
});

const child = `
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
const sandbox = await startSandbox({ clock: systemClock, random: systemRandom, dataDir: process.argv[1] });
process.stdout.write(sandbox.url + '\\n');
`;

async function spawnSandbox() {
  const running = spawn(process.execPath, ['--input-type=module-typescript', '--eval', child, dataDir], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(running.stdout, 'data')) as [Buffer];
  return { running, url: line.toString().trim() };
}

test('a killed sandbox loses no write that it acknowledged', async () => {
  const acknowledged = new Set<number>();
  for (const round of [0, 1, 2]) {
    const { running, url } = await spawnSandbox();
    const exited = once(running, 'exit');
    const killAt = 15 + round * 10;
    const addresses = Array.from({ length: 200 }, (_, index) => 10_000 + round * 1000 + index);
    // Four at a time, so that the kill meets requests in every stage.
    const workers = [0, 1, 2, 3].map(async (worker) => {
      for (const port of addresses.filter((_, index) => index % 4 === worker)) {
        const added = await ask({ url }, 'POST', `${shopPath}/${webPorts}`, {
          port,
          protocol: 'tcp',
          is_inner_service: false,
        }).catch(() => undefined);
        if (added?.status !== 200) return;
        acknowledged.add(port);
        if (acknowledged.size >= killAt * (round + 1)) running.kill('SIGKILL');
      }
    });
    await Promise.all(workers);
    await exited;
  }
  expect(acknowledged.size).toBeGreaterThan(30);
  const { running, url } = await spawnSandbox();
  const { body } = await ask({ url }, 'GET', `${shopPath}/${webPorts}`);
  const there = new Set(body.data.list.map((port: { container_port: number }) => port.container_port));
  expect([...acknowledged].filter((port) => !there.has(port))).toEqual([]);
  const exited = once(running, 'exit');
  running.kill('SIGKILL');
  await exited;
});

test('a large state: one write costs milliseconds, not the whole state', async () => {
  const hex = (index: number): string => index.toString(16).padStart(32, '0');
  const applications = Array.from({ length: 1000 }, (_, app) => ({
    id: app + 1,
    team: 'team-a',
    region: 'rainbond',
    name: `app-${app}`,
    components: [
      {
        id: hex(app + 1),
        alias: `gr${app}`,
        name: `c${app}`,
        ports: Array.from({ length: 10 }, (_, port) => ({ port: 8000 + port, inner: true })),
      },
    ],
  }));
  const sandbox = await startTestSandbox({ dataDir, seed: { ...recordedSeed, applications } });
  const path = `/openapi/v1/teams/team-a/regions/rainbond/apps/500/services/${hex(500)}/ports/8001`;
  const before = process.cpuUsage();
  for (let index = 0; index < 20; index += 1) {
    const { status } = await ask(sandbox, 'PUT', path, { action: index % 2 === 0 ? 'close_inner' : 'open_inner' });
    expect(status).toBe(200);
  }
  // Rewriting 11,000 rows takes 50 ms of processor time and more each time.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000 / 20).toBeLessThan(50);
  await sandbox.close();
});
