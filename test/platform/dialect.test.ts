import { listComponents } from '../../src/kinds/component/readings.ts';
import { getRule, listRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { listCertificates } from '../../src/platform/readings.ts';
import { listInstalled } from '../../src/kinds/store-install/readings.ts';
import { createRule } from '../../src/kinds/http-gateway-rule/requests.ts';
import { expect, test } from 'vitest';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import { clientOf, extendedListings } from './client-support.ts';
import { jsonResponse, recordedResponse } from './recorded.ts';

const app = { team: 'team-a', region: 'rainbond', appId: 1 };
const noRoute = jsonResponse(404, { detail: 'Not found.' });
const noMethod = jsonResponse(405, { detail: 'Method "GET" not allowed.', code: 405, error_type: 'MethodNotAllowed' });
const page404: PlatformResponse = {
  status: 404,
  contentType: 'text/html',
  retryAfter: null,
  body: '<h1>Not Found</h1>',
};

const listings = extendedListings.map((listing) => [listing.operation, listing] as const);

test.for(listings)('%s is proved by a list, and then costs no probe', async ([, listing]) => {
  const { client, sent } = clientOf(() =>
    jsonResponse(200, listing === listCertificates ? { list: [], total: 0 } : []),
  );
  expect(client.capability(listing)).toBe('unknown');
  expect(await client.read(listing, app)).toEqual({ readable: true, value: [] });
  expect(client.capability(listing)).toBe('yes');
  await client.probe(listing, app);
  expect(sent).toHaveLength(1);
});

test.for(
  listings.flatMap(([name, listing]) =>
    [noRoute, noMethod].map((answer) => [name, answer.status, listing, answer] as const),
  ),
)('%s is denied by a JSON %i, and then costs no request', async ([, , listing, answer]) => {
  const { client, sent } = clientOf(() => answer);
  expect(await client.read(listing, app)).toEqual({ readable: false });
  expect(await client.read(listing, app)).toEqual({ readable: false });
  expect(client.capability(listing)).toBe('no');
  expect(sent).toHaveLength(1);
});

test.for([
  ['a page that is not found', page404],
  ['an unknown application', recordedResponse('unknown application')],
  ['an unknown team', recordedResponse('unknown team')],
  ['an unknown region', recordedResponse('unknown region')],
  ['an unknown component', recordedResponse('ports of an unknown component')],
  ['a rule that is gone', recordedResponse('delete it again (rule)')],
  ['a region that is not ready', recordedResponse('region under maintenance')],
  ['a refused token', recordedResponse('regions without a token')],
  ['a forbidden read', jsonResponse(403, {})],
  ['a crash', jsonResponse(500, { code: 10401, msg: 'x' })],
  ['a page under 200', { ...page404, status: 200 }],
  ['a list of another form', jsonResponse(200, { hello: 'world' })],
] as const)('%s proves nothing about the dialect', async ([, answer]) => {
  const { client, clock } = clientOf(() => answer);
  expect(await clock.run(client.probe(listRules, app))).toBe('unknown');
  expect(client.capabilities()).toEqual({});
});

test('no answer proves nothing about the dialect', async () => {
  const { client, clock } = clientOf(() => jsonResponse(503, {}));
  expect(await clock.run(client.probe(listComponents, app))).toBe('unknown');
});

test.for([
  ['listRules', listRules, '/openapi/v1/teams/team-a/regions/rainbond/apps/1/httpdomains'],
  ['listComponents', listComponents, '/openapi/v1/teams/team-a/regions/rainbond/apps/1/services'],
  ['listInstalled', listInstalled, '/openapi/v1/teams/team-a/regions/rainbond/apps/1/upgrade'],
] as const)('%s is found out by reading, never by a write', async ([, listing, path]) => {
  for (const [answer, state] of [
    [jsonResponse(200, []), 'yes'],
    [noRoute, 'no'],
  ] as const) {
    const { client, sent } = clientOf(() => answer);
    expect(await client.probe(listing, app)).toBe(state);
    expect(sent.map((request) => [request.method, request.path])).toEqual([['GET', path]]);
    expect(client.capability(listing)).toBe(state);
  }
});

test('a setting decides everything without asking', async () => {
  for (const [dialect, state] of [
    ['documented', 'no'],
    ['extended', 'yes'],
  ] as const) {
    const { client, sent } = clientOf(() => noRoute, {
      dialect,
      remembered: { listRules: state === 'yes' ? 'no' : 'yes' },
    });
    for (const listing of extendedListings) expect(await client.probe(listing, app)).toBe(state);
    expect(client.capabilities()).toEqual({});
    expect(sent).toEqual([]);
  }
});

test('an extended server that has no such endpoint is an error with the setting to change', async () => {
  const { client } = clientOf(() => noRoute, { dialect: 'extended' });
  await expect(client.read(listRules, app)).rejects.toMatchObject({
    code: 'platform/capability-missing',
    disposition: 'give-up',
  });
});

test('what was found is remembered, and what an earlier version noted of writes decides nothing', async () => {
  const found = clientOf(({ path }) => (path.endsWith('/services') ? noRoute : jsonResponse(200, [])));
  await found.client.read(listRules, app);
  await found.client.read(listComponents, app);
  const remembered = found.client.capabilities();
  expect(remembered).toEqual({ listComponents: 'no', listRules: 'yes' });
  const { client, sent } = clientOf(() => noRoute, { remembered });
  expect(client.capabilities()).toEqual(remembered);
  expect(await client.read(listComponents, app)).toEqual({ readable: false });
  expect(sent).toEqual([]);
  expect(clientOf(() => noRoute, { remembered: { updateRule: 'yes' } }).client.capability(listRules)).toBe('unknown');
});

test('one rule is not readable where rules are not, and absent where its id is not known', async () => {
  const documented = clientOf(() => noRoute, { dialect: 'documented' });
  expect(await documented.client.read(getRule('r1'), app)).toEqual({ readable: false });
  expect(documented.sent).toEqual([]);
  expect(await clientOf(() => noRoute).client.read(getRule('r1'), app)).toEqual({ readable: false });
  const absent = { readable: true, value: undefined };
  expect(await clientOf(() => noRoute, { dialect: 'extended' }).client.read(getRule('r1'), app)).toEqual(absent);
  expect(await clientOf(() => recordedResponse('delete it again (rule)')).client.read(getRule('r1'), app)).toEqual(
    absent,
  );
  await expect(
    clientOf(() => recordedResponse('unknown application')).client.read(getRule('r1'), app),
  ).rejects.toMatchObject({
    code: 'platform/unknown-application',
  });
});

test('extensions travel as the dialect takes them, and the hash follows', async () => {
  const write = createRule({
    app,
    rule: { serviceId: 'a'.repeat(32), port: 80, domain: 'x.example.com', extensions: [{ key: 'k', value: 'v' }] },
  });
  const documented = clientOf(() => jsonResponse(400, {}), { dialect: 'documented' });
  const extended = clientOf(() => jsonResponse(400, {}), { dialect: 'extended' });
  await documented.client.send(write);
  await extended.client.send(write);
  expect(documented.sent[0]?.body).toMatchObject({ rule_extensions: ['k:v'] });
  expect(extended.sent[0]?.body).toMatchObject({ rule_extensions: [{ key: 'k', value: 'v' }] });
  expect(documented.client.requestHash(write)).not.toBe(extended.client.requestHash(write));
});
