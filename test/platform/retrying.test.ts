import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  backoffMs,
  defaultRetryPolicy,
  type RetryPolicy,
  retryAfterMs,
  retryingReads,
} from '../../src/platform/retrying.ts';
import { type PlatformRequest, type PlatformResponse, TransportError } from '../../src/platform/transport.ts';
import { jsonResponse } from './recorded.ts';
import { chance, VirtualClock } from './virtual-clock.ts';

const read: PlatformRequest = {
  operation: 'listRegions',
  method: 'GET',
  path: '/openapi/v1/regions',
  query: {},
  isRead: true,
  timeoutMs: 30_000,
};
const ok = jsonResponse(200, []);

interface Run {
  readonly result: PlatformResponse | Error;
  /** Virtual milliseconds at which each attempt began. */
  readonly attempts: readonly number[];
}

/** Runs one read against scripted answers; the last one repeats. */
async function run(
  answers: readonly (PlatformResponse | Error)[],
  options: { request?: PlatformRequest; policy?: Partial<RetryPolicy>; mayRetry?: () => boolean } = {},
): Promise<Run> {
  const clock = new VirtualClock();
  const attempts: number[] = [];
  const send = retryingReads(
    async () => {
      const answer = answers[Math.min(attempts.length, answers.length - 1)];
      attempts.push(clock.monotonic());
      if (answer instanceof Error) throw answer;
      return answer ?? ok;
    },
    {
      clock,
      random: chance(0.5),
      policy: { ...defaultRetryPolicy, ...options.policy },
      mayRetry: options.mayRetry ?? (() => true),
    },
  );
  const result = await clock.run(send(options.request ?? read).catch((error: Error) => error));
  return { result, attempts };
}

const reset = new TransportError('ambiguous', 'ECONNRESET', 'reset');

test.for([
  ['408', jsonResponse(408, {})],
  ['500', jsonResponse(500, {})],
  ['502 as a page', { status: 502, contentType: 'text/html', retryAfter: null, body: '<h1>Bad gateway</h1>' }],
  ['a reset', reset],
  ['a refused connection', new TransportError('unsent', 'ECONNREFUSED', 'refused')],
] as const)('%s is tried again with full jitter on our clock', async ([, failure]) => {
  expect(await run([failure, failure, ok])).toEqual({ result: ok, attempts: [0, 100, 300] });
});

test.for([
  ['429', jsonResponse(429, {})],
  ['the 409 of a busy region', jsonResponse(409, { code: 409, msg: 'wait a moment please', msg_show: '操作过于频繁' })],
  ['the same in other words', jsonResponse(409, { msg: 'x', msg_show: '操作过于频繁，请稍后再试' })],
] as const)('%s waits longer', async ([, failure]) => {
  expect((await run([failure, failure, ok])).attempts).toEqual([0, 500, 1500]);
});

test.for([
  ['400', jsonResponse(400, { code: 10_411 })],
  ['401', jsonResponse(401, {})],
  ['404', jsonResponse(404, {})],
  ['409 about something else', jsonResponse(409, { code: 2001, msg: 'the team is not initialized in the region' })],
  ['302', { ...jsonResponse(302, {}) }],
  ['a certificate that is not trusted', new TransportError('unsent', 'SELF_SIGNED_CERT_IN_CHAIN', 'x')],
  ['an unknown host', new TransportError('unsent', 'ENOTFOUND', 'x')],
  ['an answer that is too large', new TransportError('ambiguous', 'TOO_LARGE', 'x')],
  ['a bug', new RangeError('x')],
] as const)('%s is not tried again', async ([, failure]) => {
  expect(await run([failure])).toEqual({ result: failure, attempts: [0] });
});

test('attempts are bounded, and the last answer or failure is what comes out', async () => {
  const failing = jsonResponse(503, { msg: 'down' });
  expect(await run([failing])).toMatchObject({ result: failing, attempts: { length: 5 } });
  expect(await run([reset])).toMatchObject({ result: reset, attempts: { length: 5 } });
});

test('Retry-After is honoured to the millisecond, for a failure too', async () => {
  expect((await run([jsonResponse(429, {}, '7'), ok])).attempts).toEqual([0, 7000]);
  expect((await run([jsonResponse(503, {}, '7'), ok])).attempts).toEqual([0, 7000]);
});

test('a wait that would pass the deadline is not begun', async () => {
  const busy = jsonResponse(429, {}, '300');
  expect(await run([busy, ok])).toEqual({ result: busy, attempts: [0] });
  const slow = await run([jsonResponse(500, {})], { policy: { deadlineMs: 250, retriesMax: 100 } });
  expect(slow.attempts).toEqual([0, 100]);
});

test('no room for retries means none', async () => {
  expect((await run([reset], { mayRetry: () => false })).attempts).toEqual([0]);
});

test('a write passes through once', async () => {
  const write = { ...read, operation: 'addPort', method: 'POST', isRead: false } as const;
  for (const failure of [reset, jsonResponse(503, {}, '1'), jsonResponse(429, {})]) {
    expect(await run([failure, ok], { request: write })).toEqual({ result: failure, attempts: [0] });
  }
});

test('an abort ends the waiting', async () => {
  const stop = new AbortController();
  const clock = new VirtualClock();
  const send = retryingReads(async () => Promise.reject(reset), {
    clock,
    random: chance(0.5),
    policy: defaultRetryPolicy,
    mayRetry: () => true,
    onRetry: () => stop.abort(new Error('stopping')),
  });
  await expect(clock.run(send({ ...read, signal: stop.signal }))).rejects.toThrow('stopping');
});

test.for([
  ['seconds', '120', 120_000],
  ['nothing', null, null],
  ['zero', '0', 1_000],
  ['absurdly long', '99999999', 600_000],
  ['negative', '-5', null],
  ['a fraction', '1.5', null],
  ['a date', 'Fri, 20 Nov 2026 00:01:30 GMT', 90_000],
  ['a date that has passed', 'Fri, 20 Nov 2020 00:00:00 GMT', 1_000],
  ['a date far away', 'Fri, 20 Nov 2099 00:00:00 GMT', 600_000],
  ['rubbish', 'soon', null],
] as const)('Retry-After of %s', ([, header, ms]) => {
  expect(retryAfterMs(header, new VirtualClock())).toBe(ms);
});

test('Retry-After stays within 1 s and 10 min, whatever the header', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      const ms = retryAfterMs(header, new VirtualClock());
      expect(ms === null || (ms >= 1_000 && ms <= 600_000)).toBe(true);
    }),
  );
});

test('backoff stays below its cap and grows with the attempt', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2000 }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (attempt, next) => {
        const ms = backoffMs(attempt, 200, 5_000, { next: () => next, hex: () => '' });
        expect(Number.isInteger(ms) && ms >= 0 && ms < Math.min(5_000, 200 * 2 ** (attempt - 1))).toBe(true);
      },
    ),
  );
  expect(() => backoffMs(0, 1, 1, chance(0))).toThrow(RangeError);
});
