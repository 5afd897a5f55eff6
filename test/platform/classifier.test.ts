import { createRule, updateRule } from '../../src/kinds/http-gateway-rule/requests.ts';
import fc from 'fast-check';
import type { ClassifierRow } from '../../src/platform/verdict.ts';
import { expect, test } from 'vitest';
import { classifierTable, classify, classifyFailure, type UnseenAnswer } from '../../src/platform/classifier.ts';
import { type PlatformResponse, TransportError } from '../../src/platform/transport.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { app, echoOf, everyWrite, installed, portBean, rule, verdictOf, writes } from './every-write.ts';
import { jsonResponse, recordedExchanges, recordedResponse, secondExchanges } from './recorded.ts';
import { VirtualClock } from './virtual-clock.ts';

test.for([
  ['add a port', 'addPort', 'applied'],
  ['add the same port again', 'addPort', 'rejected: exists'],
  ['add a port with a bad protocol', 'addPort', 'rejected: invalid'],
  ['add a port without is_inner_service', 'addPort', 'rejected: invalid'],
  ['add a port out of range', 'addPort', 'unknown'],
  ['add a port with a bad alias', 'addPort', 'unknown'],
  ['malformed JSON', 'addPort', 'unknown'],
  ['open outer while inner is closed', 'updatePort', 'rejected: precondition'],
  ['open inner', 'updatePort', 'applied'],
  ['open outer', 'updatePort', 'applied'],
  ['close inner while outer is open', 'updatePort', 'rejected: precondition'],
  ['change protocol while outer is open', 'updatePort', 'unknown'],
  ['close outer', 'updatePort', 'applied'],
  ['change protocol', 'updatePort', 'applied'],
  ['change alias without the service name', 'updatePort', 'unknown'],
  ['change alias and service name', 'updatePort', 'applied'],
  ['alias of a sibling', 'updatePort', 'unknown'],
  ['service name of another component', 'updatePort', 'unknown'],
  ['bad service name', 'updatePort', 'unknown'],
  ['unknown action', 'updatePort', 'rejected: invalid'],
  ['unknown port', 'updatePort', 'unknown'],
  ['delete a port that is open', 'deletePort', 'unknown'],
  ['delete a port', 'deletePort', 'applied'],
  ['delete it again', 'deletePort', 'applied'],
  ['rule while outer is closed', 'createRule', 'rejected: precondition'],
  ['rule that opens outer', 'createRule', 'applied'],
  ['the same rule again', 'createRule', 'exists'],
  ['rule of an unknown component', 'createRule', 'rejected: not-found'],
  ['rule without a domain', 'createRule', 'rejected: invalid'],
  ['rule with a null', 'createRule', 'rejected: invalid'],
  ['update a rule', 'updateRule', 'applied'],
  ['delete a rule', 'deleteRule', 'applied'],
  ['delete it again (rule)', 'deleteRule', 'applied'],
  ['unknown application', 'install', 'rejected: not-found if seen'],
  ['unknown team', 'install', 'rejected: not-found if seen'],
  ['unknown region', 'install', 'rejected: not-found if seen'],
  ['region under maintenance', 'install', 'rejected: region-not-ready if seen'],
  ['ports of an unknown component', 'addPort', 'rejected: not-found'],
  ['regions without a token', 'install', 'rejected: credentials if seen'],
  ['regions without a token', 'updatePort', 'rejected: credentials'],
  ['all regions, no administrator', 'createRule', 'rejected: credentials'],
  ['all regions, no administrator', 'install', 'rejected: credentials if seen'],
  ['ports of a component of another application', 'updatePort', 'rejected: not-found'],
  ['install an unknown model', 'install', 'rejected: not-found if seen'],
  ['install an unknown version', 'install', 'rejected: not-found if seen'],
  ['install with a wrong key', 'install', 'rejected: store-credentials if seen'],
  ['install with the right key afterwards: the first key is kept', 'install', 'rejected: store-credentials if seen'],
  ['install with a wrong key', 'upgrade', 'rejected: store-credentials if seen'],
  ['install with a wrong key', 'updatePort', 'unknown'],
  ['install while the store is unreachable', 'install', 'rejected: store-failed if seen'],
  ['install while the store is unreachable', 'upgrade', 'rejected: store-failed if seen'],
  ['install while the store is unreachable', 'createRule', 'unknown'],
  ['upgrade', 'upgrade', 'applied'],
  ['trailing slash after rules', 'createRule', 'unknown'],
] as const)('the recorded answer to "%s" makes %s %s', ([name, operation, verdict]) => {
  expect(verdictOf(writes[operation], recordedResponse(name))).toBe(verdict);
});

