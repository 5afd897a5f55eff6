import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkFaultRules, FaultPlan, type FaultRule } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { ask, shopPath, startTestSandbox, webPorts } from './support.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.close());

const openOuter = () => ask(sandbox, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'open_outer' });
const isOpen = () => sandbox.state.ports.get(`${demo.webServiceId}/8080`)?.outer;

test.for([
  ['before', false],
  ['after', true],
] as const)('a status %s the platform acted', async ([when, applied]) => {
  sandbox.setFaults([
    { operation: 'updatePort', times: 1, fault: { type: 'status', when, status: 503, retryAfter: '7' } },
  ]);
  const answer = await openOuter();
  expect([answer.status, answer.headers.get('retry-after'), answer.body]).toEqual([
    503,
    '7',
    { msg: 'injected fault' },
  ]);
  expect(isOpen()).toBe(applied);
  expect(sandbox.requests().at(-1)).toMatchObject({
    status: 503,
    effectApplied: applied,
    fault: 'status',
    isWrite: true,
  });
  expect((await openOuter()).status).toBe(200);
});

test.for([
  ['before', false],
  ['after', true],
] as const)('a connection dropped %s the platform acted', async ([when, applied]) => {
  sandbox.setFaults([{ method: 'put', fault: { type: 'drop', when } }]);
  await expect(openOuter()).rejects.toMatchObject({
    cause: { code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) },
  });
  expect(isOpen()).toBe(applied);
  expect(sandbox.requests()).toMatchObject([{ status: null, fault: 'drop', effectApplied: applied }]);
});

test('a truncated answer breaks off after a write was done', async () => {
  sandbox.setFaults([{ operation: 'updatePort', fault: { type: 'truncate', share: 0.5 } }]);
  await expect(openOuter()).rejects.toThrow();
  expect(isOpen()).toBe(true);
});

test('a redirect reaches nothing', async () => {
  sandbox.setFaults([{ fault: { type: 'redirect', status: 307, location: '/elsewhere' } }]);
  const answer = await openOuter();
  expect([answer.status, answer.headers.get('location'), isOpen()]).toEqual([307, '/elsewhere', false]);
});

test.for([
  ['before', false],
  ['after', true],
] as const)('a delay %s: who gives up meanwhile finds it applied: %s', async ([when, applied]) => {
  sandbox.setFaults([{ operation: 'updatePort', fault: { type: 'delay', when, ms: 60_000 } }]);
  const sent = fetch(`${sandbox.url}${shopPath}/${webPorts}/8080`, {
    method: 'PUT',
    headers: { authorization: SANDBOX_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'open_outer' }),
    signal: AbortSignal.timeout(200),
  });
  await expect(sent).rejects.toThrow();
  expect(isOpen()).toBe(applied);
});

test('a stale read is from before the last writes, and they stay', async () => {
  await openOuter();
  await ask(sandbox, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'close_outer' });
  const read = async () => {
    const { body } = await ask(sandbox, 'GET', `${shopPath}/${webPorts}`);
    return body.data.list[0].is_outer_service;
  };
  const seen: boolean[] = [];
  for (const versions of [1, 2, 99]) {
    sandbox.setFaults([{ operation: 'listPorts', times: 1, fault: { type: 'stale', versions } }]);
    seen.push(await read(), await read());
  }
  expect(seen).toEqual([true, false, false, false, false, false]);
  sandbox.setFaults([{ fault: { type: 'stale', versions: 1 } }]);
  expect((await openOuter()).status).toBe(200);
  expect((await ask(sandbox, 'GET', `${shopPath}/httpdomains`)).body[0].is_outer_service).toBe(false);
});

test('a lost race makes two equal rules', async () => {
  const rule = {
    service_id: demo.webServiceId,
    container_port: 8080,
    domain_name: 'a.example.com',
    whether_open: true,
  };
  sandbox.setFaults([{ operation: 'createRule', skip: 1, times: 1, fault: { type: 'race' } }]);
  const answers = [1, 2, 3].map(() => ask(sandbox, 'POST', `${shopPath}/httpdomains`, rule));
  const statuses = (await Promise.all(answers)).map((answer) => answer.status);
  expect(statuses.toSorted()).toEqual([201, 201, 500]);
});

test.for([
  ['every request', {}, 'XXXXXX'],
  ['after two', { skip: 2 }, '..XXXX'],
  ['twice', { times: 2 }, 'XX....'],
  ['the third', { skip: 2, times: 1 }, '..X...'],
  ['by chance', { probability: 0.5 }, 'X.X.X.'],
  ['never', { probability: 0 }, '......'],
  ['of one operation', { operation: ['addPort', 'listPorts'] }, 'XXXXXX'],
  ['of another operation', { operation: 'addPort' }, '......'],
  ['of a method', { method: 'get' }, 'XXXXXX'],
  ['of a path', { path: '/openapi/v1/teams/*/regions/*/apps/42/**' }, 'XXXXXX'],
  ['of a path of fewer segments', { path: '/openapi/v1/*' }, '......'],
] as const)('a rule strikes %s', ([, conditions, expected]) => {
  const plan = new FaultPlan([{ ...conditions, fault: { type: 'drop', when: 'before' } }]);
  const chances = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7];
  const facts = { operation: 'listPorts', method: 'GET', path: `${shopPath}/${webPorts}` };
  const struck = chances.map((chance) => (plan.next(facts, () => chance) === undefined ? '.' : 'X'));
  expect(struck.join('')).toBe(expected);
});

