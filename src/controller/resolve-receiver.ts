import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isForbiddenHost } from '../configuration/forbidden-hosts.ts';

/** Resolves a name as usual, and fails with `EFORBIDDEN` where any of its addresses is forbidden: the socket gets no other. */
export const lookupAllowed: LookupFunction = (name, options, answer) => {
  lookup(name, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) {
      answer(error, '', 4);
      return;
    }
    const [first] = addresses;
    if (first === undefined || addresses.some(({ address }) => isForbiddenHost(address))) {
      answer(Object.assign(new Error('a forbidden address'), { code: 'EFORBIDDEN' }), '', 4);
      return;
    }
    if (options.all === true) answer(null, addresses);
    else answer(null, first.address, first.family);
  });
};
