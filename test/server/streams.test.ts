import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { HandMadeController } from './controller.ts';
import { serve, type Serving, type ServingOptions, TOKENS } from './serving.ts';

interface Reader {
  text(): string;
  /** Sequences of the events so far. */
  sequences(): number[];
  /** Id of the last event so far. */
  lastId(): string | undefined;
  readonly ended: Promise<void>;
  stop(): void;
}

/** Reads a stream until it ends or is stopped. */
async function read(serving: Serving, query = '', headers: Record<string, string> = {}): Promise<Reader> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${serving.url}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${TOKENS.viewer}`, ...headers },
    signal: stop.signal,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  let text = '';
  const ended = (async () => {
    try {
      for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk as Uint8Array);
    } catch {
      // Stopped by the test, or cut off.
    }
  })();
  return {
    text: () => text,
    sequences: () =>
      [...text.matchAll(/^data: (\{"sequence".*)$/gm)].map(
        ([, data = '']) => (JSON.parse(data) as { sequence: number }).sequence,
      ),
    lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1],
    ended,
    stop: () => stop.abort(),
  };
}

async function start(options: ServingOptions = {}) {
  const api = new HandMadeController();
  const serving = await serve({ api, ...options });
  return { api, serving };
}

test('events arrive as they happen, in order, and those before do not', async () => {
  const { api, serving } = await start();
  api.happen();
  const reader = await read(serving);
  await expect.poll(() => api.listeners).toBe(1);
  for (let times = 0; times < 250; times += 1) api.happen();
  await expect.poll(() => reader.sequences().length).toBe(250);
  expect(reader.sequences()).toEqual(Array.from({ length: 250 }, (_, at) => at + 2));
  reader.stop();
  await expect.poll(() => api.listeners).toBe(0);
});

test('a list and a stream have the events of a severity, of types and of an id', async () => {
  const { api, serving } = await start();
  const reader = await read(serving, '?severity=error&type=drift&type=application.failed');
  await expect.poll(() => api.listeners).toBe(1);
  for (const type of ['drift.detected', 'application.failed', 'application.recovered', 'apply.started'] as const)
    for (const severity of ['info', 'warning', 'error'] as const) api.happen({ type, severity });
  await expect.poll(() => reader.sequences()).toEqual([3, 6]);
  const listed = async (query: string): Promise<readonly number[]> => {
    const { items } = (await serving.ask(`/api/v1/events?${query}`)).body as { items: { sequence: number }[] };
    return items.map(({ sequence }) => sequence);
  };
  expect(await listed('severity=error&type=drift&type=application.failed')).toEqual([6, 3]);
  expect(await listed('severity=warning&type=drift')).toEqual([3, 2]);
  expect(await listed('type=application')).toEqual([9, 8, 7, 6, 5, 4]);
  expect(await listed('type=app')).toEqual([]);
  expect(await listed('id=e-7')).toEqual([7]);
  expect((await serving.ask('/api/v1/events?severity=fatal')).status).toBe(400);
  reader.stop();
});

test('a reader goes on where it was, by Last-Event-ID or by the position of the list', async () => {
  const { api, serving } = await start();
  const first = await read(serving);
  await expect.poll(() => api.listeners).toBe(1);
  api.happen();
  api.happen();
  await expect.poll(() => first.sequences()).toEqual([1, 2]);
  const lastId = first.lastId() ?? '';
  first.stop();
  const { position } = (await serving.ask('/api/v1/events')).body as { position: string };
  expect(position).toBe(lastId);
  api.happen();
  api.happen();
  const second = await read(serving, '', { 'last-event-id': lastId });
  const third = await read(serving, `?after=${position}`);
  await expect
    .poll(() => [second.sequences(), third.sequences()])
    .toEqual([
      [3, 4],
      [3, 4],
    ]);
  expect(second.text()).not.toContain('event: gap');
});

test('events that are forgotten, or of a process before, are a gap that is told', async () => {
  const { api, serving } = await start();
  api.eventsKept = 2;
  for (let times = 0; times < 5; times += 1) api.happen();
  const { startedMs } = api.state;
  const late = await read(serving, `?after=${startedMs}-1`);
  await expect.poll(() => late.sequences()).toEqual([4, 5]);
  expect(late.text()).toContain('event: gap');
  const fromBefore = await read(serving, `?after=${startedMs - 1}-99999`);
  await expect.poll(() => fromBefore.sequences()).toEqual([4, 5]);
  expect(fromBefore.text()).toContain('event: gap');
  const ahead = await read(serving, `?after=${startedMs}-99999`);
  api.happen();
  await expect.poll(() => ahead.sequences()).toEqual([6]);
});

test('after a restart it is a gap even where this process has forgotten nothing', async () => {
  const { api, serving } = await start();
  api.happen();
  const reader = await read(serving, `?after=${api.state.startedMs - 1}-1`);
  await expect.poll(() => reader.sequences()).toEqual([1]);
  expect(reader.text()).toContain('event: gap');
  const whole = await read(serving, `?after=${api.state.startedMs}-0`);
  await expect.poll(() => whole.sequences()).toEqual([1]);
  expect(whole.text()).not.toContain('event: gap');
});

test('only the events of an application, where that is asked for', async () => {
  const { api, serving } = await start();
  const reader = await read(serving, '?application=shop');
  await expect.poll(() => api.listeners).toBe(1);
  api.happen({ application: 'Application/blog' });
  api.happen();
  api.happen({ application: null });
  await expect.poll(() => reader.sequences()).toEqual([2]);
  const list = (await serving.ask('/api/v1/events?application=shop')).body as { items: unknown[] };
  expect(list.items.length).toBe(1);
});

test('a stream on which nothing happens shows that it lives', async () => {
  const { serving } = await start({ limits: { heartbeatMs: 50 } });
  const reader = await read(serving);
  await expect.poll(() => reader.text().split(': still here').length).toBeGreaterThan(3);
});

test('a message cannot forge an event of its own, and secrets are masked', async () => {
  const { api, serving } = await start();
  const reader = await read(serving);
  await expect.poll(() => api.listeners).toBe(1);
  api.happen({ message: 'a\n\nevent: gap\ndata: x\r\rid: 7\n\ncanary-canary' });
  await expect.poll(() => reader.sequences()).toEqual([1]);
  expect(reader.text()).not.toMatch(/^event: gap/m);
  expect(reader.text()).not.toContain('canary-canary');
});

test('no more streams than may be; a place is free again when its reader has gone', async () => {
  const { serving } = await start({ settings: { maxStreams: 1 } });
  const reader = await read(serving);
  const refused = await serving.ask('/api/v1/events/stream');
  expect(refused.body).toMatchObject({ status: 503, code: 'server/too-many-streams' });
  expect(refused.headers.get('retry-after')).toBe('30');
  reader.stop();
  await expect.poll(async () => (await read(serving)).text()).toBeDefined();
});

test('a reader who takes nothing is cut off, and delays nobody', async () => {
  // Time passes for the limit only when the quick reader has everything: a busy machine must not make it a slow one.
  const SLOW_MS = 3_600_000;
  const late = new AbortController();
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      if (ms !== SLOW_MS) return systemClock.sleep(ms, signal);
      const either = AbortSignal.any([late.signal, ...(signal === undefined ? [] : [signal])]);
      await systemClock.sleep(ms, either).catch((error: unknown) => {
        if (!late.signal.aborted) throw error;
      });
    },
  };
  const { api, serving } = await start({ limits: { slowReaderMs: SLOW_MS, heartbeatMs: 100 }, clock });
  const quick = await read(serving);
  const { port } = new URL(serving.url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on('error', () => {}); // Cut off is what is asked for.
  socket.pause();
  socket.write(
    `GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKENS.viewer}\r\n\r\n`,
  );
  await expect.poll(() => api.listeners).toBe(2);
  const message = 'x'.repeat(100_000);
  for (let times = 0; times < 200; times += 1) api.happen({ message });
  await expect.poll(() => quick.text().endsWith('\n\n') && quick.sequences().length === 200).toBe(true);
  late.abort();
  await expect.poll(() => api.listeners).toBe(1);
});

test('a reload ends streams, so that a token that is gone does not stay', async () => {
  const { serving } = await start();
  const reader = await read(serving);
  serving.reload({ ...serving.settings, tokens: [] });
  await reader.ended;
});
