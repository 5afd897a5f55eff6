import { type PlatformRequest, TransportError } from './transport.ts';

/** Where every request goes. */
export interface HttpBase {
  readonly origin: string;
  /** Before the path of every request, without a slash at its end. */
  readonly prefix: string;
}

/** @param url as `checkPlatformUrl` returned it. */
export function httpBase(url: string): HttpBase {
  const { origin, pathname } = new URL(url);
  return { origin, prefix: pathname.replace(/\/+$/, '') };
}

/** Segments that a URL parser leaves as they are: no dots, no escapes, none empty. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_-]+)+$/;

/**
 * Path and query of a request. The token may go to the configured origin only, so an address that leads elsewhere is
 * never asked.
 * @throws TransportError `unsent`, `ADDRESS`
 */
export function addressOf(request: PlatformRequest, base: HttpBase): string {
  const path = `${base.prefix}${request.path}`;
  // Most addresses are plain, and parsing one costs more than all else that is done to it.
  if (!PLAIN_PATH.test(path) && !staysWithin(base, path)) {
    throw new TransportError(
      'unsent',
      'ADDRESS',
      `${request.operation}: the address does not stay within ${base.origin}`,
    );
  }
  const query = queryOf(request);
  return query === '' ? path : `${path}?${query}`;
}

/** A parser resolves `..` and takes `//host` for another host; then the path is no longer the one that was asked. */
function staysWithin({ origin }: HttpBase, path: string): boolean {
  const url = URL.parse(path, origin);
  return url !== null && url.origin === origin && url.pathname === path && url.search === '';
}

function queryOf({ query }: PlatformRequest): string {
  // Few reads have any, and building the parameters costs even where there are none.
  return Object.keys(query).length === 0 ? '' : new URLSearchParams(query).toString();
}
