import { expect, onTestFinished, test } from 'vitest';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';
import { SHOP, APPLICATION, web, rule, FILES, started, portOf, domains } from './shop.ts';

test.for([
  ['max: 100000', 'True WithinBounds'],
  ['max: 1', 'False OutOfBounds'],
  ['min: 1, series: no_such_series', 'Unknown NoData'],
] as const)(
  'after a change the series of an application are judged by its manifest (%s): %s',
  async ([bounds, expected]) => {
    const world = started();
    const health = `health: [ { component: shop-web, over: 5m, ${bounds}${bounds.includes('series') ? '' : ', series: request_time'} } ]`;
    const application = APPLICATION.replace(`appId: ${demo.appId}`, `appId: ${demo.appId}, ${health}`);
    const healthy = () => {
      const condition = world.application(SHOP).conditions.find(({ type }) => type === 'Healthy');
      return `${condition?.status} ${condition?.reason}`;
    };
    await world.commit({ ...FILES, 'app.yaml': application });
    await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
    expect(healthy()).toBe('Unknown Progressing');
    const changedMs = world.clock.now();
    await world.until(() => healthy() === expected, expected);
    expect(world.clock.now() - changedMs).toBeGreaterThan(280_000);
  },
);

test.for([
  ['has its range query', undefined, 'True WithinBounds', "(source: the region's metrics)"],
  [
    'answers neither way',
    { status: 400, contentType: 'application/json', retryAfter: null, body: '{"code":400,"msg":{"error":"down"}}' },
    'Unknown NoData',
    'its monitoring data cannot be read',
  ],
] as const)(
  'where the endpoint of the application loses samples and the region %s, health says so and the pass is sound',
  async ([, answer, expected, words]) => {
    const world = new DaemonWorld('{}', { ...demoSeed, monitoring: 'lossy' });
    onTestFinished(async () => void (await world.controller.drain()));
    if (answer !== undefined) world.answer = ({ path }) => (path.endsWith('/monitor/query_range') ? answer : undefined);
    world.start();
    const health = 'health: [ { component: shop-web, over: 5m, series: request_time, max: 100000 } ]';
    const application = APPLICATION.replace(`appId: ${demo.appId}`, `appId: ${demo.appId}, ${health}`);
    await world.commit({ ...FILES, 'app.yaml': application });
    const healthy = () => world.application(SHOP).conditions.find(({ type }) => type === 'Healthy');
    await world.until(() => `${healthy()?.status} ${healthy()?.reason}` === expected, expected);
    expect(healthy()?.message).toContain(words);
    expect(world.ready(SHOP)).toBe('True InSync');
  },
);

test('observers hear each milestone of a change once, in order', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.milestones.some((one) => one === `${SHOP} healthy`), 'shop is healthy');
  await world.pass(7_200_000);
  expect(world.milestones.filter((one) => one.startsWith(`${SHOP} `))).toEqual(
    ['observed', 'planned', 'first-write', 'applied', 'healthy'].map((milestone) => `${SHOP} ${milestone}`),
  );
});

test('while the disk of the ledger is full nothing is sent; what could not be taken in is taken in afterwards', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  world.isDiskFull = true;
  const writes = world.writes().length;
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.pass(3_600_000);
  expect(world.writes()).toHaveLength(writes);
  world.isDiskFull = false;
  await world.until(
    () => portOf(world).alias === 'SITE' && world.ready(SHOP) === 'True InSync',
    'the commit is applied',
  );
});

test('a configuration that is read again does not make a source that is away removable', async () => {
  const world = started('{ controller: { pruneAfter: 1m } }');
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit(FILES);
  await world.sourceFails();
  await world.controller.reload(world.configuration());
  await world.pass(7_200_000);
  expect(domains(world)).toHaveLength(2);
  expect(world.controller.api.status().source.error?.code).toBe('source/unreachable');
});

test('an error that is over is not shown as the reason of a hold that follows it', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  world.answer = () => ({ status: 503, contentType: 'text/plain', retryAfter: null, body: 'down' });
  await world.until(() => world.application(SHOP).lastError !== null, 'it failed');
  world.answer = () => undefined;
  await world.commit({ ...FILES, 'web.yaml': web('WEB').replace(demo.webServiceId, 'f'.repeat(32)) });
  await world.until(() => world.ready(SHOP) === 'False Held', 'it is held');
  expect(world.application(SHOP)).toMatchObject({ failures: 0, lastError: null });
});

test('the message of a resource lists its first changes, and counts the others', async () => {
  const world = started('{ prune: { maxShare: 0.1 } }');
  const many = (alias: string) =>
    `${web('WEB')}${[1, 2, 3, 4, 5, 6].map((port) => `    - { port: ${port}, protocol: tcp, alias: ${alias}${port} }\n`).join('')}`;
  await world.commit({ ...FILES, 'web.yaml': many('OLD') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit({ ...FILES, 'web.yaml': many('NEW') });
  await world.until(() => world.ready(SHOP) === 'False ApprovalNeeded', 'it is held');
  const component = world.application(SHOP).resources.find(({ id }) => id === 'Component/shop-web');
  const ready = component?.conditions.find(({ type }) => type === 'Ready');
  expect(ready?.message).toMatch(/^change alias of port 1 to NEW1; .*port 4 to NEW4; and 2 more$/);
  // The plan that the controller shows has the controller's own way out, not a flag of apply.
  const { refusals } = await world.controller.api.plan([SHOP], new AbortController().signal);
  expect(refusals).toMatchObject(world.application(SHOP).approval?.refusals ?? []);
  expect(refusals[0]?.override).toMatch(/^approve this plan, or raise spec\.prune\.maxShare of Settings to 0\./);
});
