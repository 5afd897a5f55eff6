import { expect, test } from 'vitest';
import * as ofComponents from '../../src/kinds/component/readings.ts';
import * as ofRules from '../../src/kinds/http-gateway-rule/readings.ts';
import * as ofInstalls from '../../src/kinds/store-install/readings.ts';
import type { PlatformClient } from '../../src/platform/client.ts';
import * as ofPlatform from '../../src/platform/readings.ts';
import type { PlatformRequest } from '../../src/platform/transport.ts';
import { clientOf } from './client-support.ts';
import { app, web, writes } from './every-write.ts';
import { jsonResponse, recordedSecond } from './recorded.ts';

const RECORD = 4 * 1024 * 1024;
const LIST = 64 * 1024 * 1024;
/** Of the operator. */
const TIMEOUT_MS = 30_000;
const WRITE_MS = 90_000;
const INSTALL_MS = 900_000;
const range = { start: 1, end: 2, stepSeconds: 1 };

/** The last request that is sent when a platform refuses everything, the listing of all regions as a real one does. */
async function requestOf(ask: (client: PlatformClient) => Promise<unknown>): Promise<PlatformRequest | undefined> {
  const refused = recordedSecond('all regions, no administrator').response;
  const { client, clock, sent } = clientOf(
    ({ operation }) =>
      operation === 'listRegions' ? jsonResponse(refused.status, refused.body) : jsonResponse(400, { msg: 'no' }),
    { dialect: 'extended', limits: { timeoutMs: TIMEOUT_MS } },
  );
  await clock.run(ask(client).catch(() => {}));
  return sent.at(-1);
}

const limitsOfWrites = [
  ['addPort', RECORD, WRITE_MS, 'duplicate-rejecting'],
  ['updatePort', RECORD, WRITE_MS, 'target-state'],
  ['deletePort', RECORD, WRITE_MS, 'target-state'],
  ['createRule', RECORD, WRITE_MS, 'duplicate-rejecting'],
  ['updateRule', RECORD, WRITE_MS, 'target-state'],
  ['deleteRule', RECORD, WRITE_MS, 'target-state'],
  ['install', LIST, INSTALL_MS, 'duplicate-accepting'],
  ['upgrade', LIST, INSTALL_MS, 'duplicate-accepting'],
  ['createApplication', RECORD, WRITE_MS, 'duplicate-accepting'],
] as const satisfies readonly (readonly [keyof typeof writes, number, number, string])[];

test.for(limitsOfWrites)(
  '%s may answer with %i bytes within %i ms',
  async ([operation, answerBytesMax, timeoutMs, writeClass]) => {
    const write = writes[operation];
    const sent = await requestOf((client) => client.send(write));
    expect(sent).toMatchObject({ operation, answerBytesMax, timeoutMs, isRead: false });
    expect([sent?.method === 'GET', write.declared.class]).toEqual([false, writeClass]);
  },
);

const readings = [
  [ofPlatform.getApplication, RECORD, 10_000],
  [ofPlatform.listApplications, LIST, TIMEOUT_MS],
  [ofPlatform.listComponents, LIST, TIMEOUT_MS],
  [ofPlatform.listCertificates, LIST, TIMEOUT_MS],
  [ofComponents.listPorts(web), LIST, TIMEOUT_MS],
  [ofComponents.listEndpoints, LIST, TIMEOUT_MS],
  [ofRules.listRules, LIST, TIMEOUT_MS],
  [ofRules.listAllRules, LIST, TIMEOUT_MS],
  [ofRules.getRule('r1'), RECORD, TIMEOUT_MS],
  [ofInstalls.listInstalled, LIST, TIMEOUT_MS],
  [ofInstalls.listBuilds(web), RECORD, TIMEOUT_MS],
  [ofInstalls.eventLog('e1'), RECORD, TIMEOUT_MS],
] as const;

test.for([
  ...readings.map(
    ([reading, ...limits]) =>
      [reading.operation, (client: PlatformClient) => client.read<unknown>(reading, app), ...limits] as const,
  ),
  ['listRegions', (client: PlatformClient) => client.regions(), LIST, TIMEOUT_MS],
  ['listTeamRegions', (client: PlatformClient) => client.regions({ team: 'team-a' }), LIST, TIMEOUT_MS],
  ['monitor', (client: PlatformClient) => client.monitor(app, range), LIST, TIMEOUT_MS],
  [
    'queryRegion',
    (client: PlatformClient) => client.regionSeries('region-1', { ...range, expression: 'up' }),
    LIST,
    TIMEOUT_MS,
  ],
] as const)('%s is sent with its limits', async ([operation, ask, answerBytesMax, timeoutMs]) => {
  const sent = await requestOf(ask);
  expect(sent).toMatchObject({ operation, method: 'GET', isRead: true, answerBytesMax, timeoutMs });
});

test('every write and every reading is among them', () => {
  expect(limitsOfWrites.map(([operation]) => operation)).toEqual(Object.keys(writes));
  const declared = [ofPlatform, ofComponents, ofRules, ofInstalls].flatMap((one): readonly unknown[] =>
    Object.values(one),
  );
  const listed = new Set<unknown>(readings.map(([reading]) => reading));
  const isReading = (value: unknown) => typeof value === 'object' && value !== null && 'segments' in value;
  expect(declared.filter((value) => isReading(value) && !listed.has(value))).toEqual([]);
});
