import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { DaemonWorld } from './daemon.ts';
import { APPLICATION, FILES, portOf, SHOP, started, web } from './shop.ts';

/** A long resync, so that no pass but those of a change asks the platform anything. */
const SETTINGS = '{ controller: { resyncInterval: 24h, healthTimeout: 2m } }';

const healthy = (world: DaemonWorld): string => {
  const { conditions, resources } = world.application(SHOP);
  const all = [conditions, ...resources.map((resource) => resource.conditions)];
  return [...new Set(all.map((list) => list.find(({ type }) => type === 'Healthy')).map(textOf))].join(', ');
};

function textOf(condition: { readonly status: string; readonly reason: string } | undefined): string {
  return `${condition?.status} ${condition?.reason}`;
}

/** Operations of the requests since the last write, without those of the pass that wrote. */
const checks = (world: DaemonWorld): readonly string[] => {
  const operations = world.requests.map(({ operation }) => operation);
  // The pass reads the component that it has changed, and nothing else.
  const readBack = operations.lastIndexOf('listPorts');
  expect(readBack).toBeGreaterThan(operations.lastIndexOf('modifyPort'));
  return operations.slice(readBack + 1);
};

/** The platform's answers about the application say that one component of two runs. */
function halfRunning(world: DaemonWorld): void {
  world.answer = async (request) => {
    const response = await world.sandbox(request);
    if (request.operation !== 'getApplication') return response;
    const record = JSON.parse(response.body) as object;
    return { ...response, body: JSON.stringify({ ...record, status: 'part_running', running_service_count: 1 }) };
  };
}

/** Shop is in sync and healthy; then its port gets another alias. */
async function changed(before: (world: DaemonWorld) => void = () => {}): Promise<DaemonWorld> {
  const world = started(SETTINGS);
  await world.commit(FILES);
  await world.until(() => healthy(world) === 'True Running', 'shop is healthy');
  await world.pass(60_000);
  before(world);
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => portOf(world).alias !== 'WEB', 'it is applied');
  return world;
}

test('the health after a change takes one request', async () => {
  const world = await changed();
  await world.until(() => world.milestones.filter((one) => one === `${SHOP} healthy`).length === 2, 'shop is healthy');
  await world.pass(600_000);
  expect(checks(world)).toEqual(['getApplication']);
  expect(healthy(world)).toBe('True Running');
  expect(world.eventsOf('health.changed').at(-1)?.message).toBe(`${SHOP} is healthy: 3 of 3 components running`);
});

test('a slow platform gets one request for the health, too', async () => {
  const slow = async (world: DaemonWorld): Promise<undefined> => world.clock.sleep(700) as Promise<undefined>;
  const world = await changed((before) => {
    before.answer = async () => slow(before);
  });
  await world.until(() => world.milestones.filter((one) => one === `${SHOP} healthy`).length === 2, 'shop is healthy');
  await world.pass(600_000);
  expect(checks(world)).toEqual(['getApplication']);
});

test('until the application runs, or its time has passed, each check takes one request', async () => {
  const world = await changed(halfRunning);
  await world.until(() => healthy(world) === 'False NotRunning', 'it did not become ready in time');
  await world.pass(600_000);
  // Every five seconds for two minutes.
  expect(checks(world).length).toBeGreaterThan(20);
  expect(checks(world).length).toBeLessThan(26);
  expect(new Set(checks(world))).toEqual(new Set(['getApplication']));
  expect(world.eventsOf('health.changed').at(-1)).toMatchObject({ severity: 'warning' });
});

test('a restart of the process does not lose the health that is due', async () => {
  const world = await changed();
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commitAgain({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => healthy(world) === 'True Running', 'shop is healthy');
});

test('a platform that cannot be read gets a whole pass, which reports it', async () => {
  const world = await changed((before) => {
    before.answer = ({ operation }) =>
      operation === 'getApplication' && portOf(before).alias === 'SITE'
        ? { status: 503, contentType: 'text/plain', retryAfter: null, body: 'down' }
        : undefined;
  });
  await world.until(() => world.application(SHOP).lastError !== null, 'it failed');
  world.answer = () => undefined;
  await world.until(() => healthy(world) === 'True Running' && world.ready(SHOP) === 'True InSync', 'it works again');
});

test('a commit while the health is read is applied, and its own health is checked', async () => {
  const commits: Promise<string>[] = [];
  const world = await changed((before) => {
    before.answer = ({ operation }) => {
      if (operation === 'getApplication' && portOf(before).alias === 'SITE' && commits.length === 0)
        commits.push(before.commit({ ...FILES, 'web.yaml': web('THIRD') }));
      return undefined;
    };
  });
  await world.until(() => portOf(world).alias === 'THIRD', 'the third alias is applied');
  await Promise.all(commits);
  await world.until(() => healthy(world) === 'True Running' && world.ready(SHOP) === 'True InSync', 'shop is healthy');
});

test('with thresholds, a pass reads what they need', async () => {
  const world = started(SETTINGS);
  const health = 'health: [ { component: shop-web, over: 5m, series: request_time, max: 100000 } ]';
  const application = APPLICATION.replace(`appId: ${demo.appId}`, `appId: ${demo.appId}, ${health}`);
  await world.commit({ ...FILES, 'app.yaml': application });
  await world.until(() => healthy(world) === 'True WithinBounds', 'its series are within bounds');
});
