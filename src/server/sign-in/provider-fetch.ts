import type { CustomFetch } from 'openid-client';
import { Agent } from 'undici';
import { isLoopback } from '../../configuration/addresses.ts';
import { isForbiddenHost } from '../../configuration/forbidden-hosts.ts';
import { lookupAllowed, OutboundError, withinTime } from '../../controller/outbound.ts';
import type { Clock } from '../../runtime/clock.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 10_000;
/** Metadata, keys and tokens of a provider are a few kilobytes. */
const ANSWER_BYTES_MAX = 512 * 1024;
/** Statuses whose answer has no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Creates the only way to an OpenID Connect provider, with the rules for receivers: no redirects, no link-local or metadata address,
 * plain HTTP only to this machine. Its metadata name further addresses, so each of them is checked.
 * @param ca certificates to trust, in PEM form; undefined: the built-in ones.
 * @param signal aborted when the server closes.
 */
export function createProviderFetch(clock: Clock, ca: readonly string[] | undefined, signal: AbortSignal) {
  const agent = new Agent({
    connections: 4,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      lookup: lookupAllowed,
      ...(ca === undefined ? {} : { ca: [...ca] }),
    },
  });
  const send: CustomFetch = (address, { method, headers, body }) => {
    const url = allowedUrl(address);
    return withinTime(clock, TIMEOUT_MS, signal, async (late) => {
      const answer = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: method === 'POST' ? 'POST' : 'GET',
        headers: { 'user-agent': 'portolan', ...headers },
        body: body === undefined || body === null ? null : String(body as URLSearchParams | string),
        signal: late,
      });
      const bytes = await wholeBody(answer.body);
      return new Response(WITHOUT_BODY.has(answer.statusCode) ? null : bytes, {
        status: answer.statusCode,
        headers: headersOf(answer.headers),
      });
    });
  };
  return {
    send,
    /** Closes the sockets once their requests are answered. */
    close: () => agent.close(),
  };
}

/** Checks an address of the provider. @throws OutboundError */
export function allowedUrl(address: string): URL {
  const url = URL.parse(address);
  const isAllowed =
    url !== null &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.href))) &&
    url.username === '' &&
    url.password === '' &&
    !isForbiddenHost(url.hostname);
  if (isAllowed) return url;
  throw new OutboundError('EFORBIDDEN', 'the metadata of the provider contain an address that must not be used');
}

async function wholeBody(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) {
      body.destroy();
      throw new OutboundError('ETOOLARGE', `the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    }
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function headersOf(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const all = new Headers();
  for (const [name, values] of Object.entries(headers))
    for (const value of [values ?? []].flat()) all.append(name, value);
  return all;
}
