import { isIPv6 } from 'node:net';
import { Allowance } from '../../runtime/allowance.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ServerLimits } from '../limits.ts';
import { signInRefusal } from './refusals.ts';

type Limits = Pick<ServerLimits, 'signInsOfAddress' | 'signInsOfAddressPerMinute' | 'signIns' | 'signInsPerMinute'>;

/** Addresses that are kept before full ones are removed. The total limit bounds those that are not full. */
const ADDRESSES_KEPT = 1_000;

export type Attempts = ReturnType<typeof createAttempts>;

/** Limits the sign-ins that fail, of one address and of all together. */
export function createAttempts(clock: Clock, limits: Limits) {
  const { signInsOfAddress, signInsOfAddressPerMinute, signIns, signInsPerMinute } = limits;
  const all = new Allowance(clock, signIns, signInsPerMinute / 60_000);
  const byAddress = new Map<string, Allowance>();
  const allowanceOf = (address: string): Allowance => {
    const network = networkOf(address);
    const known = byAddress.get(network);
    if (known !== undefined) return known;
    if (byAddress.size >= ADDRESSES_KEPT)
      for (const [other, { left }] of byAddress) if (left >= signInsOfAddress) byAddress.delete(other);
    const fresh = new Allowance(clock, signInsOfAddress, signInsOfAddressPerMinute / 60_000);
    byAddress.set(network, fresh);
    return fresh;
  };
  return {
    /**
     * Counts a sign-in before it is checked.
     * @returns a function to call when it succeeded; it then does not count.
     * @throws RequestProblem 429 when too many failed. Such a sign-in does not count either.
     */
    begin: (address: string): (() => void) => {
      const own = allowanceOf(address);
      const waitMs = Math.max(
        (1 - own.left) / (signInsOfAddressPerMinute / 60_000),
        (1 - all.left) / (signInsPerMinute / 60_000),
      );
      if (waitMs > 0) throw signInRefusal('too-many-sign-ins', Math.ceil(waitMs / 1_000));
      own.use(1);
      all.use(1);
      return () => {
        own.use(-1);
        all.use(-1);
      };
    },
  };
}

/** Returns the network that one client can use as it likes: an IPv4 address, or the first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
