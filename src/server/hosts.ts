import { isIP } from 'node:net';

/**
 * Returns the address to listen on; an IPv6 address has no brackets.
 * @param listen matches the schema of Settings: `127.0.0.1:7780`, `[::1]:7780`.
 */
export function parseListen(listen: string) {
  const at = listen.lastIndexOf(':');
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Returns whether the `Host` of a request names this server. A hostile web page can make its own name resolve to this machine
 * (DNS rebinding), but then the browser sends that name, which the operator has not configured.
 */
export function isKnownHost(header: string | undefined, names: ReadonlySet<string>): boolean {
  const host = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{1,5})?$/.exec(header ?? '');
  const name = (host?.[1] ?? host?.[2] ?? '').toLowerCase();
  return isIP(name) !== 0 || name === 'localhost' || names.has(name);
}
