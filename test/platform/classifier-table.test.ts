import { expect, test } from 'vitest';
import type { ClassifierRow } from '../../src/platform/verdict.ts';
import { classifierTable, classify, decidingRow } from '../../src/platform/classifier.ts';
import { installAnswers } from '../../src/kinds/store-install/requests.ts';
import { createRule, ruleAnswers } from '../../src/kinds/http-gateway-rule/requests.ts';
import { portAnswers } from '../../src/kinds/component/requests.ts';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import type { WriteClass } from '../../src/model/owned.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { app, everyWrite, rule, verdictOf, writes } from './every-write.ts';
import { jsonResponse, recordedResponse } from './recorded.ts';
import { VirtualClock } from './virtual-clock.ts';

/** An error in the platform's own shape. */
function own(status: number, code: number, msg: unknown = 'x', shown = 'x'): PlatformResponse {
  return jsonResponse(status, { code, msg, msg_show: shown, data: { bean: {}, list: [] } });
}

const busy = own(409, 409, 'wait a moment please', '操作过于频繁');
const target: WriteClass = 'target-state';
const rejecting: WriteClass = 'duplicate-rejecting';
const accepting: WriteClass = 'duplicate-accepting';

/** What a row makes of one answer, by class of write: the classes that the row is about, and no other. */
type Verdicts = Readonly<Partial<Record<WriteClass, string>>>;
const refused = (reason: string): Verdicts => ({
  [target]: `rejected: ${reason}`,
  [rejecting]: `rejected: ${reason}`,
  [accepting]: `rejected: ${reason} if seen`,
});
const never: Verdicts = { [target]: 'unknown', [rejecting]: 'unknown', [accepting]: 'unknown' };
const slowDown: Verdicts = { ...never, [target]: 'throttled' };
const onlyInstalls = (reason: string): Verdicts => ({ [accepting]: `rejected: ${reason} if seen` });

/** One answer that each row decides, and what it then proves for each class of write. Every row must be here. */
const rows: Readonly<Record<string, readonly [PlatformResponse, Verdicts]>> = {
  'store-forbidden': [recordedResponse('install with a wrong key'), onlyInstalls('store-credentials')],
  'store-unauthorized': [own(401, 10421, 'no store auth token'), onlyInstalls('store-credentials')],
  'store-unknown-model': [recordedResponse('install an unknown model'), onlyInstalls('not-found')],
  'store-unknown-version': [recordedResponse('install an unknown version'), onlyInstalls('not-found')],
  'store-unreachable': [recordedResponse('install while the store is unreachable'), onlyInstalls('store-failed')],
  'store-refused': [own(415, 415, '<html>', '获取数据失败，参数错误'), onlyInstalls('store-failed')],
  'store-unreadable': [own(400, 400, 'store return data can`t be serializer'), onlyInstalls('store-failed')],
  'install-rolled-back': [own(400, 400, 'install app failure', '安装应用发生异常'), onlyInstalls('rolled-back')],
  'install-without-room': [own(412, 10406, 'resource is not enough'), onlyInstalls('precondition')],
  busy: [busy, slowDown],
  'too-many': [jsonResponse(429, {}), slowDown],
  'unavailable-with-retry-after': [jsonResponse(503, {}, '3'), slowDown],
  'validation-after-upgrade': [jsonResponse(400, { code: 20400 }), { [accepting]: 'unknown' }],
  validation: [jsonResponse(400, { code: 20400 }), refused('invalid')],
  'unknown-component': [
    jsonResponse(400, { msg: '组件不存在' }),
    { [target]: 'rejected: not-found', [rejecting]: 'rejected: not-found' },
  ],
  'outer-closed': [jsonResponse(400, { msg: '没有开启对外端口' }), { [rejecting]: 'rejected: precondition' }],
  'rule-exists': [jsonResponse(400, { msg: '策略已存在' }), { [rejecting]: 'exists' }],
  'region-licence': [jsonResponse(401, { code: 10400 }), never],
  credentials: [recordedResponse('regions without a token'), refused('credentials')],
  forbidden: [recordedResponse('all regions, no administrator'), refused('credentials')],
  'rule-gone': [recordedResponse('delete it again (rule)'), { [target]: 'applied' }],
  'port-gone': [recordedResponse('delete it again'), { [target]: 'applied' }],
  'no-such-place': [recordedResponse('unknown region'), refused('not-found')],
  'no-such-object': [recordedResponse('ports of a component of another application'), refused('not-found')],
  'inner-closed': [recordedResponse('open outer while inner is closed'), { [target]: 'rejected: precondition' }],
  'region-not-ready': [recordedResponse('region under maintenance'), refused('region-not-ready')],
  'port-exists': [recordedResponse('add the same port again'), { [rejecting]: 'rejected: exists' }],
  'method-not-allowed': [own(405, 405), refused('unsupported')],
  'too-large': [own(413, 413), refused('invalid')],
  'media-type': [own(415, 415), refused('unsupported')],
};

/** The rows of the platform's table, and those of each kind. */
const tables = [installAnswers, portAnswers, ruleAnswers, classifierTable.rows];
const everyRow = tables.flat();