test('no recorded answer makes any write fail to be classified', () => {
  for (const { name } of [...recordedExchanges, ...secondExchanges]) {
    for (const write of everyWrite) expect(() => verdictOf(write, recordedResponse(name))).not.toThrow();
  }
});

test('a verdict that the code does not know, or a bug in a write, is a mistake of ours, and said loudly', () => {
  const table = classifierTable.rows as ClassifierRow[];
  const proof = { 'target-state': 'answer' };
  table.unshift({ id: 'wrong', status: [418], verdict: 'perhaps', proof, why: 'x' } as unknown as ClassifierRow);
  try {
    expect(() => verdictOf(writes.updatePort, jsonResponse(418, {}))).toThrow('perhaps');
  } finally {
    table.shift();
  }
  const broken = {
    ...writes.install,
    get app(): never {
      throw new TypeError('a bug');
    },
  };
  expect(() => verdictOf(broken as WriteRequest, jsonResponse(200, installed))).toThrow('a bug');
});

test.for([
  ['unsent', { verdict: 'rejected', reason: 'unsent', answer: { message: 'no route\\u0007' } }],
  ['ambiguous', { verdict: 'unknown', answer: { message: 'no route\\u0007' } }],
] as const)('without an answer, a failure that is "%s" proves as much as it can', ([failure, verdict]) => {
  expect(classifyFailure(new TransportError(failure, 'X', 'no route\u0007'))).toEqual(verdict);
});

test.for([
  [
    'a rule that asked to open the port',
    createRule({ app, rule: { ...rule, open: true } }),
    400,
    { msg: '没有开启对外端口' },
  ],
  ['"exists" for another operation', writes.updateRule, 400, { msg: '策略已存在' }],
  ['a cluster that timed out', writes.createRule, 400, { code: 400, msg: '数据中心操作故障，请稍后重试' }],
  ['a cluster that refused', writes.updatePort, 400, { code: 10411, msg: { msg: 'x' } }],
  ['a 404 that is about the cluster', writes.deletePort, 404, { code: 404, msg: 'region no found this resource' }],
  ['a 404 that is about anything', writes.deleteRule, 404, { detail: 'Not found.' }],
  ['a 503 that does not say when to come back', writes.updatePort, 503, {}],
  ['a 409 that is about something else', writes.updatePort, 409, { code: 20500, msg: 'x' }],
  ['a 401 of no JSON', writes.updatePort, 401, undefined],
  ['a 302', writes.updatePort, 302, {}],
  ['a 307', writes.install, 307, undefined],
  ['a crash', writes.addPort, 500, { code: 10401, msg: 'x', msg_show: '<stack trace>' }],
  ['a page of a proxy', writes.updatePort, 502, undefined],
  ['a timeout of a proxy', writes.updatePort, 504, undefined],
] as const)('%s is unknown', ([, write, status, body]) => {
  const page = { status, contentType: 'text/html', retryAfter: null, body: '<h1>no</h1>' };
  expect(verdictOf(write, body === undefined ? page : jsonResponse(status, body))).toBe('unknown');
});

test('an answer that no row knows is counted with its operation, status and code', () => {
  const unseen: UnseenAnswer[] = [];
  classify(writes.updatePort, jsonResponse(418, { code: 7 }), new VirtualClock(), (pair) => unseen.push(pair));
  const forbidden = { code: 403, msg: 'no', msg_show: 'no' };
  classify(writes.updatePort, jsonResponse(403, forbidden), new VirtualClock(), (pair) => unseen.push(pair));
  for (const status of [199, 300])
    classify(writes.install, jsonResponse(status, {}), new VirtualClock(), (pair) => unseen.push(pair));
  expect(unseen).toEqual([
    { operation: 'updatePort', status: 418, code: 7 },
    { operation: 'install', status: 199, code: undefined },
    { operation: 'install', status: 300, code: undefined },
  ]);
});

const created = recordedResponse('rule that opens outer');
const echo = JSON.parse(created.body) as Record<string, unknown>;
test.for([
  ['another component', { service_id: 'b'.repeat(32) }],
  ['another port', { container_port: 81 }],
  ['another domain', { domain_name: 'shop.example.com' }],
  ['another path', { domain_path: '/other' }],
  ['no id', { http_rule_id: '' }],
  ['an id that is none', { http_rule_id: '../x' }],
] as const)('a created rule that echoes %s is unknown', ([, change]) => {
  expect(verdictOf(writes.createRule, jsonResponse(201, { ...echo, ...change }))).toBe('unknown');
});

