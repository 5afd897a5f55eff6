import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ServerSentEvent, serverSentEvents } from '../../src/runtime/server-sent.ts';

async function read(chunks: readonly Uint8Array[]): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  const stream = (async function* () {
    yield* chunks;
  })();
  for await (const event of serverSentEvents(stream)) events.push(event);
  return events;
}

const stream = 'retry: 2000\n\n: still here\n\nid: 1-7\ndata: {"a":"ö"}\n\nevent: gap\ndata: x\ndata: y\n\ndata: half';

test('events, signs of life and names are read, and what is cut off is not', async () => {
  expect(await read([Buffer.from(stream)])).toEqual([
    { type: 'message', data: '', lastId: '' },
    { type: 'message', data: '', lastId: '' },
    { type: 'message', data: '{"a":"ö"}', lastId: '1-7' },
    { type: 'gap', data: 'x\ny', lastId: '1-7' },
  ]);
});

test('it does not matter where the network cuts', async () => {
  const bytes = Buffer.from(stream);
  const whole = await read([bytes]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), async (cuts) => {
      const at = [0, ...cuts.toSorted((left, right) => left - right), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(await read(chunks)).toEqual(whole);
    }),
  );
});

test('a line without an end does not fill the memory', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  await expect(read(Array.from({ length: 10 }, () => chunk))).rejects.toThrow('without an end');
});
