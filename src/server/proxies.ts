import { BlockList, isIP } from 'node:net';

/** Returns whether an address belongs to a proxy that the operator trusts. */
export type IsProxy = (address: string) => boolean;

/** @param proxies addresses and networks that match the schema of Settings. */
export function trustedProxies(proxies: readonly string[]): IsProxy {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Returns the address of the client of a request: the last one in X-Forwarded-For that is not a trusted proxy. Addresses before it
 * came from the client, which can write any. Without a trusted proxy, the header does not count.
 * @param peer the other side of the connection.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, isProxy: IsProxy): string {
  let address = peer;
  for (const hop of (forwardedFor ?? '').split(',').toReversed()) {
    if (!isProxy(address)) return address;
    const text = hop.trim();
    if (isIP(text) === 0) return address;
    address = text;
  }
  return address;
}
