import type { PortRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { HoldProposal } from '../reconciled.ts';
import type { ObservedComponent } from './live.ts';
import { rulesOf } from './port-rules.ts';

/** Whether the endpoint of a port must still be compared with its protocol: a protocol change of ours was sent. */
export function owesEndpoint(object: OwnedObject | undefined): boolean {
  return object?.obligation?.['endpoint'] === true;
}

/**
 * Holds a port whose protocol we changed and whose endpoint did not follow. undefined: it did, nothing of ours is to be
 * compared, or this server cannot show it.
 */
export function endpointHold(
  object: OwnedObject | undefined,
  live: PortRecord,
  observed: ObservedComponent,
): HoldProposal | undefined {
  if (!owesEndpoint(object)) return undefined;
  const fault = endpointFault(live, observed);
  if (fault === undefined) return undefined;
  return {
    code: 'component/endpoint-broken',
    message: `the protocol of port ${live.port} was changed to ${live.protocol}, and the platform left it broken: ${fault.what}`,
    remedy: fault.remedy,
  };
}

interface EndpointFault {
  readonly what: string;
  readonly remedy: string;
}

/** What is wrong with how a port is reached from outside. undefined: nothing, or it cannot be seen. */
function endpointFault(
  live: PortRecord,
  { serviceId, endpoints, rules }: ObservedComponent,
): EndpointFault | undefined {
  if (endpoints?.readable !== true) return undefined;
  const served = endpoints.value.filter(
    (endpoint) => endpoint.serviceId === serviceId && endpoint.port === live.port && endpoint.outer,
  );
  const names = served.map(({ endpoint }) => endpoint).join(', ');
  const toggle =
    'Close and open outer access of the port in the console; this hold ends by itself when that has helped.';
  if (live.protocol !== 'http') {
    if (live.outer && served.length === 0)
      return { what: 'its outer access is open, and no TCP endpoint leads to it', remedy: toggle };
    if (!live.outer && served.length > 0)
      return { what: `its outer access is closed, and the TCP endpoint ${names} still leads to it`, remedy: toggle };
    return undefined;
  }
  if (served.length > 0) {
    return {
      what: `the TCP endpoint ${names} of its former protocol still leads to it`,
      remedy: `In the console, close outer access of the port, change its protocol to ${served[0]?.protocol ?? 'tcp'}, open and close outer access, change the protocol to http and open outer access again. This hold ends by itself then.`,
    };
  }
  const silent = live.outer ? rulesOf(rules, serviceId, live.port).filter((rule) => !rule.outer) : [];
  if (silent.length === 0) return undefined;
  const listed = silent.map((rule) => `${rule.domain}${rule.path || '/'}`).sort();
  return { what: `its outer access is open, and these rules are inactive: ${listed.join(', ')}`, remedy: toggle };
}
