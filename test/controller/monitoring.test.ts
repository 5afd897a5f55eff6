import { expect, onTestFinished, test } from 'vitest';
import type { MonitoringReading } from '../../src/controller/api.ts';
import type { TimeWindow } from '../../src/model/series.ts';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';
import { FILES, SHOP, web } from './shop.ts';

/** A daemon in sync that may send so many requests a second. */
async function inSync(requestsPerSecond: number): Promise<DaemonWorld> {
  const world = new DaemonWorld('{}', demoSeed, requestsPerSecond);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'the shop is in sync');
  return world;
}

/** The window of an hour that ends this many minutes ago. */
function windowOf(world: DaemonWorld, minutesAgo = 0): TimeWindow {
  const endSeconds = Math.floor(world.clock.now() / 60_000) * 60 - minutesAgo * 60;
  return { startSeconds: endSeconds - 3600, endSeconds, stepSeconds: 60 };
}

const monitoringRequests = (world: DaemonWorld): number =>
  world.requests.filter(({ operation }) => ['queryRegion', 'monitor'].includes(operation)).length;

const read = (world: DaemonWorld, minutesAgo = 0): Promise<MonitoringReading> =>
  world.controller.api.monitoring(SHOP, windowOf(world, minutesAgo));

test('viewers at the same time share one answer, for a few seconds', async () => {
  const world = await inSync(50);
  const answers = await Promise.all(Array.from({ length: 20 }, () => read(world)));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatchObject({ source: 'region', isEmpty: false, scope: 'default/team-a/region-1/42' });
  expect(answers[0]?.monitors.map(({ componentName }) => componentName).sort()).toEqual(['shop-api', 'shop-web']);
  expect(monitoringRequests(world)).toBe(3);
  world.clock.advance(10_001);
  await read(world);
  expect(monitoringRequests(world)).toBe(6);
});

test('viewers use a tenth of the requests, and reconciliation is not delayed by them', async () => {
  const world = await inSync(50);
  const startMs = world.clock.monotonic();
  const before = world.requests.length;
  const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => read(world, at)));
  const more = await Promise.allSettled(Array.from({ length: 400 }, (_, at) => read(world, 10 + at)));
  const refused = [...ends, ...more].flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  expect(refused.length).toBeGreaterThan(380);
  for (const error of refused)
    expect(error).toMatchObject({ code: 'monitoring/too-many-requests', disposition: 'retry' });
  // The burst, and a tenth of 50 requests a second since.
  const allowed = 40 + ((world.clock.monotonic() - startMs) / 1000) * 5 + 1;
  expect(world.requests.length - before).toBeLessThanOrEqual(allowed);
  await world.commit({ ...FILES, 'web.yaml': web('OTHER') });
  await world.until(() => world.ready(SHOP) === 'True InSync' && world.writes().length > 0, 'the change is applied');
  // The allowance grows back.
  await world.pass(60_000);
  await expect(read(world, 500)).resolves.toMatchObject({ source: 'region' });
});

test('slow answers keep two turns, and eight wait; a failed answer is not reused', async () => {
  const world = await inSync(1_000_000);
  const gate = Promise.withResolvers<PlatformResponse | undefined>();
  world.answer = (request) => (request.operation === 'queryRegion' ? gate.promise : undefined);
  const reads = Array.from({ length: 12 }, (_, at) => read(world, at));
  const ends = Promise.allSettled(reads);
  await world.until(() => monitoringRequests(world) >= 6, 'two reads have sent their requests');
  expect(monitoringRequests(world)).toBe(6);
  gate.resolve(undefined);
  const refused = (await ends).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(2);
  world.answer = () => undefined;
  await expect(read(world, 11)).resolves.toMatchObject({ source: 'region' });
});

test('a region whose circuit breaker is open gets no request for a viewer', async () => {
  const world = await inSync(1_000_000);
  world.answer = () => ({ status: 502, headers: {}, body: 'bad gateway' }) as unknown as PlatformResponse;
  for (let sync = 0; sync < 5; sync += 1) {
    await world.controller.api.sync('all', 'a test');
    await world.pass(2_000);
  }
  await world.until(
    () => world.controller.api.status().regions[0]?.state === 'circuit-open',
    'the circuit breaker opens',
  );
  const before = monitoringRequests(world);
  await expect(read(world)).rejects.toMatchObject({
    code: 'monitoring/region-paused',
    message: expect.stringContaining('circuit breaker open'),
  });
  expect(monitoringRequests(world)).toBe(before);
  const { regions, platforms, ledger } = await world.controller.api.dependencies();
  expect(regions).toMatchObject([{ state: 'circuit-open', applications: 2, sinceMs: expect.any(Number) }]);
  expect(platforms).toMatchObject([{ name: 'default', url: 'http://sandbox' }]);
  expect(ledger).toMatchObject({ isReadable: true, bytes: null, serial: expect.any(Number), open: 0, inDoubt: 0 });
});

test('an application that was not found on the platform has no monitoring history', async () => {
  const world = await inSync(1_000_000);
  await world.commit({
    ...FILES,
    'lost.yaml': `apiVersion: portolan/v1
kind: Application
metadata: { name: lost }
spec: { team: team-a, region: region-1, app: no-such-application }
`,
  });
  const lost = world.controller.api.monitoring('Application/lost', windowOf(world));
  await expect(lost).rejects.toMatchObject({ code: 'monitoring/unresolved', disposition: 'ask-human' });
  const unknown = world.controller.api.monitoring('Application/nobody', windowOf(world));
  await expect(unknown).rejects.toMatchObject({ code: 'controller/unknown-application' });
});
