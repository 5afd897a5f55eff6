import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Client } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHttpTransport } from '../../src/platform/http.ts';
import { VirtualClock } from './virtual-clock.ts';

test('a write whose socket was open is in doubt, even if a second socket is refused afterwards', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      server.close();
      socket.resetAndDestroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { request } = Client.prototype;
  const resent = vi.spyOn(Client.prototype, 'request').mockImplementation(async function (this: Client, options) {
    await request.call(this, options).catch(() => {});
    return await request.call(this, options);
  });
  onTestFinished(() => resent.mockRestore());
  const { send } = createHttpTransport({ url: `http://127.0.0.1:${port}`, connections: 1, clock: new VirtualClock() });
  const write = { operation: 'createRule', method: 'POST', path: '/openapi/v1/x', query: {}, isRead: false } as const;
  await expect(send({ ...write, timeoutMs: 60_000 })).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    failure: 'ambiguous',
  });
  expect(resent).toHaveBeenCalledTimes(1);
});
