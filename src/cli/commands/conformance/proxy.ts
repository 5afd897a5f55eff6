import { createServer, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { getCACertificates } from 'node:tls';

/**
 * Ways to lose the answer of a write. `before`: the connection ends before the server sees the request. `after`: the
 * connection ends after the server has answered. `cut`: half of the answer arrives. `html502`, `busy503`: the proxy
 * answers in place of the server. `html502-after`: the same after the server has answered.
 */
export const LOSSES = ['before', 'after', 'cut', 'html502', 'html502-after', 'busy503'] as const;
export type Loss = (typeof LOSSES)[number];

/** Says of each way whether the request reaches the server. */
export const ARRIVES: Readonly<Record<Loss, boolean>> = {
  before: false,
  after: true,
  cut: true,
  html502: false,
  'html502-after': true,
  busy503: false,
};

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** Starts a server on this machine that forwards requests to another server, and can lose the answer of one write. */
export async function startProxy(target: string, caPem: string | undefined) {
  const upstream = new URL(target);
  const forward = forwarding(upstream, caPem);
  let armed: { readonly loss: Loss; readonly nth: number } | undefined;
  let writes = 0;
  let lost = 0;
  const arrivals: string[] = [];

  const server = createServer((incoming, outgoing) => {
    if (incoming.method !== 'GET') writes += 1;
    const loss = incoming.method !== 'GET' && armed?.nth === writes ? armed.loss : undefined;
    if (loss !== undefined) lost += 1;
    void pass(incoming, outgoing, loss).catch(() => incoming.socket.destroy());
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse, loss: Loss | undefined): Promise<void> {
    const body = await buffer(incoming);
    if (loss === 'before') return void incoming.socket.destroy();
    if (loss === 'html502') return answer502(outgoing);
    if (loss === 'busy503') return send(outgoing, 503, 'application/json', '{"msg":"busy"}');
    if (incoming.method !== 'GET') arrivals.push((incoming.url ?? '').split('?', 1)[0] ?? '');
    const answer = await forward(incoming, body);
    const bytes = await buffer(answer);
    // The server has finished here, so only the answer can be lost.
    if (loss === 'after') return void incoming.socket.destroy();
    if (loss === 'html502-after') return answer502(outgoing);
    const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': bytes.length });
    if (loss !== 'cut') return void outgoing.end(bytes);
    outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => incoming.socket.destroy());
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** `http://127.0.0.1:<port>`, followed by the path of the server. */
    url: `http://127.0.0.1:${port}${upstream.pathname.replace(/\/+$/, '')}`,
    /** Loses the answer of the n-th write from now; 1 is the next one, undefined loses none. */
    lose: (loss: Loss | undefined, nth = 1): void => {
      writes = 0;
      lost = 0;
      armed = loss === undefined ? undefined : { loss, nth };
    },
    /** Returns the number of lost answers since the last call of `lose`. */
    lost: (): number => lost,
    /** Returns the number of writes since the start that reached the server at addresses with this end. */
    arrived: (end: string): number => arrivals.filter((path) => path.endsWith(end)).length,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Forward = (request: IncomingMessage, body: Buffer) => Promise<IncomingMessage>;

function forwarding({ protocol, host, origin }: URL, caPem: string | undefined): Forward {
  const ca = caPem === undefined ? {} : { ca: [...getCACertificates('default'), caPem] };
  const ask = protocol === 'https:' ? tlsRequest : plainRequest;
  return ({ method, url, headers }, body) =>
    new Promise((resolve, reject) => {
      const passed = { ...headers, host, connection: 'close', 'accept-encoding': 'identity' };
      ask(`${origin}${url ?? '/'}`, { method, headers: passed, ...ca }, resolve)
        .on('error', reject)
        .end(body);
    });
}

function answer502(outgoing: ServerResponse): void {
  send(outgoing, 502, 'text/html', '<html><body><h1>502 Bad Gateway</h1></body></html>');
}

function send(outgoing: ServerResponse, status: number, contentType: string, body: string): void {
  outgoing.writeHead(status, { 'content-type': contentType }).end(body);
}
