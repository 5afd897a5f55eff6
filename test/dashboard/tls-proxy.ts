import { once } from 'node:events';
import { request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { selfSigned } from '../platform/self-signed.ts';

export interface TlsProxy {
  /** `strip` removes the path on the way, as many ingresses do; `keep` passes it on. */
  setMode(mode: 'strip' | 'keep'): void;
  close(): void;
}

/** Bytes that the proxy collects before it passes them on, as nginx does unless an answer forbids it. */
const BUFFER_BYTES = 16 * 1024;

/** Starts a proxy that ends TLS and serves a controller under a path. @param target returns the address of the controller. */
export async function openTlsProxy(port: number, prefix: string, target: () => string): Promise<TlsProxy> {
  let mode: 'strip' | 'keep' = 'strip';
  const { certPem, keyPem } = selfSigned();
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const { url = '/', method = 'GET', headers } = request;
    const isBelow = url === prefix || url.startsWith(`${prefix}/`) || url.startsWith(`${prefix}?`);
    if (!isBelow) return void response.writeHead(404).end('another application');
    const path = mode === 'keep' ? url : url.slice(prefix.length).replace(/^(?!\/)/, '/');
    const onward = forward(target(), { path, method, headers }, (answer) => pass(answer, response));
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    setMode: (next) => {
      mode = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pass(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  if (answer.headers['x-accel-buffering'] === 'no') {
    response.flushHeaders();
    answer.pipe(response);
    return;
  }
  const kept: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => {
    kept.push(chunk);
    if (kept.reduce((bytes, { length }) => bytes + length, 0) < BUFFER_BYTES) return;
    response.write(Buffer.concat(kept.splice(0)));
  });
  answer.on('end', () => response.end(Buffer.concat(kept)));
  answer.on('error', () => response.destroy());
}
