import { expect, onTestFinished, test } from 'vitest';
import { Alertmanager } from '../notifications/alertmanager.ts';
import { application } from './hand-led.ts';
import { both, EAST, inSync, twoLeaders, WEST } from './two-leaders.ts';

const MINUTE = 60_000;
const INVALID = { 'east.yaml': 'apiVersion: portolan/v1\nkind: Application\nmetadata: { name: "no name" }\n' };

/** Two replicas in sync, which send to one Alertmanager. */
async function paged() {
  const scene = await inSync();
  const pager = new Alertmanager(scene.group.clock);
  const [ofOne, ofTwo] = [scene.one, scene.two].map(({ controller }) => pager.listen(controller.api));
  return { ...scene, pager, ofOne, ofTwo };
}

test('the alerts of a leader that was killed are sent on by its successor, and end with their cause', async () => {
  const { group, one, two, pager, ofOne } = await paged();
  group.isPlatformAway = () => true;
  await one.controller.api.sync([EAST], 'a test');
  await group.pass(20 * MINUTE);
  const firing = (): readonly string[] => pager.firing('application', 'platform').filter((line) => /east/.test(line));
  const expected = ['PortolanApplicationFailed Application/east ', 'PortolanCircuitOpen  east'];
  expect(firing()).toEqual(expected);
  // It is killed: it sends nothing more, not even to the database.
  await ofOne?.end();
  one.isDatabaseAway = true;
  await group.pass(MINUTE);
  expect(await two.leadership.take('platform:east')).toBe(true);
  await group.pass(20 * MINUTE);
  expect(firing()).toEqual(expected);
  group.isPlatformAway = () => false;
  await group.until(() => two.ready(EAST) === 'True InSync', 'in sync');
  await group.pass(1_000);
  expect(firing()).toEqual([]);
});

test('an alert that ended while no replica sent ends in minutes, and a late start of a former leader too', async () => {
  const { group, one, two, pager, ofOne } = await paged();
  group.isPlatformAway = (by) => by === 'one';
  await one.controller.api.sync([EAST], 'a test');
  await group.pass(2 * MINUTE);
  expect(pager.firing('application')).toContain('PortolanApplicationFailed Application/east');
  // Its last messages are lost with it.
  await ofOne?.end();
  await one.leadership.release('platform:east');
  await two.leadership.take('platform:east');
  await group.until(() => two.ready(EAST) === 'True InSync', 'in sync');
  await group.pass(7 * MINUTE);
  expect(pager.firing()).toEqual([]);
});

test('a start that waits when the platform is handed over is not sent after the end', async () => {
  const { group, one, two, pager } = await paged();
  group.isPlatformAway = (by) => by === 'one';
  pager.answerMs = 9_000;
  await one.controller.api.sync([EAST], 'a test');
  await group.until(() => one.eventsOf('application.failed').length > 0, 'it fails');
  await one.leadership.release('platform:east');
  await two.leadership.take('platform:east');
  await group.until(() => two.ready(EAST) === 'True InSync', 'in sync');
  const sent = pager.messages.length;
  await group.pass(7 * MINUTE);
  expect(
    pager.messages
      .slice(sent)
      .flat()
      .filter((alert) => 'startsAt' in alert),
  ).toEqual([]);
  expect(pager.firing()).toEqual([]);
});

test('the alerts of an Application that git removes end', async () => {
  const { group, one, two, pager } = await paged();
  group.isPlatformAway = () => true;
  for (const [replica, id] of [
    [one, EAST],
    [two, WEST],
  ] as const)
    await replica.controller.api.sync([id], 'a test');
  await group.pass(2 * MINUTE);
  expect(pager.firing('application')).toContain('PortolanApplicationFailed Application/west');
  await group.commit(application('east', 'www.example.com'));
  await group.until(() => two.controller.api.application(WEST) === undefined, 'it is removed');
  await group.pass(MINUTE + 1_000);
  expect(pager.firing('application').filter((line) => line.endsWith(WEST))).toEqual([]);
  expect(pager.firing('application')).toContain('PortolanApplicationFailed Application/east');
});

test('a rejected commit is reported by the next leader, too, because the first one may have died before it did', async () => {
  const { group, one, two } = await twoLeaders();
  await group.commit(both('www.example.com'));
  await group.until(() => two.ready(EAST) === 'True InSync', 'in sync');
  // It stores that the commit is rejected, and dies before it stores or sends the event.
  one.isLost = (operation) => operation === 'events';
  const pager = new Alertmanager(group.clock);
  pager.listen(two.controller.api);
  await group.commit(INVALID);
  await group.until(() => two.controller.api.status().source.error !== null, 'it is stored');
  onTestFinished(() => {
    one.isDatabaseAway = false;
  });
  one.isDatabaseAway = true;
  await group.pass(MINUTE);
  expect(two.eventsOf('source.refused')).toEqual([]);
  expect(await two.leadership.take('source:default')).toBe(true);
  await group.pass(1_000);
  expect(two.eventsOf('source.refused')).toMatchObject([
    {
      severity: 'error',
      message: expect.stringMatching(/It was found at 2026-\S+Z, before this replica led the source\.$/),
      detail: { sinceMs: two.controller.api.status().source.error?.atMs },
    },
  ]);
  expect(pager.firing()).toEqual(['PortolanSourceRejected']);
  // Once.
  await group.tell(2, INVALID, [two]);
  await group.pass(10 * MINUTE);
  expect(two.eventsOf('source.refused')).toHaveLength(1);
  expect(pager.firing()).toEqual(['PortolanSourceRejected']);
  await group.tell(3, both('www.example.com'), [two]);
  await group.pass(1_000);
  expect(pager.firing()).toEqual([]);
});
