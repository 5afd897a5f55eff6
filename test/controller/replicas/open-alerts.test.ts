import { expect, test } from 'vitest';
import { alertChanges } from '../../../src/controller/notifications/alert.ts';
import { demo } from '../../../src/sandbox/seeds/demo.ts';
import { FILES, SHOP, started } from '../shop.ts';
import { both, EAST, inSync } from './two-leaders.ts';
import type { Replica } from './hand-led.ts';

/** Alerts of the east that no event has ended. */
function openAlerts({ events }: Replica): readonly string[] {
  const open = new Set<string>();
  for (const event of events)
    for (const { type, alert } of alertChanges(event)) {
      if (type === 'starts') open.add(alert.name);
      else open.delete(alert.name);
    }
  return [...open].sort();
}

test('the alerts of a leader that did not reach the platform end when its successor does', async () => {
  const { group, one, two } = await inSync();
  group.isPlatformAway = (by) => by === 'one';
  await group.pass(30 * 60_000);
  expect(openAlerts(two)).toEqual(['PortolanApplicationFailed', 'PortolanCircuitOpen']);
  await one.leadership.release('platform:east');
  await two.leadership.take('platform:east');
  await group.pass(60_000);
  expect(openAlerts(two)).toEqual([]);
  expect(two.events.filter(({ type }) => type === 'circuit.closed')).toMatchObject([
    { message: 'region region-1 of east works again', detail: { platform: 'east', region: 'region-1' } },
  ]);
  expect(two.events.filter(({ type }) => type === 'application.recovered')).toMatchObject([
    { message: 'Application/east is in sync again' },
  ]);
});

test('the alert of a region that was enabled between two leaders ends', async () => {
  const { group, one, two } = await inSync();
  const { regions } = group.platforms.east;
  const region = [...regions.all()].find(({ name }) => name === demo.region);
  if (region === undefined) throw new Error('the sandbox has no such region');
  regions.put({ ...region, status: '3' });
  await group.commit(both('www.example.com', 'new.example.com'));
  await group.until(() => openAlerts(two).includes('PortolanRegionPaused'), 'it is paused');
  await one.leadership.release('platform:east');
  regions.put(region);
  await two.leadership.take('platform:east');
  await group.pass(60_000);
  expect(two.ready(EAST)).toBe('True InSync');
  expect(openAlerts(two)).toEqual([]);
  expect(two.events.filter(({ type }) => type === 'region.resumed')).toMatchObject([
    { message: 'region region-1 is enabled again', detail: { platform: 'east', region: 'region-1' } },
  ]);
});

test('after a restart, a failure from before is reported as over', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  world.answer = () => ({ status: 503, contentType: 'application/json', retryAfter: null, body: 'down' });
  await world.until(() => world.eventsOf('application.failed').length > 0, 'it fails');
  await world.controller.drain();
  world.answer = () => undefined;
  world.restart();
  world.start();
  await world.commitAgain(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  await world.pass(60_000);
  expect(world.eventsOf('application.recovered').filter(({ application }) => application === SHOP)).toMatchObject([
    { message: 'Application/shop is in sync again' },
  ]);
});
