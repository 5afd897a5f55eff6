import { listBuilds } from '../../src/kinds/store-install/readings.ts';
import { expect, test } from 'vitest';
import { clientOf } from './client-support.ts';
import { jsonResponse } from './recorded.ts';

const app = { team: 'team-a', region: 'rainbond', appId: 1 };
const event = (fields: object) => ({ event_id: 'e1', opt_type: 'build-service', status: '', ...fields });

test('whoever looks every two seconds asks for the builds of a component every ten', async () => {
  const { client, clock, sent } = clientOf(() => jsonResponse(200, { events: [event({})] }), { dialect: 'extended' });
  for (let look = 0; look < 10; look += 1) {
    await client.read(listBuilds('s1'), app);
    clock.advance(2_000);
  }
  expect(sent.map(({ path }) => path)).toEqual(
    Array.from({ length: 2 }, () => '/openapi/v1/teams/team-a/regions/rainbond/apps/1/services/s1/events'),
  );
});

test.for<readonly [string, object, string]>([
  ['nothing yet', {}, 'running'],
  ['success', { status: 'success', final_status: 'complete' }, 'done'],
  ['failure', { status: 'failure', final_status: 'complete' }, 'failed'],
  ['timeout', { status: '', final_status: 'timeout' }, 'failed'],
])('a build whose event says %s', async ([, fields, state]) => {
  const { client } = clientOf(() => jsonResponse(200, { events: [event(fields)] }), { dialect: 'extended' });
  expect(await client.read(listBuilds('s1'), app)).toMatchObject({ readable: true, value: [{ id: 'e1', state }] });
});

test('what is no build, or has no id that could be asked for, is left out', async () => {
  const events = [event({ opt_type: 'start-service' }), event({ event_id: '../x' }), event({ event_id: null })];
  const { client } = clientOf(() => jsonResponse(200, { events }), { dialect: 'extended' });
  expect(await client.read(listBuilds('s1'), app)).toEqual({ readable: true, value: [] });
});

test('a server of the documented dialect is not asked for events', async () => {
  const { client, sent } = clientOf(() => jsonResponse(200, { events: [] }), { dialect: 'documented' });
  expect(await client.read(listBuilds('s1'), app)).toEqual({ readable: false });
  expect(sent).toEqual([]);
});
