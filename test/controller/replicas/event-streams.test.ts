import { expect, onTestFinished, test } from 'vitest';
import { startServing, TOKENS } from '../../server/serving.ts';
import type { Replica } from './hand-led.ts';
import { EAST, inSync } from './two-leaders.ts';

async function serve({ controller, shared }: Replica) {
  const serving = await startServing({ api: controller.api, replicas: { shared, leaseMs: 15_000 } });
  onTestFinished(() => serving.close());
  return serving;
}

/** Reads a stream. @returns its events so far, each as its type and its reason. */
async function read(url: string, headers: Readonly<Record<string, string>> = {}): Promise<() => readonly string[]> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const authorization = `Bearer ${TOKENS.viewer}`;
  const response = await fetch(`${url}/api/v1/events/stream`, {
    headers: { authorization, ...headers },
    signal: stop.signal,
  });
  let text = '';
  void (async () => {
    for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk as Uint8Array);
  })().catch(() => {});
  const lines = () => text.split('\n').filter((line) => /^(?:event|data: \{"id")/.test(line));
  return () =>
    lines().map((line) => {
      if (line.startsWith('event: ')) return line.slice('event: '.length);
      const { type, detail } = JSON.parse(line.slice('data: '.length)) as { type: string; detail: { reason?: string } };
      return [type, detail.reason].join(' ').trim();
    });
}

test('a stream that is open while a failover loses events has the events in their place', async () => {
  const { group, one, two } = await inSync();
  const events = await read((await serve(two)).url);
  await one.controller.api.suspend(EAST, 'ops', 'first');
  await one.controller.api.resume(EAST, 'ops');
  await group.pass(5_000);
  await expect.poll(events).toEqual(['application.suspended first', 'application.resumed']);
  const { database } = group;
  database.events.splice(-2);
  database.sequence -= 2;
  database.server = 'second';
  await group.pass(10_000);
  await one.controller.api.suspend(EAST, 'ops', 'second');
  await group.pass(5_000);
  await expect.poll(() => events().slice(2)).toEqual(['gap', 'application.suspended second']);
});

test('a stream that resumes at a replica without the database repeats nothing, and continues later', async () => {
  const { group, one, two } = await inSync();
  const [ofOne, ofTwo] = [await serve(one), await serve(two)];
  two.isDatabaseAway = true;
  await one.controller.api.suspend(EAST, 'ops', 'a test');
  await group.pass(1_000);
  const { position } = (await ofOne.ask('/api/v1/events')).body as { position: string };
  const events = await read(ofTwo.url, { 'last-event-id': position });
  two.isDatabaseAway = false;
  await one.controller.api.resume(EAST, 'ops');
  await group.pass(5_000);
  await expect.poll(events).toEqual(['application.resumed']);
});
