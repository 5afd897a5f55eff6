import type { PortRecord } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Readable } from '../../model/reading.ts';
import { type HoldProposal, recordedAs, type Recording } from '../reconciled.ts';
import type { ComponentProposal, ObservedComponent } from './live.ts';
import { reopening } from './port-diff.ts';
import { rulesOf } from './port-rules.ts';

interface Restoration {
  readonly steps: readonly ComponentProposal[];
  readonly holds: readonly HoldProposal[];
}

/**
 * Returns the step that reopens outer access of an unlisted port, which an earlier run closed temporarily; undefined if there
 * is nothing to reopen, or nothing is left to restore.
 */
export function restoration(
  object: OwnedObject | undefined,
  serviceId: string,
  live: PortRecord | undefined,
  rules: Readable<readonly RuleRecord[]>,
): Restoration | undefined {
  if (object?.obligation?.['outer'] !== true || live === undefined || live.outer) return undefined;
  if (live.inner) return { steps: [reopening(serviceId, live, rules)], holds: [] };
  return { steps: [], holds: [leftClosed(object, live.port)] };
}

/**
 * Returns the row of an unlisted port whose obligation is fulfilled: it was observed open, and its endpoint follows its
 * protocol. If it is closed later, a person closed it.
 */
export function paidOff(
  object: OwnedObject | undefined,
  live: PortRecord,
  observed: ObservedComponent,
): Recording | undefined {
  if (object === undefined || object.obligation === null) return undefined;
  if (object.obligation['outer'] === true && !live.outer) return undefined;
  if (endpointHold(object, live, observed) !== undefined) return undefined;
  return recordedAs(object, { obligation: null });
}

function leftClosed({ uid, resource }: OwnedObject, port: number): HoldProposal {
  return {
    code: 'component/left-closed',
    message: `outer access of port ${port} of ${resource} was closed for a moment by an earlier run, no manifest lists the port any more, and its inner access is closed now, so outer cannot be opened again; nothing was sent`,
    remedy: `Open the port in the console if it should be open, and then, or if it should not, run \`portolan ledger forget ${uid} --reason "…"\`.`,
  };
}

/** Returns whether the endpoint of a port must still be compared with its protocol, after Portolan changed the protocol. */
export function owesEndpoint(object: OwnedObject | undefined): boolean {
  return object?.obligation?.['endpoint'] === true;
}

/**
 * Returns the hold of a port whose endpoint did not follow a protocol change by Portolan; undefined: it did, there was no
 * change, or this server cannot show it.
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

/** Returns the fault of a port's outer access; undefined: there is none, or it cannot be observed. */
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
