import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPace } from '../../src/server/pace.ts';
import { createScrapes } from '../../src/server/scrapes.ts';
import { jsonPieces } from '../../src/server/serialize.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { application, handMadeApi, NOON_MS, resource } from '../controller/hand-made.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { parseExposition } from './exposition.ts';

const LIMITS = { readBurstMs: 50, readShare: 0.25, readsWaiting: 4 };
const never = new AbortController().signal;

test('pieces run one at a time, and callers take turns', async () => {
  const clock = new VirtualClock();
  const pace = createPace(clock, { ...LIMITS, readsWaiting: 100 });
  const order: string[] = [];
  let running = 0;
  const ask = (caller: string, name: string): Promise<void> =>
    pace.run(caller, never, async () => {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      running -= 1;
      order.push(name);
    });
  await Promise.all([ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('c', 'c1'), ask('b', 'b2')]);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('in the long run, pieces have no more than their share of the time', async () => {
  const clock = new VirtualClock();
  const pace = createPace(clock, { ...LIMITS, readsWaiting: 100 });
  const beganMs = clock.monotonic();
  await Promise.all(Array.from({ length: 50 }, () => pace.run('a', never, () => clock.advance(10))));
  const tookMs = clock.monotonic() - beganMs;
  // 500 ms of work, of which 50 + 10 need not be waited for.
  expect(tookMs).toBeGreaterThanOrEqual(440 / 0.25);
  expect(tookMs).toBeLessThan(500 / 0.25 + 100);
});

test('a piece that never ends, or throws, keeps no other waiting', async () => {
  const pace = createPace(new VirtualClock(), LIMITS);
  void pace.run('a', never, () => new Promise(() => {}));
  await expect(pace.run('b', never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(
    pace.run('b', never, () => {
      throw new Error('no, too');
    }),
  ).rejects.toThrow('no, too');
  expect(await pace.run('c', never, () => 'done')).toBe('done');
});

test('no more wait than may, and one whose client has gone waits no longer', async () => {
  const pace = createPace(new VirtualClock(), LIMITS);
  const gone = new AbortController();
  const first = pace.run('a', never, async () => Promise.resolve());
  const leaving = pace.run('b', gone.signal, () => expect.unreachable());
  const others = Array.from({ length: 3 }, () => pace.run('a', never, () => 1));
  await expect(pace.run('c', never, () => 1)).rejects.toMatchObject({ details: { status: 503, code: 'server/busy' } });
  gone.abort(new Error('gone'));
  await expect(leaving).rejects.toThrow('gone');
  others.push(pace.run('c', never, () => 1));
  expect(await Promise.all([first, ...others])).toEqual([undefined, 1, 1, 1, 1]);
});

function scrapeScene(render: Parameters<typeof createScrapes>[0]['render']) {
  const clock = new VirtualClock(NOON_MS);
  const pace = createPace(clock, { ...LIMITS, readsWaiting: 100 });
  const redact = (text: string): string => text.replaceAll('canary', '[secret]');
  return { clock, pace, scrape: createScrapes({ render, clock, pace, redact, reuseMs: 1_000, signal: never }) };
}

test('scrapes that come together, or shortly after each other, share one text', async () => {
  let rendered = 0;
  const { clock, scrape } = scrapeScene(async (run) => {
    rendered += 1;
    return run(() => ({ contentType: 'text/plain', text: `canary ${rendered}` }));
  });
  const answers = await Promise.all(Array.from({ length: 10 }, scrape));
  expect(new Set(answers.map(({ bytes }) => bytes)).size).toBe(1);
  expect(String(answers[0]?.bytes)).toBe('[secret] 1');
  clock.advance(999);
  expect((await scrape()).bytes).toBe(answers[0]?.bytes);
  clock.advance(1);
  expect(String((await scrape()).bytes)).toBe('[secret] 2');
});

test('a text that could not be rendered is not kept', async () => {
  let rendered = 0;
  const { scrape } = scrapeScene(async () => {
    rendered += 1;
    if (rendered === 1) throw new Error('not now');
    return { contentType: 'text/plain', text: 'up 1\n' };
  });
  const [first, second] = await Promise.allSettled([scrape(), scrape()]);
  expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
  expect(String((await scrape()).bytes)).toBe('up 1\n');
});

function fleet(count: number) {
  const resources = [resource('web', { drift: { sinceMs: NOON_MS, changes: [] } }), resource('db')];
  return handMadeApi(Array.from({ length: count }, (_, index) => application(`app-${index}`, { resources })));
}

test('metrics that are rendered part by part are those that are rendered at once, of one moment', async () => {
  const clock = new VirtualClock(NOON_MS);
  const metrics = createMetrics({ clock, concurrency: () => 8, version: '1', node: '24', process: false });
  const api = fleet(100);
  let asked = 0;
  const status = api.status;
  metrics.attach({
    ...api,
    status: () => {
      asked += 1;
      return status();
    },
    applications: () => {
      asked += 1;
      return api.applicationsNow;
    },
    intents: api.intents,
  });
  const whole = await metrics.render();
  expect(asked).toBe(2);
  let parts = 0;
  const inParts = await metrics.render(async (piece) => {
    parts += 1;
    const result = await piece();
    // What happens in between is of the next scrape.
    api.applicationsNow = [];
    return result;
  });
  expect(inParts).toEqual(whole);
  expect(parts).toBeGreaterThan(20);
  expect(parseExposition(inParts.text).get('portolan_drift')?.samples.size).toBe(100);
});

test('JSON in pieces is the JSON of the whole', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.array(fc.jsonValue(), { maxLength: 80 }), (value, list) => {
      for (const body of [value, list, { a: list, b: value, c: undefined, d: list, e: [] }, { items: list }, {}])
        expect([...jsonPieces(body)].join('')).toBe(JSON.stringify(body));
    }),
  );
});
