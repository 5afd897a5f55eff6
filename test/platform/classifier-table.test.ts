import { expect, test } from 'vitest';
import { type ClassifierRow, classifierTable, classify, decidingRow } from '../../src/platform/classifier.ts';
import { operations, writeClassOf } from '../../src/platform/operations.ts';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { everyWrite, rule, verdictOf, writes } from './every-write.ts';
import { jsonResponse } from './recorded.ts';
import { VirtualClock } from './virtual-clock.ts';

const busy = jsonResponse(409, { code: 409, msg: 'wait a moment please', msg_show: '操作过于频繁' });
/** What each row says, for the first write that it is about; every row must be here. */
const rows: Readonly<Record<string, readonly [WriteRequest, PlatformResponse, string]>> = {
  busy: [writes.updatePort, busy, 'throttled'],
  'too-many': [writes.updateRule, jsonResponse(429, {}), 'throttled'],
  'unavailable-with-retry-after': [writes.deleteRule, jsonResponse(503, {}, '3'), 'throttled'],
  'validation-after-upgrade': [writes.upgrade, jsonResponse(400, { code: 20400 }), 'unknown'],
  validation: [writes.install, jsonResponse(400, { code: 20400 }), 'rejected: invalid'],
  'unknown-component': [writes.updateRule, jsonResponse(400, { msg: '组件不存在' }), 'rejected: not-found'],
  'outer-closed': [writes.createRule, jsonResponse(400, { msg: '没有开启对外端口' }), 'rejected: precondition'],
  'rule-exists': [writes.createRule, jsonResponse(400, { msg: '策略已存在' }), 'exists'],
  'region-licence': [writes.updatePort, jsonResponse(401, { code: 10400 }), 'unknown'],
  credentials: [writes.updatePort, jsonResponse(401, { code: 10405 }), 'rejected: credentials'],
  forbidden: [writes.updatePort, jsonResponse(403, {}), 'rejected: credentials'],
  'rule-gone': [writes.deleteRule, jsonResponse(404, { code: 1404 }), 'applied'],
  'port-gone': [writes.deletePort, jsonResponse(404, { code: 404, msg: 'port not found' }), 'applied'],
  'no-such-place': [writes.deleteRule, jsonResponse(404, { code: 4000 }), 'rejected: not-found'],
  'no-such-model': [
    writes.install,
    jsonResponse(404, { code: 404, msg: 'not found', msg_show: '云端应用版本不存在', data: {} }),
    'rejected: not-found',
  ],
  'no-such-object': [writes.deletePort, jsonResponse(404, { msg: 'no found component' }), 'rejected: not-found'],
  'inner-closed': [writes.updatePort, jsonResponse(404, { msg: 'inner port is not open' }), 'rejected: precondition'],
  'region-not-ready': [writes.addPort, jsonResponse(409, { code: 2001 }), 'rejected: region-not-ready'],
  'port-exists': [writes.addPort, jsonResponse(409, { code: 20501 }), 'rejected: exists'],
  'method-not-allowed': [writes.updateRule, jsonResponse(405, {}), 'rejected: unsupported'],
  'too-large': [writes.createRule, jsonResponse(413, {}), 'rejected: invalid'],
  'media-type': [writes.createRule, jsonResponse(415, {}), 'rejected: unsupported'],
};

test.for(classifierTable.rows)('row $id decides as it says', (row) => {
  const [write, response, verdict] = rows[row.id] ?? expect.fail(`no example for row ${row.id}`);
  expect(decidingRow(write, response)?.id).toBe(row.id);
  expect(verdictOf(write, response)).toBe(verdict);
  expect(row.why).toMatch(/\.$/);
});

/** Answers that are near to what a row is about, and that the row must not decide. */
const near: readonly (readonly [WriteRequest, PlatformResponse])[] = [
  ...Object.values(rows).map(([write, response]) => [write, response] as const),
  [writes.updatePort, jsonResponse(409, { code: 409, msg: 'x' })],
  [writes.updatePort, jsonResponse(503, {})],
  [writes.updatePort, jsonResponse(400, { code: 20400 })],
  [writes.updatePort, jsonResponse(400, { code: 400 })],
  [writes.upgrade, jsonResponse(400, { code: 400 })],
  [writes.createRule, jsonResponse(400, { code: 400 })],
  [writes.deleteRule, jsonResponse(400, { msg: '组件不存在' })],
  [writes.deleteRule, jsonResponse(400, { msg: '没有开启对外端口' })],
  [writes.createRule, jsonResponse(400, { msg: '没有开启对外端口' })],
  [{ ...writes.createRule, rule: { ...rule, open: true } }, jsonResponse(400, { msg: '没有开启对外端口' })],
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
];
const conditions = classifierTable.rows.flatMap((row) =>
  ['operations', 'when', 'code', 'msg', 'says', 'retryAfter', 'json'].flatMap((condition) =>
    condition in row ? [[row.id, condition] as const] : [],
  ),
);

test.for(conditions)('row %s would decide too much without its condition "%s"', ([id, condition]) => {
  const table = classifierTable.rows as ClassifierRow[];
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

test('words that a row looks for count whatever their case, and one of them is enough', () => {
  for (const says of [{ msg: 'Wait A Moment Please' }, { msg: 'x', msg_show: '操作过于频繁' }])
    expect(verdictOf(writes.updatePort, jsonResponse(409, says))).toBe('throttled');
});

test('only a target state forgives that an earlier part of a refused request may have run', () => {
  for (const write of everyWrite) {
    const expected = writeClassOf(write.operation) === 'target-state' ? 'throttled' : 'unknown';
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
  for (const row of classifierTable.rows) {
    for (const operation of row.operations ?? []) expect(Object.keys(operations)).toContain(operation);
    expect('reason' in row).toBe(row.verdict === 'rejected');
    for (const part of row.says ?? []) expect(part).toBe(part.toLowerCase());
  }
});
