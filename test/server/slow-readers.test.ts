import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { application, HandMadeController } from './controller.ts';
import { serve, type Serving, TOKENS } from './serving.ts';

const LIST = '/api/v1/applications?limit=1000';

/** A controller of which a list has some megabytes: more than the buffers of a connection take. */
function large(messageLength = 20_000): HandMadeController {
  const api = new HandMadeController();
  const message = 'x'.repeat(messageLength);
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'Held', message, observedRevision: null, sinceMs: 0 },
  ] as const;
  api.list = Array.from({ length: 1_000 }, (_, index) => application(`app-${index}`, { conditions }));
  return api;
}

/** Asks for a list and takes nothing of the answer but its first bytes. */
async function askAndStall({ url }: Serving, path: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {}); // It may be closed for its slowness.
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKENS.viewer}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

test('answers that their readers do not take are closed, oldest first, when they hold too much memory', async () => {
  const serving = await serve({ api: large(), limits: { unsentBytes: 50_000_000 } });
  const stalled: Socket[] = [];
  for (let count = 0; count < 4; count += 1) stalled.push(await askAndStall(serving, LIST));
  const ended = stalled.map(async (socket) => {
    socket.resume();
    let bytes = 0;
    socket.on('data', (data: Buffer) => (bytes += data.length));
    await Promise.race([
      once(socket, 'close'),
      new Promise((enough) => socket.on('data', () => bytes > 20_000_000 && enough(0))),
    ]);
    return bytes > 20_000_000;
  });
  expect(await Promise.all(ended)).toEqual([false, false, true, true]);
  expect((await serving.ask(LIST)).status).toBe(200);
});

test('a client that goes away before its answer is no fault of the server', async () => {
  const serving = await serve({ api: large(500) });
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(Number(new URL(serving.url).port), '127.0.0.1');
    socket.on('error', () => {}); // It goes away.
    socket.write(`GET ${LIST} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKENS.viewer}\r\n\r\n`);
    return socket;
  });
  await Promise.race(sockets.map((socket) => once(socket, 'readable')));
  for (const socket of sockets) socket.destroy();
  expect((await serving.ask(LIST)).status).toBe(200);
  expect(serving.said.filter((line) => line.startsWith('error'))).toEqual([]);
});