const cases = everyRow.flatMap((row) =>
  (Object.keys(row.proof) as WriteClass[]).map((writeClass) => [row, writeClass] as const),
);

test.for(cases)('row $0.id decides as it says for a write of class $1', ([row, writeClass]) => {
  const [response, verdicts] = rows[row.id] ?? expect.fail(`no example for row ${row.id}`);
  const decided = everyWrite.filter(
    (write) => write.declared.class === writeClass && decidingRow(write, response)?.id === row.id,
  );
  expect(decided).not.toEqual([]);
  for (const write of decided) expect(verdictOf(write, response)).toBe(verdicts[writeClass]);
});

test.for(everyRow)('row $id states its proof for every class of write that it is about, and why', (row) => {
  const [, verdicts] = rows[row.id] ?? expect.fail(`no example for row ${row.id}`);
  expect(Object.keys(row.proof).sort()).toEqual(Object.keys(verdicts).sort());
  expect(row.why).toMatch(/\.$/);
});

const SAYS_NO = [401, 403, 404, 405, 413, 415];

test('401, 403, 404, 405, 413 and 415 prove nothing unless they are the platform’s own, with its code', () => {
  const page = (status: number): PlatformResponse => ({
    status,
    contentType: 'text/html',
    retryAfter: null,
    body: '<h1>no</h1>',
  });
  for (const status of SAYS_NO) {
    const filtered = [
      page(status),
      { ...page(status), contentType: null, body: '' },
      jsonResponse(status, {}),
      jsonResponse(status, { code: status, message: 'forbidden' }),
      jsonResponse(status, { code: status, msg: 'forbidden' }),
      jsonResponse(status, { msg: 'forbidden', msg_show: 'forbidden' }),
      own(status, 7),
    ];
    for (const write of everyWrite)
      for (const response of filtered)
        expect([write.operation, response.body, verdictOf(write, response)]).toEqual([
          write.operation,
          response.body,
          'unknown',
        ]);
  }
});

test('no answer alone proves that an install or an upgrade was refused', () => {
  for (const row of everyRow) expect([row.id, row.proof[accepting] ?? 'none']).not.toEqual([row.id, 'answer']);
});

/** Answers that are near to what a row is about, and that the row must not decide. */
const near: readonly (readonly [WriteRequest, PlatformResponse])[] = [
  ...Object.values(rows).flatMap(([response]) => everyWrite.map((write) => [write, response] as const)),
  ...SAYS_NO.flatMap((status) => everyWrite.map((write) => [write, jsonResponse(status, {})] as const)),
  ...SAYS_NO.flatMap((status) => everyWrite.map((write) => [write, own(status, 7)] as const)),
  ...[401, 403, 404, 1404, 4000, 10407, 10421].flatMap((code) =>
    everyWrite.map((write) => [write, jsonResponse(Math.min(code, 404), { code })] as const),
  ),
  ...[400, 404, 409, 412].flatMap((status) => everyWrite.map((write) => [write, own(status, status)] as const)),
  ...[405, 413, 415].map((status) => [writes.createRule, jsonResponse(status, { code: status })] as const),
  [writes.install, own(412, 412)],
  [writes.install, own(400, 7, 'install app failure')],
  [writes.install, jsonResponse(400, { code: 400, msg: 'install app failure' })],
  [writes.install, own(400, 7, null, '请求失败，请检查网络和配置')],
  [writes.install, jsonResponse(400, { code: 400, msg_show: '请求失败，请检查网络和配置' })],
  [writes.install, own(400, 7, 'store return data can`t be serializer')],
  [writes.install, jsonResponse(400, { code: 400, msg: 'store return data can`t be serializer' })],
  [writes.install, jsonResponse(400, { msg_show: '获取数据失败，参数错误' })],
  [writes.install, jsonResponse(412, { code: 10406 })],
  [writes.install, jsonResponse(403, { code: 10407 })],
  [writes.install, jsonResponse(401, { code: 10421 })],
  [writes.install, own(404, 7, 'x', '资源不存在')],
  [writes.install, own(404, 404, 'x', '云端应用不存在')],
  [writes.install, own(404, 404, 'not found', 'x')],
  [writes.install, own(404, 7, 'not found', '云端应用不存在')],
  [writes.install, jsonResponse(404, { code: 404, msg_show: '资源不存在' })],
  [writes.install, jsonResponse(404, { code: 404, msg: 'not found', msg_show: 1 })],
  [writes.install, own(404, 404, 'region no found this resource', '数据中心资源不存在')],
  [writes.updatePort, own(404, 7, 'inner port is not open')],
  [writes.updatePort, jsonResponse(404, { code: 404, msg: 'inner port is not open' })],
  [writes.updatePort, own(404, 7, 'no found component')],
  [writes.updatePort, jsonResponse(404, { code: 404, msg: 'no found component' })],
  [writes.deletePort, jsonResponse(404, { code: 404, msg: 'port not found' })],
  [writes.updatePort, jsonResponse(409, { code: 409, msg: 'x' })],
  [writes.updatePort, jsonResponse(503, {})],
  [writes.updatePort, jsonResponse(400, { code: 20400 })],
  [writes.updatePort, jsonResponse(400, { code: 400 })],
  [writes.upgrade, jsonResponse(400, { code: 400 })],
  [writes.createRule, jsonResponse(400, { code: 400 })],
  [writes.deleteRule, jsonResponse(400, { msg: '组件不存在' })],
  [writes.deleteRule, jsonResponse(400, { msg: '没有开启对外端口' })],
  [writes.createRule, jsonResponse(400, { msg: '没有开启对外端口' })],
  [createRule({ app, rule: { ...rule, open: true } }), jsonResponse(400, { msg: '没有开启对外端口' })],
  [writes.updateRule, jsonResponse(400, { msg: '策略已存在' })],
  [writes.updatePort, { status: 401, contentType: 'text/html', retryAfter: null, body: '<h1>no</h1>' }],
  [writes.deleteRule, jsonResponse(404, { code: 404 })],
  [writes.deletePort, jsonResponse(404, { code: 1404 })],
  [writes.deletePort, jsonResponse(404, { code: 404, msg: 'x' })],
  [writes.updatePort, jsonResponse(404, { code: 404, msg: 'port not found' })],
  [writes.updatePort, jsonResponse(404, { code: 404, msg: 'x' })],
  [writes.install, jsonResponse(404, { code: 404, msg: 'x' })],
  [writes.upgrade, jsonResponse(404, { code: 404, msg: '云端应用不存在' })],
  [writes.addPort, jsonResponse(404, { msg: 'inner port is not open' })],
  [writes.updatePort, jsonResponse(409, { code: 20501 })],
  [writes.addPort, jsonResponse(409, { code: 409 })],
  // Two rows fit each of these; what proves less decides.
  [writes.addPort, own(409, 20501, 'wait a moment please')],
  [writes.createRule, own(400, 20400, '策略已存在')],
  [writes.install, own(409, 409, 'wait a moment please', '获取数据失败，参数错误')],
];
const conditions = everyRow.flatMap((row) =>
  ['operations', 'when', 'code', 'msg', 'says', 'shown', 'retryAfter', 'own', 'first'].flatMap((condition) =>
    condition in row ? [[row.id, condition] as const] : [],
  ),
);

