import { listComponents } from '../../src/kinds/component/readings.ts';
import { getRule, listAllRules, listRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { portsIn } from './client-support.ts';
import { updatePort } from '../../src/kinds/component/requests.ts';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { PortolanError } from '../../src/model/errors.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import type { PlatformClient } from '../../src/platform/client.ts';
import { type PlatformResponse, TransportError } from '../../src/platform/transport.ts';
import { clientOf } from './client-support.ts';
import { jsonResponse, recordedResponse } from './recorded.ts';

const app = { team: 'team-a', region: 'rainbond', appId: 1 };
const web = 'a'.repeat(32);
const openInner = updatePort({ app, serviceId: web, port: 5000, change: { action: 'open_inner' } });

async function errorOf(promise: Promise<unknown>): Promise<PortolanError> {
  return (await promise.then(
    (value) => expect.fail(`resolved with ${inspect(value)}`),
    (reason: unknown) => reason,
  )) as PortolanError;
}

const readsOf: readonly (readonly [string, (client: PlatformClient) => Promise<unknown>, string])[] = [
  ['list regions', (client) => client.regions(), '/openapi/v1/regions'],
  ['application detail', (client) => client.application(app), '/openapi/v1/teams/team-a/regions/rainbond/apps/1'],
  [
    'list components',
    (client) => client.read(listComponents, app),
    '/openapi/v1/teams/team-a/regions/rainbond/apps/1/services',
  ],
  [
    'list ports',
    (client) => portsIn(client, app, web),
    `/openapi/v1/teams/team-a/regions/rainbond/apps/1/services/${web}/ports`,
  ],
  [
    'list rules',
    (client) => client.read(listRules, app),
    '/openapi/v1/teams/team-a/regions/rainbond/apps/1/httpdomains',
  ],
  [
    'get a rule',
    (client) => client.read(getRule('6812f0b26d8282068bd552f1df293c9a'), app),
    '/openapi/v1/teams/team-a/regions/rainbond/apps/1/httpdomains/6812f0b26d8282068bd552f1df293c9a',
  ],
  [
    'monitoring history',
    (client) => client.monitor(app, { start: 1_700_000_000, end: 1_700_000_600, stepSeconds: 60 }),
    '/openapi/v1/teams/team-a/regions/rainbond/apps/1/monitor/query_range',
  ],
];

test.for(readsOf)('the recorded answer to "%s" is understood', async ([name, read, path]) => {
  const { client, sent } = clientOf(() => recordedResponse(name));
  expect(await read(client)).toMatchSnapshot();
  expect(sent.map((request) => [request.method, request.path, request.isRead])).toEqual([['GET', path, true]]);
});

test('monitoring sends its range in the query', async () => {
  const { client, sent } = clientOf(() => jsonResponse(200, []));
  await client.monitor(app, { start: 1, end: 2, stepSeconds: 60, outerOnly: true });
  expect(sent[0]?.query).toEqual({ start: '1', end: '2', step: '60', is_outer: 'true' });
});

test('an unknown application or component is absent, which only its very words say', async () => {
  expect(await clientOf(() => recordedResponse('unknown application')).client.application(app)).toBeUndefined();
  expect(
    await portsIn(clientOf(() => recordedResponse('ports of an unknown component')).client, app, web),
  ).toBeUndefined();
  const page: PlatformResponse = {
    status: 404,
    contentType: 'text/html',
    retryAfter: null,
    body: '<h1>Not Found</h1>',
  };
  expect((await errorOf(clientOf(() => page).client.application(app))).code).toBe('platform/not-found');
  expect((await errorOf(portsIn(clientOf(() => page).client, app, web))).code).toBe('platform/not-found');
});

test('a blank rule is absent', async () => {
  const { client } = clientOf(() => recordedResponse('get an unknown rule'));
  expect(await client.read(getRule('f'.repeat(32)), app)).toEqual({ readable: true, value: undefined });
});

test.for([
  ['regions without a token', 'platform/credentials', 'unreachable'],
  ['unknown team', 'platform/unknown-team', 'give-up'],
  ['unknown region', 'platform/unknown-region', 'give-up'],
  ['region under maintenance', 'platform/region-not-ready', 'retry'],
] as const)('"%s" fails as %s', async ([name, code, disposition]) => {
  const { client } = clientOf(() => recordedResponse(name));
  const error = await errorOf(client.application(app));
  expect(error).toMatchObject({ code, disposition });
  expect(error.message).toMatch(/^GET https:\/\/console\.example\.com\/openapi\/v1\/teams\/team-a.*: HTTP \d{3}/);
  expect(error.remedy).not.toBe('');
});

test.for([
  [403, 'platform/forbidden', 'unreachable'],
  [302, 'platform/redirect', 'give-up'],
  [418, 'platform/refused', 'give-up'],
  [500, 'platform/server-error', 'retry'],
  [502, 'platform/server-error', 'retry'],
  [429, 'platform/busy', 'retry'],
] as const)('HTTP %i fails as %s', async ([status, code, disposition]) => {
  const { client, clock } = clientOf(() => jsonResponse(status, { msg: 'no' }));
  expect(await clock.run(errorOf(client.regions()))).toMatchObject({ code, disposition });
});

test('the cluster behind the platform failing is worth another pass, though it comes as a 400', async () => {
  for (const body of [
    { code: 10_411, msg: 'connect refused' },
    { code: 400, msg: { msg: 'timed out' } },
  ]) {
    const error = await errorOf(clientOf(() => jsonResponse(400, body)).client.regions());
    expect(error).toMatchObject({ code: 'platform/server-error', disposition: 'retry' });
  }
});

test('no answer is unreachable, with a remedy for its cause', async () => {
  const { client, clock } = clientOf(() => new TransportError('unsent', 'ECONNREFUSED', 'connect ECONNREFUSED'));
  const error = await clock.run(errorOf(client.regions()));
  expect(error).toMatchObject({ code: 'platform/unreachable', disposition: 'unreachable' });
  expect(error.remedy).toContain('spec.url');
});

test('an answer that is no JSON, or of another form, concludes nothing', async () => {
  const page: PlatformResponse = { status: 200, contentType: 'text/html', retryAfter: null, body: '<h1>Login</h1>' };
  expect((await errorOf(clientOf(() => page).client.regions())).code).toBe('platform/not-json');
  const drifted = jsonResponse(200, { data: { list: [{ container_port: '80' }] } });
  const error = await errorOf(portsIn(clientOf(() => drifted).client, app, web));
  expect(error.code).toBe('platform/schema-drift');
  expect(error.message).toContain('data.list[0].container_port: expected an integer, got a string');
});

test('an envelope that says failed under HTTP 200 is not an empty list', async () => {
  const { client } = clientOf(() => jsonResponse(200, { code: 500, msg: 'boom', data: { bean: {}, list: [] } }));
  expect((await errorOf(portsIn(client, app, web))).message).toContain('HTTP 200, code 500: boom');
});

test('a message is cut to 300 characters, without traces and control characters', async () => {
  const trace = 'Traceback (most recent call last):\n  File "/app/x.py", line 1, in f';
  const body = {
    code: 10_401,
    msg: `boom\u001b[31m\n${'x'.repeat(500)}\n${trace}`,
    msg_show: trace,
    error_trace: trace,
  };
  const { client, clock } = clientOf(() => jsonResponse(500, body));
  const { message } = await clock.run(errorOf(client.regions()));
  expect(message).toContain('boom\\u001b[31m\\u000ax');
  expect(message).not.toMatch(/[\u0000-\u001f]|Traceback|File "/);
  expect(message.length).toBeLessThan(400);
});

test('equal reads under way at once are one request; one that follows is another', async () => {
  const { client, sent } = clientOf(() => recordedResponse('list ports'));
  const [first, second] = await Promise.all([portsIn(client, app, web), portsIn(client, app, web)]);
  expect(first).toEqual(second);
  expect(sent).toHaveLength(1);
  await portsIn(client, app, web);
  expect(sent).toHaveLength(2);
});

test('a read after a write never shares the answer of a read from before it', async () => {
  const { client, sent } = clientOf(({ isRead }) => recordedResponse(isRead ? 'list ports' : 'open inner'));
  const before = portsIn(client, app, web);
  const write = client.send(openInner);
  const during = portsIn(client, app, web);
  await Promise.all([before, write, during, write.then(() => portsIn(client, app, web))]);
  expect(sent.filter(({ isRead }) => isRead)).toHaveLength(3);
});

test('a write is sent once, whatever happens', async () => {
  const failures: readonly (PlatformResponse | Error)[] = [
    jsonResponse(500, { msg: 'boom' }),
    jsonResponse(429, { msg: 'slow down' }),
    new TransportError('ambiguous', 'ECONNRESET', 'reset'),
    new TransportError('unsent', 'ECONNREFUSED', 'refused'),
  ];
  for (const failure of failures) {
    const { client, clock, sent } = clientOf(() => failure);
    await clock.run(client.send(openInner));
    expect(sent).toHaveLength(1);
  }
});

test('a write without an answer is unknown, and rejected only when no byte left', async () => {
  const reset = clientOf(() => new TransportError('ambiguous', 'ECONNRESET', 'read ECONNRESET'));
  expect(await reset.client.send(openInner)).toEqual({ verdict: 'unknown', answer: { message: 'read ECONNRESET' } });
  const refused = clientOf(() => new TransportError('unsent', 'ECONNREFUSED', 'connect ECONNREFUSED'));
  expect(await refused.client.send(openInner)).toMatchObject({ verdict: 'rejected', reason: 'unsent' });
});

test('a write whose turn comes after its deadline is not sent', async () => {
  const { client, clock, sent } = clientOf(() => recordedResponse('open inner'));
  const verdict = await client.send(openInner, { sendBeforeMs: clock.monotonic() });
  expect(verdict).toMatchObject({ verdict: 'rejected', reason: 'unsent' });
  expect(sent).toEqual([]);
  expect(await client.send(openInner, { sendBeforeMs: clock.monotonic() + 1 })).toMatchObject({ verdict: 'applied' });
});

test('a write that may not leave when its turn comes is not sent', async () => {
  const { client, sent } = clientOf(() => recordedResponse('open inner'));
  const verdict = await client.send(openInner, { mayLeave: () => false });
  expect(verdict).toMatchObject({ verdict: 'rejected', reason: 'unsent' });
  expect(sent).toEqual([]);
  expect(await client.send(openInner, { mayLeave: () => true })).toMatchObject({ verdict: 'applied' });
});

test('a wrong value is refused before anything is sent', async () => {
  const { client, sent } = clientOf(() => recordedResponse('open inner'));
  const error = await errorOf(client.send(updatePort({ ...openInner, port: 70_000 })));
  expect(error).toMatchObject({ code: 'platform/invalid-request', disposition: 'invalid' });
  expect(sent).toEqual([]);
});

test('stopping ends a read that waits for its turn', async () => {
  const stop = new AbortController();
  const never = new Promise<never>(() => {});
  const clockOnly = clientOf(() => jsonResponse(200, []));
  const budget = createRequestBudget({ concurrency: 1, requestsPerSecond: 10 }, clockOnly.clock);
  const { client } = clientOf(() => jsonResponse(200, []), { budget, signal: stop.signal, transport: () => never });
  void client.regions().catch(() => {});
  const waiting = errorOf(client.read(listAllRules, {}));
  stop.abort();
  expect(await waiting).toMatchObject({ code: 'platform/stopped', disposition: 'retry' });
});

test('each request is reported once with its duration and outcome, retries too', async () => {
  const facts: unknown[] = [];
  const { client, clock } = clientOf(
    (_, count) => (count === 1 ? jsonResponse(503, []) : jsonResponse(200, [{ region_name: 'r', status: '1' }])),
    {
      onRequest: (fact) => facts.push(fact),
    },
  );
  await clock.run(client.regions());
  expect(facts).toEqual([
    { platform: client.name, operation: 'listRegions', isRead: true, outcome: '5xx', tookMs: 0 },
    { platform: client.name, operation: 'listRegions', isRead: true, outcome: '2xx', tookMs: 0 },
  ]);
});

test.for([
  ['2xx', jsonResponse(200, [])],
  ['3xx', jsonResponse(302, {})],
  ['4xx', jsonResponse(404, { code: 404 })],
  ['5xx', jsonResponse(500, {})],
  ['throttled', jsonResponse(429, {})],
  ['timeout', new TransportError('ambiguous', 'ETIMEDOUT', 'no answer')],
  ['timeout', new TransportError('unsent', 'UND_ERR_CONNECT_TIMEOUT', 'no connection')],
  ['network', new TransportError('unsent', 'ECONNREFUSED', 'refused')],
  ['network', new TransportError('ambiguous', 'TRUNCATED', 'cut off')],
  ['aborted', new TransportError('ambiguous', 'ABORTED', 'given up')],
] as const)('a request that ends like this counts as %s', async ([outcome, end]) => {
  const outcomes: string[] = [];
  const { client, clock } = clientOf(() => end, { onRequest: (fact) => outcomes.push(fact.outcome) });
  await clock.run(client.regions().catch(() => {}));
  expect([...new Set(outcomes)]).toEqual([outcome]);
});