test('a created rule proves itself by its key, without regard to the case of the domain, and by its id', () => {
  const shouted = createRule({ app, rule: { ...rule, domain: 'WWW.shop.example.com' } });
  expect(classify(shouted, created, new VirtualClock())).toMatchObject({
    verdict: 'applied',
    evidence: { type: 'rule', rule: { ruleId: '9d2f0a1a42eb94c856e683e1e8bcc7f5', outer: true } },
  });
  const { path: _, ...withoutPath } = rule;
  expect(verdictOf(createRule({ app, rule: withoutPath }), created)).toBe('applied');
  expect(verdictOf(writes.createRule, jsonResponse(201, {}))).toBe('unknown');
  expect(verdictOf(writes.createRule, { ...created, body: '' })).toBe('unknown');
});

test('an updated rule must be the one that was sent, where the answer shows one', () => {
  expect(verdictOf(updateRule({ app, ruleId: 'f'.repeat(32), rule }), recordedResponse('update a rule'))).toBe(
    'unknown',
  );
  expect(verdictOf(writes.updateRule, { status: 204, contentType: null, retryAfter: null, body: '' })).toBe('applied');
});

test.for([
  ['names our application and its components', installed, 'applied'],
  ['names another application', { ...installed, ID: 2 }, 'unknown'],
  ['has no components', { ...installed, service_list: undefined }, 'unknown'],
  ['has components that do not decode', { ...installed, service_list: [{ service_id: '..' }] }, 'unknown'],
  ['is an empty record', {}, 'unknown'],
] as const)('an install whose answer %s is %s', ([, body, verdict]) => {
  expect(verdictOf(writes.install, jsonResponse(200, body))).toBe(verdict);
});

test.for([
  ['an upgrade that lists models', writes.upgrade, [{ app_model_id: 'm' }], 'applied'],
  ['an upgrade that answers something else', writes.upgrade, { ok: true }, 'unknown'],
  ['a created application of our name', writes.createApplication, { ID: 7, group_name: 'shop' }, 'applied'],
  ['a created application of another name', writes.createApplication, { ID: 7, group_name: 'other' }, 'unknown'],
  [
    'an added port that is another',
    writes.addPort,
    { data: { bean: { ...portBean(), container_port: 81 } } },
    'unknown',
  ],
  ['an added port without a record', writes.addPort, { ok: true }, 'applied'],
  [
    'a changed port that is another',
    writes.updatePort,
    { data: { bean: { ...portBean(), container_port: 81 } } },
    'unknown',
  ],
  ['a success that says failed', writes.updatePort, { code: 500, msg: 'boom', data: {} }, 'unknown'],
] as const)('%s is classified', ([, write, body, verdict]) => {
  expect(verdictOf(write, jsonResponse(200, body))).toBe(verdict);
});

