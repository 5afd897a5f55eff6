import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAnswer, safeText } from '../../src/platform/answer.ts';
import { jsonResponse } from './recorded.ts';

const messageOf = (status: number, body: unknown) => parseAnswer(jsonResponse(status, body)).summary.message;

test.for([
  ['msg', 400, { msg: 'no' }, 'no'],
  ['msg and what it says for people', 400, { msg: 'no', msg_show: 'never' }, 'no; never'],
  ['msg_show that says the same', 400, { msg: 'no', msg_show: 'no' }, 'no'],
  ['only msg_show', 400, { msg_show: 'never' }, 'never'],
  ['a message of the cluster', 400, { msg: { msg: 'from below' } }, 'from below'],
  ['a detail', 404, { detail: 'Not found.' }, 'Not found.'],
  ['an empty msg beside a detail', 404, { msg: '', detail: 'Not found.' }, 'Not found.'],
  [
    'faults of fields',
    400,
    { msg: 'bad', err: { port: ['too big', 7, 'odd'], name: 'x', empty: [] } },
    'bad; port: too big odd',
  ],
  ['faults that are no record', 400, { msg: 'bad', err: ['x'] }, 'bad'],
  ['a crash, whose msg_show is a trace', 500, { msg: 'boom', msg_show: 'at line 1' }, 'boom'],
  ['a server error of 499', 499, { msg: 'boom', msg_show: 'words' }, 'boom; words'],
  ['msg_show of several lines', 400, { msg: 'boom', msg_show: 'a\nb' }, 'boom'],
  ['msg_show that names a trace', 400, { msg: 'boom', msg_show: 'Stack Trace: x' }, 'boom'],
  ['msg_show that names a traceback', 400, { msg: 'boom', msg_show: 'Traceback: x' }, 'boom'],
  ['only blanks', 400, { msg: '  ', msg_show: '' }, 'an answer without a message'],
  ['numbers for words', 400, { msg: 7, msg_show: {} }, 'an answer without a message'],
  ['a list', 400, [{ msg: 'x' }], 'an answer without a message'],
  ['a text', 400, 'hello', 'an answer without a message'],
  ['null', 400, null, 'an answer without a message'],
] as const)('%s is put into words', ([, status, body, words]) => {
  expect(messageOf(status, body)).toBe(words);
});

test('what a transport has parsed already is taken as it is', () => {
  const answer = parseAnswer({ ...jsonResponse(400, {}), body: '', json: { msg: 'no', code: 7 } });
  expect(answer).toMatchObject({ isJson: true, isEmpty: false, json: { msg: 'no', code: 7 } });
  expect(answer.summary).toEqual({ status: 400, code: 7, message: 'no' });
});

test.for([
  ['', 'text/plain', 'an answer without a body'],
  [' \n', 'application/json', 'an answer without a body'],
  ['<h1>', 'text/html', 'an answer that is not JSON (text/html)'],
  ['<h1>', null, 'an answer that is not JSON (no content type)'],
] as const)('%j of %s is no JSON', ([body, contentType, message]) => {
  const answer = parseAnswer({ status: 502, contentType, retryAfter: null, body });
  expect(answer).toMatchObject({ json: undefined, isJson: false, isEmpty: body.trim() === '', code: undefined });
  expect(answer).toMatchObject({ fromCluster: false, isSuccess: false, summary: { status: 502, message } });
  expect(answer.summary).not.toHaveProperty('code');
});

test('what is matched is what was said, without the blanks around it', () => {
  const answer = parseAnswer(jsonResponse(400, { code: 20400, msg: ' no ', msg_show: ' never\n' }));
  expect(answer).toMatchObject({
    status: 400,
    json: { code: 20400, msg: ' no ', msg_show: ' never\n' },
    isJson: true,
    isEmpty: false,
    code: 20400,
    msg: 'no',
    shown: 'never',
    fromCluster: false,
    isSuccess: false,
    summary: { status: 400, code: 20400, message: 'no' },
  });
  expect(parseAnswer(jsonResponse(400, { msg: { msg: 'x' } }))).toMatchObject({ fromCluster: true, msg: 'x' });
});

test.for([
  [199, {}, false],
  [200, {}, true],
  [299, {}, true],
  [300, {}, false],
  [200, { code: 500 }, true],
  [200, { code: 500, msg: '' }, false],
  [200, { code: 500, msg_show: '' }, false],
  [200, { code: 500, error_type: '' }, false],
  [200, { code: 199, msg: '' }, false],
  [200, { code: 200, msg: '' }, true],
  [200, { code: 299, msg: '' }, true],
  [200, { code: 300, msg: '' }, false],
  [200, { code: '500', msg: '' }, true],
  [200, { code: 500.5, msg: '' }, true],
  [200, { msg: '' }, true],
] as const)('status %i with %j is a success: %j', ([status, body, isSuccess]) => {
  expect(parseAnswer(jsonResponse(status, body)).isSuccess).toBe(isSuccess);
});

test('secrets are masked before anything is shortened, so that no part of one is left', () => {
  const secret = 'a-secret-of-the-store';
  const redact = (text: string) => text.replaceAll(secret, '[secret]');
  for (let before = 250; before < 305; before += 1) {
    const message = parseAnswer(jsonResponse(400, { msg: 'x'.repeat(before) + secret }), redact).summary.message;
    expect(message).not.toMatch(/a-|of-the/);
  }
  expect(parseAnswer(jsonResponse(400, { msg: secret }), redact)).toMatchObject({ msg: secret });
});

test.for([
  ['a trace is cut off', 'boom\nTraceback (most recent call last)\n x = token', 'boom'],
  ['a trace alone', 'Traceback (most recent call last): x', ''],
  ['a key is removed', 'see -----BEGIN PRIVATE KEY-----\nabc', '[removed: it looks like a certificate or key]'],
  ['control characters are escaped', ' a\n\u001b[2Jb\u202ec ', 'a\\u000a\\u001b[2Jb\\u202ec'],
  ['halves of characters are replaced', 'a\ud800b', 'a\ufffdb'],
  ['300 characters are left alone', 'x'.repeat(300), 'x'.repeat(300)],
  ['301 are cut', 'x'.repeat(301), `${'x'.repeat(299)}…`],
  ['escapes are not counted as one', '\u0007'.repeat(60), `${'\\u0007'.repeat(49)}\\u000…`],
  ['an escape that fits', '\u0007'.repeat(50), '\\u0007'.repeat(50)],
  ['blanks beyond what is looked at', `${' '.repeat(1200)}x`, ''],
  ['a character cut in half', `${'x'.repeat(298)}🙂🙂`, `${'x'.repeat(298)}\ufffd…`],
] as const)('%s', ([, text, safe]) => {
  expect(safeText(text)).toBe(safe);
});

test('whatever is said, what is left is short, and nothing a terminal obeys', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const safe = safeText(text);
      expect(safe.length).toBeLessThanOrEqual(300);
      expect(safe).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
