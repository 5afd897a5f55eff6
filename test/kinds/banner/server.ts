import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Row {
  readonly banner_id: string;
  readonly title: string;
  readonly text_body: string;
}

/** What the platform does not have: banners of each application. All other requests go on to the sandbox. */
export interface BannerServer {
  readonly url: string;
  readonly rows: Row[];
  /** Closes the connection of the next write after it is done, in place of an answer. */
  losesNext: boolean;
  close(): Promise<void>;
}

/** @param sandbox the URL of the sandbox behind it. */
export async function startBannerServer(sandbox: string): Promise<BannerServer> {
  const rows: Row[] = [];
  let count = 0;
  const answer = (method: string, id: string | undefined, body: Partial<Row>): { status: number; json: unknown } => {
    const at = rows.findIndex(({ banner_id }) => banner_id === id);
    if (method === 'GET') return { status: 200, json: rows };
    if ((body.text_body?.length ?? 0) > 40) return { status: 400, json: { code: 400, msg: 'banner is too long' } };
    if (method === 'POST') {
      count += 1;
      rows.push({ banner_id: `b${count}`, title: body.title ?? '', text_body: body.text_body ?? '' });
      return { status: 200, json: rows.at(-1) };
    }
    if (at < 0) return { status: 404, json: { code: 404, msg: 'no found banner' } };
    if (method === 'DELETE') return { status: 200, json: rows.splice(at, 1)[0] };
    rows[at] = { ...(rows[at] as Row), text_body: body.text_body ?? '' };
    return { status: 200, json: rows[at] };
  };
  const server: Server = createServer((request, response) => {
    void textOf(request).then(async (text) => {
      const { method = 'GET', url = '/', headers } = request;
      const [, id] = /\/apps\/\d+\/banners(?:\/([^/?]+))?$/.exec(url) ?? [];
      if (/\/banners(?:\/|$)/.test(url)) {
        const { status, json } = answer(method, id, text === '' ? {} : (JSON.parse(text) as Partial<Row>));
        if (method !== 'GET' && self.losesNext) {
          self.losesNext = false;
          request.socket.destroy();
          return;
        }
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
        return;
      }
      const { authorization = '', 'content-type': type = 'application/json' } = headers;
      const passed = await fetch(`${sandbox}${url}`, {
        method,
        headers: { authorization, 'content-type': type },
        ...(text === '' ? {} : { body: text }),
      });
      const contentType = passed.headers.get('content-type') ?? 'application/json';
      response.writeHead(passed.status, { 'content-type': contentType }).end(await passed.text());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const self: BannerServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rows,
    losesNext: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