test.for(conditions)('row %s would decide too much without its condition "%s"', ([id, condition]) => {
  const table = tables.find((rows) => rows.some((row) => row.id === id)) as ClassifierRow[];
  const decisions = () => near.map(([write, response]) => decidingRow(write, response)?.id);
  const before = decisions();
  const at = table.findIndex((row) => row.id === id);
  const row = table[at] as ClassifierRow;
  try {
    table[at] = { ...row, [condition]: undefined } as ClassifierRow;
    expect(decisions()).not.toEqual(before);
  } finally {
    table[at] = row;
  }
});

test('where rows of a kind and of the platform fit, the order of the one former table decides', () => {
  const decided = (write: WriteRequest, response: PlatformResponse) => decidingRow(write, response)?.id;
  expect(decided(writes.addPort, own(409, 20501, 'wait a moment please'))).toBe('busy');
  expect(decided(writes.createRule, own(400, 20400, '策略已存在'))).toBe('validation');
  expect(decided(writes.install, own(409, 409, 'wait a moment please', '获取数据失败，参数错误'))).toBe(
    'store-refused',
  );
  expect(decided(writes.upgrade, jsonResponse(400, { code: 20400 }))).toBe('validation-after-upgrade');
  expect(decided(writes.deletePort, own(404, 2000, 'port not found'))).toBe('port-gone');
});

test('words that a row looks for count whatever their case, and one of them is enough', () => {
  for (const says of [{ msg: 'Wait A Moment Please' }, { msg: 'x', msg_show: '操作过于频繁' }])
    expect(verdictOf(writes.updatePort, jsonResponse(409, says))).toBe('throttled');
});

test('only a target state forgives that an earlier part of a refused request may have run', () => {
  for (const write of everyWrite) {
    const expected = write.declared.class === 'target-state' ? 'throttled' : 'unknown';
    for (const response of [busy, jsonResponse(429, {}), jsonResponse(503, {}, '1')]) {
      expect([write.operation, verdictOf(write, response)]).toEqual([write.operation, expected]);
    }
  }
  expect(classify(writes.updatePort, jsonResponse(429, {}, '7'), new VirtualClock())).toMatchObject({
    retryAfterMs: 7_000,
  });
  expect(classify(writes.updatePort, busy, new VirtualClock())).toMatchObject({ retryAfterMs: null });
});

test('the table speaks of known operations and gives every rejection a reason', () => {
  expect(Number.isInteger(classifierTable.version)).toBe(true);
  for (const row of everyRow) {
    for (const operation of row.operations ?? []) expect(Object.keys(writes)).toContain(operation);
    expect('reason' in row).toBe(row.verdict === 'rejected');
    for (const part of row.says ?? []) expect(part).toBe(part.toLowerCase());
  }
});
