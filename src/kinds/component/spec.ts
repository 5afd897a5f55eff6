import type { PortProtocol } from '../../model/observed.ts';
import { nameOf, ONE_LINE_EXPECTED, ONE_LINE_PATTERN, type PropertiesOf } from '../schema.ts';

/** One port of a component. A field that is absent is not managed. */
export interface PortSpec {
  readonly port: number;
  readonly protocol?: PortProtocol;
  readonly alias?: string;
  readonly inner?: boolean;
  readonly outer?: boolean;
}

/** `spec:` of a `kind: Component` manifest, defaults filled in. */
export interface ComponentSpec {
  readonly application: string;
  /** Exactly one of `serviceId` and `from`. */
  readonly serviceId?: string;
  /** The component that an install made: exactly one match on its service key, k8s component name, alias or display name. */
  readonly from?: { readonly install: string; readonly component: string };
  /** `k8s_service_name`: one for all ports of the component. */
  readonly serviceName?: string;
  readonly ports: readonly PortSpec[];
  readonly unlistedPorts: 'keep' | 'close' | 'delete';
}

const portSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['port'],
  description: 'One port. A field that is absent is not managed.',
  properties: {
    port: {
      type: 'integer',
      minimum: 1,
      maximum: 65_535,
      description: 'Port number: `container_port` of the record, `port` of the request that adds it.',
    },
    protocol: {
      type: 'string',
      enum: ['tcp', 'http', 'mysql', 'grpc', 'udp'],
      description: 'Protocol: `protocol`. Set by the action `change_protocol`.',
    },
    alias: {
      type: 'string',
      pattern: '^[A-Z][A-Z0-9_]*$',
      maxLength: 64,
      description: 'Alias, a prefix of environment variables: `port_alias`. Set by the action `change_port_alias`.',
      'x-expected': 'capital letters, digits and _, at most 64, starting with a letter',
    },
    inner: {
      type: 'boolean',
      description: 'Access inside the cluster: `is_inner_service`. Set by the actions `open_inner` and `close_inner`.',
    },
    outer: {
      type: 'boolean',
      description:
        'Access from outside: `is_outer_service`. Set by the actions `open_outer` and `close_outer`. Needs inner access.',
    },
  } satisfies PropertiesOf<PortSpec>,
} as const;

/** JSON Schema of `ComponentSpec`. */
export const componentSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['application'],
  oneOf: [{ required: ['serviceId'] }, { required: ['from'] }],
  description: 'Ports of one component that exists on the platform. Creates and deletes ports, never the component.',
  properties: {
    application: nameOf('Application'),
    serviceId: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]+$',
      maxLength: 64,
      description: 'Component, by id: `service_id`, path parameter of every port request. Either this or `from`.',
      'x-expected': 'letters, digits, _ and -, at most 64 (usually 32 hexadecimal digits)',
    },
    from: {
      type: 'object',
      additionalProperties: false,
      required: ['install', 'component'],
      description:
        'Component, by the install that made it. Its `service_id` is looked up once and then fixed in the ledger. Either this or `serviceId`.',
      properties: {
        install: nameOf('StoreInstall'),
        component: {
          type: 'string',
          minLength: 1,
          maxLength: 128,
          pattern: ONE_LINE_PATTERN,
          description:
            'Component of the install, by its `service_key`, `k8s_component_name`, alias (`service_alias`) or display name (`service_cname`). Exactly one component must match.',
          'x-expected': ONE_LINE_EXPECTED,
        },
      },
    },
    serviceName: {
      type: 'string',
      pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
      maxLength: 63,
      description: 'Name inside the cluster: `k8s_service_name`. The platform keeps one for all ports of a component.',
      'x-expected': 'lower-case letters, digits and -, at most 63, starting with a letter and not ending in -',
    },
    ports: {
      type: 'array',
      maxItems: 1000,
      default: [],
      items: portSchema,
      description: 'Ports of the component, one entry per number.',
    },
    unlistedPorts: {
      type: 'string',
      enum: ['keep', 'close', 'delete'],
      default: 'keep',
      description:
        'Ports that are not in `ports`: keep them as they are, close their outer and inner access, or delete them (extended dialect). Counted as prunes. Ports that Portolan made are removed with their entry, whatever this says.',
    },
  } satisfies PropertiesOf<ComponentSpec>,
} as const;