const none = { verdict: 'applied', evidence: { type: 'none' } };
const unknown = (message: string | RegExp) => ({
  verdict: 'unknown',
  answer: { status: 200, message: typeof message === 'string' ? message : expect.stringMatching(message) },
});
const empty = { status: 200, contentType: null, retryAfter: null, body: '' };
const otherRule = 'the platform answered with another rule than the one sent';
test.for<readonly [string, WriteRequest, PlatformResponse, object]>([
  [
    'a page',
    writes.deletePort,
    { ...empty, contentType: 'text/html', body: '<h1>' },
    unknown(/not JSON \(text\/html\)/),
  ],
  ['the port', writes.addPort, recordedResponse('add a port'), { evidence: { type: 'port', port: { port: 5000 } } }],
  ['no port', writes.addPort, jsonResponse(200, {}), none],
  [
    'another port',
    writes.updatePort,
    jsonResponse(200, { ...portBean(), container_port: 81 }),
    unknown('the platform answered for port 81'),
  ],
  ['nothing of a port', writes.deletePort, empty, none],
  ['nothing of a rule', writes.deleteRule, empty, none],
  ['a blank rule', writes.createRule, jsonResponse(200, { ...echoOf(), http_rule_id: '' }), unknown(/rule/)],
  [
    'another created rule',
    writes.createRule,
    jsonResponse(200, { ...echoOf(), container_port: 81 }),
    unknown(otherRule),
  ],
  ['no created rule', writes.createRule, jsonResponse(200, {}), unknown('the platform answered with a blank rule')],
  [
    'a rule that does not decode',
    writes.createRule,
    jsonResponse(200, { ...echoOf(), http_rule_id: '../x' }),
    unknown(/created rule/),
  ],
  [
    'the changed rule',
    writes.updateRule,
    recordedResponse('update a rule'),
    { evidence: { type: 'rule', rule: { ruleId: writes.updateRule.ruleId } } },
  ],
  [
    'another changed rule',
    updateRule({ app, ruleId: 'f'.repeat(32), rule }),
    jsonResponse(200, { ...echoOf() }),
    unknown(otherRule),
  ],
  [
    'a changed rule that does not decode',
    writes.updateRule,
    jsonResponse(200, { ...echoOf(), http_rule_id: '../x' }),
    unknown(/updated rule/),
  ],
  ['nothing of a changed rule', writes.updateRule, empty, none],
  ['an empty changed rule', writes.updateRule, jsonResponse(200, {}), none],
  [
    'the install',
    writes.install,
    jsonResponse(200, installed),
    { evidence: { type: 'install', install: { appId: 1 } } },
  ],
  [
    'the install of another',
    writes.install,
    jsonResponse(200, { ...installed, ID: 2 }),
    unknown('the platform answered for application 2'),
  ],
  ['no install', writes.install, jsonResponse(200, {}), unknown(/install/)],
  ['installed models', writes.upgrade, jsonResponse(200, [{ app_model_id: 'm' }]), none],
  ['no installed models', writes.upgrade, jsonResponse(200, { ok: true }), unknown(/upgrade/)],
  ['the application', writes.createApplication, jsonResponse(200, { ID: 7, group_name: 'shop' }), none],
  [
    'another application',
    writes.createApplication,
    jsonResponse(200, { ID: 7, group_name: 'x' }),
    unknown('the platform answered with another application than the one sent'),
  ],
  ['no application', writes.createApplication, jsonResponse(200, { ok: 1 }), unknown(/created application/)],
  [
    'a success that says failed',
    writes.deleteRule,
    jsonResponse(200, { code: 500, msg: 'boom' }),
    { ...unknown('boom'), answer: { code: 500 } },
  ],
])('a 200 with %s proves what it shows', ([, write, response, verdict]) => {
  expect(classify(write, response, new VirtualClock())).toMatchObject(verdict);
});

test('what a row says is done is done without evidence', () => {
  expect(classify(writes.deleteRule, recordedResponse('delete it again (rule)'), new VirtualClock())).toEqual({
    verdict: 'applied',
    answer: expect.objectContaining({ status: 404 }),
    evidence: { type: 'none' },
  });
});

test('a path that the server leaves empty is the default one, and only that', () => {
  const rootless = jsonResponse(200, { ...echoOf(), domain_path: '' });
  expect(verdictOf(writes.createRule, rootless)).toBe('applied');
  expect(verdictOf(createRule({ app, rule: { ...rule, path: '/x' } }), rootless)).toBe('unknown');
});

test('a page under 200 proves nothing', () => {
  const page = { status: 200, contentType: 'text/html', retryAfter: null, body: '<h1>Please log in</h1>' };
  for (const write of everyWrite)
    expect([write.operation, verdictOf(write, page)]).toEqual([write.operation, 'unknown']);
});

test('whatever a server sends, the verdict is one of five and never a failure; nothing but 2xx and known 404s apply', () => {
  const anyBody = fc.oneof(fc.string(), fc.json(), fc.constant('{"code":404,"msg":"x"}'));
  fc.assert(
    fc.property(
      fc.constantFrom(...everyWrite),
      fc.integer({ min: 200, max: 599 }),
      anyBody,
      fc.option(fc.string()),
      (write, status, body, retryAfter) => {
        const verdict = classify(write, { status, contentType: null, retryAfter, body }, new VirtualClock());
        expect(['applied', 'rejected', 'exists', 'throttled', 'unknown']).toContain(verdict.verdict);
        if (verdict.verdict === 'applied') expect(status < 300 || status === 404).toBe(true);
        expect(verdict.answer.message.length).toBeLessThanOrEqual(300);
        if (status >= 500) expect(verdict.verdict).not.toBe('rejected');
      },
    ),
    { numRuns: 500 },
  );
});
