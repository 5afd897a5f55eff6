import { decodeEndpoints, decodePorts, type PortRecord, type TcpEndpoint } from './wire.ts';
import { keyOf, type Reading } from '../../model/reading.ts';
import { listRules } from '../http-gateway-rule/readings.ts';
import type { ScopeReader } from '../reconciled.ts';

export { listComponents } from '../../platform/readings.ts';

/** Messages of the platform for a component that was deleted, or that belongs to another application. */
const UNKNOWN_COMPONENT: readonly string[] = ['no found component', 'component not belong to this app'];

/** Reads the ports of a component; not readable, and `absent`, if the component is not in the application. */
export function listPorts(serviceId: string): Reading<readonly PortRecord[]> {
  return {
    operation: 'listPorts',
    segments: ['services', serviceId, 'ports'],
    component: serviceId,
    decode: decodePorts,
    expected: { noun: 'a list of ports', fields: ['container_port', 'port_alias'] },
    otherwise: ({ status, isJson, msg, code, summary }) =>
      status === 404 && isJson && (UNKNOWN_COMPONENT.includes(msg) || code === 4000)
        ? { readable: false, absent: summary.message }
        : undefined,
  };
}

export const portsReading = (serviceId: string): `read ${string}` => keyOf(listPorts(serviceId));

/** Returns the ports of a component; undefined: the component is not in the application. */
export async function portsOf(
  reader: Pick<ScopeReader, 'read'>,
  serviceId: string,
): Promise<readonly PortRecord[] | undefined> {
  const ports = await reader.read(listPorts(serviceId));
  return ports.readable ? ports.value : undefined;
}

/** Reads the TCP endpoints through which ports other than http are reached from outside. */
export const listEndpoints: Reading<readonly TcpEndpoint[]> = {
  operation: 'listEndpoints',
  segments: ['domains'],
  query: { query: 'tcp' },
  decode: decodeEndpoints,
  expected: { noun: 'a list of endpoints', fields: ['tcp'] },
  needs: { listing: listRules },
  // A server that lists rules may have no listing of endpoints, and answers an unknown path with a page.
  otherwise: ({ status }) => (status === 404 || status === 405 ? { readable: false } : undefined),
};
