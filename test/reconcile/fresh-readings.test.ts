import { expect, test } from 'vitest';
import { listPorts, portsReading } from '../../src/kinds/component/readings.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { createFreshReadings } from '../../src/reconcile/rounds.ts';
import { createScopeReader } from '../../src/reconcile/scope-reader.ts';
import { clientOf } from '../platform/client-support.ts';
import { jsonResponse, recordedResponse } from '../platform/recorded.ts';

const app = { team: 'team-a', region: 'region-1', appId: 1 };
const web = 'a'.repeat(32);
const absent = (msg: string) => jsonResponse(404, { code: 404, msg, msg_show: '', data: { bean: {}, list: [] } });
const GONE = absent('no found component');

test.for([
  ['in other words than before', true, GONE, absent('component not belong to this app')],
  ['no more', false, GONE, recordedResponse('list ports')],
  ['now', false, recordedResponse('list ports'), GONE],
] as const)('a component that is absent %s: is it as planned? %s', async ([, isAsPlanned, before, after]) => {
  const { client, clock } = clientOf((_, count) => (count === 1 ? before : after));
  const reader = createScopeReader(client, app, {}, { clock });
  await reader.read(listPorts(web));
  const fresh = createFreshReadings({ clock, timing: defaultTiming }, reader);
  clock.advance(defaultTiming.observationMaxAgeMs + 1);
  const readings = [portsReading(web)];
  expect(await fresh.freshen(readings)).toEqual({ read: readings, isAsPlanned });
});

test('a component that was told to be elsewhere is as planned where the platform says so too', async () => {
  const { client, clock } = clientOf(() => GONE);
  const answers = [[listPorts(web), { readable: false }]] as const;
  const reader = createScopeReader(client, app, { answers }, { clock });
  clock.advance(defaultTiming.observationMaxAgeMs + 1);
  const fresh = createFreshReadings({ clock, timing: defaultTiming }, reader);
  expect(await fresh.freshen([portsReading(web)])).toMatchObject({ isAsPlanned: true });
});
