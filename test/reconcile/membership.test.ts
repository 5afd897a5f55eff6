import { expect, test } from 'vitest';
import { listPorts, portsOf } from '../../src/kinds/component/readings.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { createMembership } from '../../src/reconcile/membership.ts';
import { createScopeReader } from '../../src/reconcile/scope-reader.ts';
import { clientOf } from '../platform/client-support.ts';
import { jsonResponse, recordedResponse } from '../platform/recorded.ts';

const scope = { platform: 'default', team: 'team-a', region: 'region-1', appId: 1 };
const STRANGER = '5'.repeat(32);
const UNKNOWN = { code: 404, msg: 'no found component', msg_show: '', data: { bean: {}, list: [] } };

/** A platform whose application has other components. @param ports what it answers for those of the stranger */
function world(ports: () => ReturnType<typeof jsonResponse>) {
  const { client, clock, sent } = clientOf(({ path }) =>
    path.endsWith('/ports') ? ports() : recordedResponse('list components'),
  );
  const members = createMembership({ client, clock, timing: defaultTiming }, scope);
  const asked = () => sent.filter(({ path }) => path.includes(STRANGER)).length;
  return { members, reader: createScopeReader(client, scope, {}), asked };
}

test('the ports of a component that is known to be elsewhere are not asked for, whether or not they were before', async () => {
  const { members, reader, asked } = world(() => jsonResponse(200, []));
  expect(await members.of(STRANGER)).toEqual({ type: 'stranger' });
  const informed = await members.inform(reader);
  expect(await portsOf(informed, STRANGER)).toBeUndefined();
  expect(asked()).toBe(0);
});

test('the answer of an application that lets others in is not believed once the component is known to be elsewhere', async () => {
  const { members, reader, asked } = world(() => jsonResponse(200, []));
  expect(await portsOf(reader, STRANGER)).toEqual([]);
  await members.of(STRANGER);
  expect(await portsOf(await members.inform(reader), STRANGER)).toBeUndefined();
  expect(asked()).toBe(1);
});

test('what the platform said of a component that is not there stays with it', async () => {
  const { members, reader, asked } = world(() => jsonResponse(404, UNKNOWN));
  await reader.read(listPorts(STRANGER));
  await members.of(STRANGER);
  const informed = await members.inform(reader);
  expect(await informed.read(listPorts(STRANGER))).toEqual({ readable: false, absent: 'no found component' });
  expect(asked()).toBe(1);
});
