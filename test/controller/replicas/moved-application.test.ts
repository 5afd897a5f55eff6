import { expect, onTestFinished, test } from 'vitest';
import type { Stored } from '../../../src/controller/ledger-records.ts';
import type { Condition } from '../../../src/model/status.ts';
import { type PortRow, portKey } from '../../../src/sandbox/state.ts';
import { demo } from '../../../src/sandbox/seeds/demo.ts';
import { application, Group, type Replica } from './hand-led.ts';

/** A commit that moves an application to another platform, which another replica may lead. */

const EAST = 'Application/east' as const;
const ON_EAST = application('east', 'www.example.com');
const ON_WEST = Object.fromEntries(
  Object.entries(ON_EAST).map(([path, text]) => [path, text.replace('platform: east', 'platform: west')]),
);

function group(): Group {
  const opened = new Group('{ controller: { healthTimeout: 1m } }');
  onTestFinished(() => opened.close());
  return opened;
}

const stored = (of: Group): Stored => of.fact(`status default ${EAST}`) as Stored;
const isHealthy = ({ type, status }: Condition): boolean => type === 'Healthy' && status === 'True';
const bugs = (replica: Replica): readonly string[] => replica.lines.filter((line) => line.includes('bug in Portolan'));

test('a commit moves an application during its pass: the pass ends, and the next one works on the other platform', async () => {
  const all = group();
  const one = all.open('one');
  for (const unit of ['source:default', 'platform:east', 'platform:west'] as const) await one.leadership.take(unit);
  await all.commit(ON_EAST);
  await all.until(() => one.ready(EAST) === 'True InSync', 'it is in sync');
  // A person changes something, and the pass that corrects it stops before it records the outcome of its write.
  const port = all.platforms.east.ports.get(portKey(demo.webServiceId, 8080)) as PortRow;
  all.platforms.east.ports.put({ ...port, inner: false });
  const gate = Promise.withResolvers<void>();
  const before = all.writes.length;
  let hasStopped = false;
  one.beforeStatement = async (operation) => {
    if (operation !== 'commit' || hasStopped || all.writes.length === before) return;
    hasStopped = true;
    await gate.promise;
  };
  await one.controller.api.sync([EAST], 'Ann');
  await all.until(() => hasStopped, 'the pass has written');
  const second = await all.commit(ON_WEST);
  await all.until(() => one.accepted() === second, 'the commit is accepted');
  const finished = one.eventsOf('apply.finished').length;
  gate.resolve();
  await all.until(() => all.domains('west').length === 1, 'it works on the other platform');
  await all.until(() => one.ready(EAST) === 'True InSync', 'it is in sync there');
  await all.until(() => stored(all).status.scope?.startsWith('west/') === true, 'that is stored');
  expect(one.lines.filter((line) => line.includes(' error '))).toEqual([]);
  // What was found and done on the former platform is reported and recorded.
  expect(one.eventsOf('apply.finished')).toHaveLength(finished + 2);
  const rows = await one.shared.reader.history({ limit: 100 });
  expect(rows.map(({ event }) => event)).toContain('drift');
});

/** Two replicas in sync with a commit that has moved an application, which the former leader has not read yet. */
async function moved(): Promise<{ all: Group; one: Replica; two: Replica }> {
  const all = group();
  const [one, two] = [all.open('one'), all.open('two')];
  await one.leadership.take('platform:east');
  await two.leadership.take('source:default');
  await two.leadership.take('platform:west');
  await all.commit(ON_EAST, [two]);
  await all.until(() => one.ready(EAST) === 'True InSync' && two.ready(EAST) === 'True InSync', 'it is in sync');
  one.isLost = (operation) => operation === 'facts';
  const second = await all.commit(ON_WEST, [two]);
  await all.until(() => two.accepted() === second, 'the commit is accepted');
  await all.until(() => stored(all).status.platform === 'west', 'its new leader has stored its status');
  return { all, one, two };
}

test('a leader that has not read the commit that moved an application stores nothing about it', async () => {
  const { all, one, two } = await moved();
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  const found = await one.controller.api.suspend(EAST, 'Bob', 'another test').catch((error: unknown) => error);
  expect(found).toMatchObject({ code: 'controller/not-leader', disposition: 'retry' });
  await one.controller.api.sync([EAST], 'Bob');
  await all.pass(10_000);
  expect(stored(all)).toMatchObject({ status: { platform: 'west' }, kept: { suspended: { by: 'Ann' } } });
  // Once it has read the commit, it shows what the new leader stored.
  one.isLost = () => false;
  await all.until(() => one.controller.api.application(EAST)?.pause?.type === 'suspended', 'it follows');
  expect([...bugs(one), ...bugs(two)]).toEqual([]);
});

test('a former leader shows what is stored after an outage, although nobody stores it again', async () => {
  const all = group();
  const [one, two] = [all.open('one'), all.open('two')];
  await two.leadership.take('source:default');
  await two.leadership.take('platform:east');
  await all.commit(ON_EAST, [two]);
  await all.until(() => one.ready(EAST) === 'True InSync' && two.ready(EAST) === 'True InSync', 'it is in sync');
  // The health after the change, so that its successor has nothing else to store.
  for (let turn = 0; turn < 30 && !stored(all).status.conditions.some(isHealthy); turn += 1) {
    await all.pass(5_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(stored(all).status.conditions.some(isHealthy)).toBe(true);
  const before = stored(all);
  await two.leadership.release('platform:east');
  await one.leadership.take('platform:east');
  // It observes an outage, and cannot store that.
  one.isLost = (operation) => operation === 'commit';
  all.isPlatformAway = (by) => by === 'one';
  await one.controller.api.sync([EAST], 'Ann');
  await all.pass(60_000);
  await all.until(() => one.ready(EAST) !== 'True InSync', 'it shows what it found');
  one.isDatabaseAway = true;
  while (!(await two.leadership.take('platform:east'))) await all.pass(1_000);
  one.isDatabaseAway = false;
  one.isLost = () => false;
  await all.until(() => two.ready(EAST) === 'True InSync', 'its successor observes it');
  await all.until(() => one.ready(EAST) === 'True InSync', 'the former leader shows that');
  expect(stored(all).status.conditions).toEqual(before.status.conditions);
});
