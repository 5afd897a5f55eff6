import { BlockList, isIP } from 'node:net';
import type { SpecProblem } from '../kinds/kind.ts';
import { problemAt } from '../kinds/problems.ts';

/**
 * The addresses that no receiver has: link-local ones, and those of cloud metadata services, which return credentials of the
 * machine. Private addresses are allowed, because receivers of a company use them and only the operator can configure them.
 */
const FORBIDDEN = forbidden();

function forbidden(): BlockList {
  const list = new BlockList();
  list.addSubnet('169.254.0.0', 16, 'ipv4'); // Link-local; metadata of AWS, Azure, Google Cloud, OpenStack and others.
  list.addAddress('100.100.100.200', 'ipv4'); // Metadata of Alibaba Cloud.
  list.addAddress('168.63.129.16', 'ipv4'); // Wire server of Azure.
  list.addAddress('192.0.0.192', 'ipv4'); // Metadata of Oracle Cloud.
  list.addSubnet('0.0.0.0', 8, 'ipv4'); // "This network": systems connect to themselves.
  list.addSubnet('fe80::', 10, 'ipv6'); // Link-local.
  list.addAddress('fd00:ec2::254', 'ipv6'); // Metadata of AWS.
  list.addAddress('fd20:ce::254', 'ipv6'); // Metadata of Google Cloud.
  list.addAddress('::', 'ipv6');
  return list;
}

/** Returns whether a host is forbidden. @param host a name, an IPv4 address, or an IPv6 address in brackets, as in `URL.hostname`. */
export function isForbiddenHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  const family = isIP(name);
  if (family !== 0) return FORBIDDEN.check(name, family === 6 ? 'ipv6' : 'ipv4');
  return /^(?:metadata|metadata\.google\.internal|instance-data(?:\..*)?)\.?$/.test(name);
}

/** Returns the problem of a forbidden address in the operator's configuration. */
export function forbiddenHost(text: string | undefined, path: string): readonly SpecProblem[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null || !isForbiddenHost(url.hostname)) return [];
  const message = `${url.hostname} is a link-local or metadata address`;
  return problemAt(path, 'settings/forbidden-address', message, 'the address of a receiver');
}
