import { type PlatformRequest, TransportError } from './transport.ts';

/** The base of all addresses. */
export interface HttpBase {
  readonly origin: string;
  /** The prefix of every path, without a slash at its end. */
  readonly prefix: string;
}

/** @param url as `checkPlatformUrl` returned it. */
export function httpBase(url: string): HttpBase {
  const { origin, pathname } = new URL(url);
  return { origin, prefix: pathname.replace(/\/+$/, '') };
}

/** Paths that a URL parser does not change: without dots, escapes or empty segments. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_-]+)+$/;

/**
 * Returns path and query of a request. An address that leads to another origin is refused, because the token must reach only the
 * configured origin.
 * @throws TransportError `unsent`, `ADDRESS`
 */
export function addressOf(request: PlatformRequest, base: HttpBase): string {
  const path = `${base.prefix}${request.path}`;
  // Most addresses are plain, and parsing is the most expensive part.
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

/** Returns whether a URL parser keeps origin and path: it resolves `..`, and takes `//host` for another host. */
function staysWithin({ origin }: HttpBase, path: string): boolean {
  const url = URL.parse(path, origin);
  return url !== null && url.origin === origin && url.pathname === path && url.search === '';
}

function queryOf({ query }: PlatformRequest): string {
  // Few reads have a query, and building empty parameters has a cost.
  return Object.keys(query).length === 0 ? '' : new URLSearchParams(query).toString();
}
