import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly atMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when so many have come. */
  count(wanted: number): Promise<void>;
  stop(): Promise<void>;
}

/** A receiver on this machine that answers as the test says; it ends with the test. */
export async function startReceiver(
  answer: (response: ServerResponse, received: Received) => void = (response) => response.end('ok'),
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { wanted: number; resolve: () => void }[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => {
      const one: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
        atMs: performance.now(),
      };
      received.push(one);
      answer(response, one);
      for (const { wanted, resolve } of waiting) if (received.length >= wanted) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    count: (wanted) =>
      new Promise((resolve) => (received.length >= wanted ? resolve() : waiting.push({ wanted, resolve }))),
    stop,
  };
}