test('rules that are not right are all named, and none is set', () => {
  const wrong = [
    { fault: { type: 'drop' } },
    { operation: 'listPorts', fault: { type: 'explode' } },
    { often: 3, fault: { type: 'race' } },
    { fault: { type: 'status', when: 'before', status: 42 } },
  ];
  expect(() => checkFaultRules(wrong)).toThrow(
    /\[0\]\.fault: must have required property 'when'[\s\S]*\[1\]\.fault[\s\S]*\[2\]: unknown field "often"[\s\S]*\[3\]\.fault\.status/,
  );
  const right: FaultRule[] = [{ name: 'a', skip: 1, fault: { type: 'stale', versions: 2 } }];
  expect(checkFaultRules(structuredClone(right))).toEqual(right);
});

test('another process counts requests, sets faults and moves regions over the control paths', async () => {
  await openOuter();
  await ask(sandbox, 'GET', '/openapi/v1/regions');
  const control = (method: string, path: string, body?: unknown) => ask(sandbox, method, `/_sandbox/${path}`, body);
  expect((await control('GET', 'health')).body).toEqual({ ok: true, dialect: 'extended' });
  expect((await control('GET', 'requests')).body).toMatchObject({
    count: 2,
    writes: 1,
    requests: [
      { seq: 1, operation: 'updatePort', method: 'PUT', status: 200, isWrite: true, effectApplied: true },
      { seq: 2, operation: 'listRegions', method: 'GET', status: 200, isWrite: false, effectApplied: false },
    ],
  });
  expect((await control('GET', 'requests?after=1')).body.count).toBe(1);
  expect((await control('GET', 'requests?operation=updatePort&writes=true')).body.count).toBe(1);
  expect(
    (await control('POST', 'faults', [{ fault: { type: 'status', when: 'before', status: 502, body: '<html>' } }]))
      .status,
  ).toBe(200);
  expect((await fetch(`${sandbox.url}/openapi/v1/regions`)).status).toBe(502);
  expect((await control('GET', 'faults')).body).toMatchObject([{ matched: 1, struck: 1 }]);
  expect((await control('POST', 'faults', [{}])).body.message).toContain("[0]: must have required property 'fault'");
  expect((await control('DELETE', 'faults')).status).toBe(200);
  expect((await control('POST', `regions/${demo.region}`, { status: '3' })).status).toBe(200);
  expect((await ask(sandbox, 'GET', shopPath)).status).toBe(409);
  expect((await control('POST', 'regions/nowhere', {})).status).toBe(404);
  expect((await control('GET', 'state')).body.ports).toHaveLength(3);
  expect((await control('DELETE', 'requests')).status).toBe(200);
  expect((await control('GET', 'requests')).body.count).toBe(0);
  expect((await control('GET', 'nothing')).status).toBe(404);
});

test('someone edits a rule before the request that the fault names is answered', async () => {
  await openOuter();
  const rule = { service_id: demo.webServiceId, container_port: 8080, domain_name: 'a.example.com' };
  const made = await ask(sandbox, 'POST', `${shopPath}/httpdomains`, rule);
  sandbox.setFaults([{ operation: 'listRules', times: 1, fault: { type: 'edit-rule', domain: 'evil.example.com' } }]);
  const listed = await ask(sandbox, 'GET', `${shopPath}/httpdomains`);
  expect(listed.body[1]).toMatchObject({ http_rule_id: made.body.http_rule_id, domain_name: 'evil.example.com' });
  expect((await ask(sandbox, 'GET', `${shopPath}/httpdomains`)).body).toEqual(listed.body);
});

test('someone moves the component that the request names', async () => {
  sandbox.setFaults([{ operation: 'updatePort', times: 1, fault: { type: 'move-component', application: 43 } }]);
  const answer = await ask(sandbox, 'PUT', `${shopPath}/${webPorts}/8080`, { action: 'close_inner' });
  expect([answer.status, answer.body.msg]).toEqual([404, 'component not belong to this app']);
  expect(sandbox.state.components.get(demo.webServiceId)?.appId).toBe(43);
});

test('fractions and lost samples are in the answer only', async () => {
  sandbox.setFaults([
    { operation: 'getApplication', times: 1, fault: { type: 'fraction' } },
    { operation: ['monitor', 'queryRegion'], fault: { type: 'lost-samples' } },
  ]);
  expect((await ask(sandbox, 'GET', shopPath)).body).toMatchObject({ app_id: '42', used_cpu: 90.4375 });
  expect((await ask(sandbox, 'GET', shopPath)).body).toMatchObject({ app_id: 42, used_cpu: 90 });
  const range = 'start=1700000000&end=1700000060&step=60';
  const [web] = (await ask(sandbox, 'GET', `${shopPath}/monitor/query_range?${range}`)).body;
  expect(web.monitors[0].data.result).toEqual([{ value: [] }]);
  const query = `/openapi/v1/monitor/query_range?region_name=${demo.region}&query=app_request&${range}`;
  expect((await ask(sandbox, 'GET', query)).body.data.result).toEqual([{ metric: {}, values: [] }]);
});

test('another process moves components and makes stores unreachable', async () => {
  const control = (path: string, body: unknown) => ask(sandbox, 'POST', `/_sandbox/${path}`, body);
  expect((await control(`components/${demo.webServiceId}`, { application: 43 })).status).toBe(200);
  expect(sandbox.state.components.get(demo.webServiceId)?.appId).toBe(43);
  expect((await control('components/unknown', { application: 43 })).status).toBe(404);
  const store = { url: demo.storeUrl, domain: demo.storeDomain };
  expect((await control('stores', { ...store, answers: 'unreachable' })).status).toBe(200);
  expect([...sandbox.state.stores.all()].map((row) => row.answers)).toEqual(['unreachable']);
  expect((await control('stores', { ...store, answers: 'never' })).status).toBe(400);
  expect((await control('stores', { ...store, url: 'https://other.example.com' })).status).toBe(404);
});
