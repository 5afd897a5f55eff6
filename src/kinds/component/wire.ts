import { recordOf } from '../../platform/envelope.ts';
import {
  type Decoded,
  decides,
  listDecoder,
  recordDecoder,
  recordReader,
  shown,
} from '../../platform/record-fields.ts';

export type { ComponentRecord } from '../../platform/records.ts';

export type PortProtocol = 'tcp' | 'http' | 'mysql' | 'grpc' | 'udp';

export const portTable = {
  port: decides('container_port', 'port'),
  protocol: decides('protocol', 'text'),
  alias: decides('port_alias', 'text', ''),
  inner: decides('is_inner_service', 'flag'),
  outer: decides('is_outer_service', 'flag'),
  serviceName: decides('k8s_service_name', 'text', ''),
};

/** `serviceName`: a real server keeps one for all ports of a component. */
export type PortRecord = Decoded<typeof portTable>;

export const endpointTable = {
  serviceId: decides('service_id', 'id'),
  port: decides('container_port', 'port'),
  outer: decides('is_outer_service', 'flag'),
  endpoint: shown('end_point', 'text', ''),
  protocol: shown('protocol', 'text', ''),
};

/** A TCP endpoint, through which a port other than http is reached from outside. `outer` false: it is inactive. */
export type TcpEndpoint = Decoded<typeof endpointTable>;

export const decodePort = recordDecoder(portTable);
export const decodePorts = listDecoder(portTable);
const endpointOf = recordReader(endpointTable);

/** Decodes the list under `tcp`; the answer lists two kinds of rules. */
export function decodeEndpoints(json: unknown, where: string): readonly TcpEndpoint[] {
  const fields = recordOf(json, where);
  if (!Array.isArray(fields.raw('tcp'))) throw fields.drift('tcp', 'a list of endpoints');
  return fields.records('tcp').map(endpointOf);
}
