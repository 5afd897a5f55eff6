import { decodePort, type PortProtocol, type PortRecord } from './wire.ts';
import type { Answer } from '../../platform/answer.ts';
import { writeAddress } from '../../platform/address.ts';
import { checked, checkedId, checkedPort, checkedServiceName, refuse } from '../../platform/request-values.ts';
import type { WireObject } from '../../platform/transport.ts';
import type { ClassifierRow, WriteEvidence } from '../../platform/verdict.ts';
import { type AppAddress, defineWrite, NO_EVIDENCE } from '../../platform/writes.ts';
import answers from './answers.json' with { type: 'json' };

/** Classifier rows for writes of ports, besides the platform's table. */
export const portAnswers = answers as unknown as readonly ClassifierRow[];

const PORT_PROTOCOLS: readonly string[] = ['tcp', 'http', 'mysql', 'grpc', 'udp'];
const PORT_ALIAS = /^[A-Z][A-Z0-9_]{0,63}$/;

interface OfComponent {
  readonly app: AppAddress;
  readonly serviceId: string;
}

interface OfPort extends OfComponent {
  readonly port: number;
}

export type PortActionFields =
  | { readonly action: 'open_outer' | 'close_outer' | 'open_inner' | 'close_inner' }
  | { readonly action: 'change_protocol'; readonly protocol: PortProtocol }
  | { readonly action: 'change_port_alias'; readonly alias: string; readonly serviceName: string };

export interface PortRequestFields {
  readonly port: number;
  readonly protocol: PortProtocol;
  readonly alias?: string;
  /** Always sent: a real server requires it. */
  readonly inner: boolean;
}

export const addPort = defineWrite<OfComponent & { readonly port: PortRequestFields }>('addPort', {
  method: 'POST',
  class: 'duplicate-rejecting',
  rows: portAnswers,
  request: ({ app, serviceId, port }) => ({
    path: portsPath({ app, serviceId }),
    body: {
      port: String(checkedPort(port.port)), // documented as a string; a real server takes either
      protocol: checkedProtocol(port.protocol),
      ...(port.alias === undefined ? {} : { port_alias: checkedAlias(port.alias) }),
      is_inner_service: port.inner,
    },
  }),
  evidence: (answer, { port }) => portEvidence(answer, port.port),
});

export const updatePort = defineWrite<OfPort & { readonly change: PortActionFields }>('updatePort', {
  method: 'PUT',
  class: 'target-state',
  rows: portAnswers,
  request: ({ change, ...port }) => ({ path: portPath(port), body: actionBody(change) }),
  evidence: (answer, { port }) => portEvidence(answer, port),
});

export const deletePort = defineWrite<OfPort>('deletePort', {
  method: 'DELETE',
  class: 'target-state',
  rows: portAnswers,
  request: (port) => ({ path: portPath(port) }),
  evidence: () => NO_EVIDENCE,
});

function checkedProtocol(value: string): string {
  return checked(value, PORT_PROTOCOLS.includes(value), 'protocol', `one of ${PORT_PROTOCOLS.join(', ')}`);
}

function checkedAlias(value: string): string {
  const expected = 'an upper-case letter, then upper-case letters, digits or _, 64 at most';
  return checked(value, PORT_ALIAS.test(value), 'port alias', expected);
}

function portPath({ app, serviceId, port }: OfPort): string {
  return `${portsPath({ app, serviceId })}/${checkedPort(port)}`;
}

function portsPath({ app, serviceId }: OfComponent): string {
  return writeAddress(app, 'services', checkedId(serviceId, 'component id'), 'ports');
}

function actionBody(change: PortActionFields): WireObject {
  switch (change.action) {
    case 'open_outer':
    case 'close_outer':
    case 'open_inner':
    case 'close_inner':
      return { action: change.action };
    case 'change_protocol':
      return { action: change.action, protocol: checkedProtocol(change.protocol) };
    case 'change_port_alias':
      return {
        action: change.action,
        port_alias: checkedAlias(change.alias),
        k8s_service_name: checkedServiceName(change.serviceName),
      };
    default: {
      const { action } = change satisfies never as PortActionFields;
      return refuse('action', 'a documented port action', action);
    }
  }
}

/** Accepts any 2xx, because the body is not documented. A body about a different port does not prove the write. */
function portEvidence({ json }: Answer, port: number): (WriteEvidence & { readonly port?: PortRecord }) | string {
  let record: PortRecord;
  try {
    record = decodePort(json, 'port');
  } catch {
    return NO_EVIDENCE;
  }
  return record.port === port ? { type: 'port', port: record } : `the platform answered for port ${record.port}`;
}
