import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../hosts.ts';
import { signInRefusal } from './refusals.ts';

/** An address at which a browser sees the server. */
export interface Site {
  /** `https://portolan.example.com`, as in an Origin header. */
  readonly origin: string;
  /** Whether it is https, so that cookies can be `Secure`. Otherwise it is on the machine of the browser. */
  readonly isSecure: boolean;
}

interface OwnAddress {
  /** `spec.server.publicUrl`. */
  readonly publicUrl: string | undefined;
  /** Whether the server itself has a certificate. */
  readonly isTls: boolean;
}

/**
 * Returns the site of a request that a page of the same origin has sent. Browsers send `Sec-Fetch-Site` with every request to
 * https and loopback, and `Origin` with every change; no script can set either. Therefore a request without both is not from such a
 * page.
 * @throws RequestProblem 403 for every other request.
 */
export function requireSameOrigin(headers: IncomingHttpHeaders, own: OwnAddress): Site {
  const { origin, 'sec-fetch-site': from } = headers;
  const site = siteOf(headers, own);
  if (site === undefined) throw signInRefusal('insecure-address');
  if (from === undefined ? origin === undefined : from !== 'same-origin') throw signInRefusal('cross-site');
  if (origin !== undefined && origin !== site.origin) throw signInRefusal('cross-site');
  return site;
}

/**
 * Returns the site at which a browser sent a request to this host; undefined for plain HTTP to another machine. Headers of proxies
 * do not count: only the operator says that there is TLS in front of the server.
 */
export function siteOf({ host = '' }: IncomingHttpHeaders, { publicUrl, isTls }: OwnAddress): Site | undefined {
  const known = publicUrl === undefined ? undefined : new URL(publicUrl);
  const asSeen = URL.parse(`${known?.protocol ?? 'http:'}//${host}`);
  if (known !== undefined && asSeen?.host === known.host) return siteAt(known);
  const direct = URL.parse(`${isTls ? 'https' : 'http'}://${host}`);
  if (direct === null || !(isTls || isLoopback(direct.hostname.replace(/^\[|\]$/g, '')))) return undefined;
  return siteAt(direct);
}

function siteAt({ origin, protocol }: URL): Site {
  return { origin, isSecure: protocol === 'https:' };
}
