import { isIP } from 'node:net';

/** Where a server listens. */
export interface Address {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/** @param listen as the schema of Settings lets it through: `127.0.0.1:7780`, `[::1]:7780`. */
export function parseListen(listen: string): Address {
  const at = listen.lastIndexOf(':');
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Whether a request was meant for this server, by its `Host`. A page of a stranger whose name was made to resolve to this
 * machine sends that name; an address or a name that the operator knows cannot come from there.
 */
export function isOurHost(header: string | undefined, names: ReadonlySet<string>): boolean {
  const host = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{1,5})?$/.exec(header ?? '');
  const name = (host?.[1] ?? host?.[2] ?? '').toLowerCase();
  return isIP(name) !== 0 || name === 'localhost' || names.has(name);
}
