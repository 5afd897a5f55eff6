import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Delivery, type DeliveryOptions } from '../../src/controller/delivery.ts';
import { type OutboundAnswer, OutboundError } from '../../src/controller/outbound.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { countsInto, logInto } from './hand-made.ts';

const good: OutboundAnswer = { status: 200, retryAfter: null, text: '' };
const status = (code: number, retryAfter: string | null = null): OutboundAnswer => ({
  status: code,
  retryAfter,
  text: 'its words with hunter2',
});

interface Scene {
  readonly queue: Delivery<string>;
  readonly clock: VirtualClock;
  readonly startMs: number;
  /** `item at milliseconds since the start`, for each attempt. */
  readonly attempts: string[];
  readonly counted: string[];
  readonly lines: string[];
}

/** @param answers one per attempt; the last one stands for all that follow. */
function scene(
  answers: readonly (OutboundAnswer | Error)[],
  options: Partial<DeliveryOptions<string>> = {},
  takesMs = 0,
): Scene {
  const clock = new VirtualClock();
  const startMs = clock.monotonic();
  const [attempts, counted, lines]: [string[], string[], string[]] = [[], [], []];
  const queue = new Delivery<string>({
    receiver: 'ops',
    capacity: 3,
    ratePerMinute: 6000,
    timeoutMs: 10_000,
    write: (item) => ({ url: 'https://ops.example.com', headers: {}, body: item }),
    merge: (older, newer) => `${older}+${newer}`,
    clock,
    random: { next: () => 0.999, hex: () => '' },
    log: logInto(lines),
    redact: (text) => text.replaceAll('hunter2', '[secret]'),
    counts: countsInto(counted),
    post: async ({ body }, _timeoutMs, signal) => {
      attempts.push(`${body} at ${clock.monotonic() - startMs}`);
      const answer = answers[Math.min(attempts.length, answers.length) - 1] ?? good;
      if (takesMs > 0) await clock.sleep(takesMs, signal).catch(() => {});
      if (signal.aborted) throw new OutboundError('ABORTED', 'ended');
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...options,
  });
  return { queue, clock, startMs, attempts, counted, lines };
}

const refused = new OutboundError('ECONNREFUSED', 'no answer: ECONNREFUSED');

test.for<[string, (OutboundAnswer | Error)[], string[], string[]]>([
  ['a good answer ends it', [good], ['a at 0'], ['ops sent']],
  ['5xx is tried again after a while', [status(503), good], ['a at 0', 'a at 999'], ['ops sent']],
  [
    'nobody there is tried again, longer each time',
    [refused, refused, good],
    ['a at 0', 'a at 999', 'a at 2997'],
    ['ops sent'],
  ],
  ['Retry-After is kept to', [status(429, '7'), good], ['a at 0', 'a at 7000'], ['ops sent']],
  ['one that would last too long is not waited for', [status(429, '600')], ['a at 0'], ['ops dropped failed']],
  ['4xx is taken at its word', [status(404)], ['a at 0'], ['ops dropped refused']],
  ['a redirect is not followed', [status(302)], ['a at 0'], ['ops dropped refused']],
  [
    'a fault in the settings is not tried again',
    [new PortolanError({ code: 'x/y', disposition: 'invalid', message: 'bad', remedy: 'Mend it.' })],
    ['a at 0'],
    ['ops dropped refused'],
  ],
  [
    'a dead one is given up after some time',
    [refused],
    ['a at 0', 'a at 999', 'a at 2997', 'a at 6993', 'a at 14985', 'a at 30969', 'a at 62937'],
    ['ops dropped failed'],
  ],
])('%s', async ([, answers, attempts, counted]) => {
  const run = scene(answers);
  run.queue.push('1', 'a');
  await run.clock.sleep(400_000);
  expect(run.attempts).toEqual(attempts);
  expect(run.counted).toEqual(counted);
  await run.queue.close(0);
  expect(run.counted).toEqual(counted);
});

test('a full queue lets go of the oldest, and counts it', async () => {
  const run = scene([good], {}, 1_000);
  for (const item of ['a', 'b', 'c', 'd', 'e', 'f']) run.queue.push(item, item);
  expect(run.queue.waiting).toBe(3);
  await run.clock.sleep(10_000);
  expect(run.attempts.map((attempt) => attempt[0])).toEqual(['d', 'e', 'f']);
  expect(run.counted.filter((word) => word === 'ops dropped overflow')).toHaveLength(3);
  // Said once, and again only after it was empty in between.
  const said = (): number => run.lines.filter((line) => line.startsWith('warn the receiver gets more messages')).length;
  expect(said()).toBe(1);
  for (const item of ['g', 'h', 'i', 'j', 'k']) run.queue.push(item, item);
  expect(said()).toBe(2);
  await run.clock.sleep(10_000);
});

test('two with one key become one while the first waits', async () => {
  const run = scene([good], {}, 1_000);
  run.queue.push('x', 'a');
  await run.clock.sleep(1);
  run.queue.push('now', 'b');
  run.queue.push('now', 'c');
  await run.clock.sleep(10_000);
  expect(run.attempts).toEqual(['a at 0', 'b+c at 1000']);
});

test('after a burst, messages go at the rate that is allowed', async () => {
  const run = scene([good], { ratePerMinute: 60, capacity: 100 });
  for (let item = 0; item < 9; item += 1) run.queue.push(`${item}`, `${item}`);
  await run.clock.sleep(60_000);
  expect(run.attempts.map((attempt) => Number(attempt.split(' ').at(-1)))).toEqual([
    0, 0, 0, 0, 0, 1000, 2000, 3000, 4000,
  ]);
});

test('what is no news any more when its turn comes is not sent, and costs no turn', async () => {
  const run = scene([good], { isNews: (item) => item !== 'old', ratePerMinute: 1, capacity: 9 });
  for (const [key, item] of ['old', 'old', 'new', 'old'].entries()) run.queue.push(`${key}`, item);
  await run.clock.sleep(1_000);
  expect(run.attempts).toEqual(['new at 0']);
  expect(run.counted).toEqual(['ops sent']);
});

test('a failing receiver is spoken of once, without the secrets it repeats, and once more when it is well', async () => {
  const run = scene([status(400), status(400), good]);
  for (const item of ['a', 'b', 'c']) run.queue.push(item, item);
  await run.clock.sleep(10_000);
  expect(run.lines).toEqual([
    'warn a message was not delivered: it answered 400: its words with [secret]. Later failures of this receiver are counted, but not logged receiver=ops waiting=2',
    'info the receiver accepts messages again receiver=ops lost=2',
  ]);
});

test('closing tells what waits, as long as the grace lasts, and counts the rest', async () => {
  const run = scene([good], {}, 4_000);
  for (const item of ['a', 'b', 'c']) run.queue.push(item, item);
  await run.queue.close(6_000);
  expect(run.clock.monotonic() - run.startMs).toBe(6_000);
  expect(run.attempts).toEqual(['a at 0', 'b at 4000']);
  expect(run.counted).toEqual(['ops sent', 'ops dropped shutdown', 'ops dropped shutdown']);
  run.queue.push('d', 'd');
  expect(run.counted.at(-1)).toBe('ops dropped shutdown');
  expect(run.queue.waiting).toBe(0);
});

test('closing interrupts a backoff when the grace is over', async () => {
  const run = scene([refused]);
  run.queue.push('a', 'a');
  await run.clock.sleep(10_000);
  await run.queue.close(500);
  expect(run.clock.monotonic() - run.startMs).toBe(10_500);
  expect(run.counted).toEqual(['ops dropped shutdown']);
});

test('nothing is lost without being counted, and what is sent is sent in order', async () => {
  const outcomes = fc.array(fc.constantFrom(good, status(500), status(400), refused), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      outcomes,
      fc.array(fc.nat(3_000), { maxLength: 25 }),
      fc.nat(20_000),
      async (answers, gaps, grace) => {
        const delivered: string[] = [];
        const run = scene(answers, { delivered: (item) => void delivered.push(item) }, 100);
        for (const [index, gapMs] of gaps.entries()) {
          run.queue.push(`${index}`, `${index}`);
          if (gapMs % 3 > 0) await run.clock.sleep(gapMs);
        }
        await run.queue.close(grace);
        expect(run.counted).toHaveLength(gaps.length);
        expect(delivered).toEqual([...delivered].sort((left, right) => Number(left) - Number(right)));
        expect(run.counted.filter((word) => word === 'ops sent')).toHaveLength(delivered.length);
      },
    ),
    { numRuns: 60 },
  );
});
