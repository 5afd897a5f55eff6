import { arrayOf, boolean, choice, integer, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { nameOf, ONE_LINE, PORT_RULES } from '../schema.ts';

/** Maximum number of ports in a manifest. */
export const PORTS_MAX = 1000;

export const portSchema = objectOf('One port. A field that is absent is not managed.', {
  port: integer('Port number: `container_port` of the record, `port` of the request that adds it.', PORT_RULES),
  'protocol?': choice('Protocol: `protocol`. Set by the action `change_protocol`.', [
    'tcp',
    'http',
    'mysql',
    'grpc',
    'udp',
  ]),
  'alias?': string('Alias, a prefix of environment variables: `port_alias`. Set by the action `change_port_alias`.', {
    pattern: '^[A-Z][A-Z0-9_]*$',
    maxLength: 64,
    'x-expected': 'capital letters, digits and _, at most 64, starting with a letter',
  }),
  'inner?': boolean(
    'Access inside the cluster: `is_inner_service`. Set by the actions `open_inner` and `close_inner`.',
  ),
  'outer?': boolean(
    'Access from outside: `is_outer_service`. Set by the actions `open_outer` and `close_outer`. Needs inner access.',
  ),
});

/** One port of a component. A field that is absent is not managed. */
export type PortSpec = TypeOf<typeof portSchema>;

const fromSchema = objectOf(
  'Component, by the install that made it. Its `service_id` is looked up once and then fixed in the ledger. Either this or `serviceId`.',
  {
    install: nameOf('StoreInstall'),
    component: string(
      'Component of the install, by its `service_key`, `k8s_component_name`, alias (`service_alias`) or display name (`service_cname`). Exactly one component must match.',
      { minLength: 1, maxLength: 128, ...ONE_LINE },
    ),
  },
);

/** JSON Schema of `spec:` of a `kind: Component` manifest. */
export const componentSchema = objectOf(
  'Ports of one component that exists on the platform. Creates and deletes ports, never the component.',
  {
    application: nameOf('Application'),
    'serviceId?': string(
      'Component, by id: `service_id`, path parameter of every port request. Either this or `from`.',
      {
        pattern: '^[A-Za-z0-9_-]+$',
        maxLength: 64,
        'x-expected': 'letters, digits, _ and -, at most 64 (usually 32 hexadecimal digits)',
      },
    ),
    'from?': fromSchema,
    'serviceName?': string(
      'Name inside the cluster: `k8s_service_name`. The platform keeps one for all ports of a component.',
      {
        pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
        maxLength: 63,
        'x-expected': 'lower-case letters, digits and -, at most 63, starting with a letter and not ending in -',
      },
    ),
    ports: arrayOf(portSchema, {
      maxItems: PORTS_MAX,
      default: [],
      description: 'Ports of the component, one entry per number.',
    }),
    unlistedPorts: choice(
      'Ports that are not in `ports`: keep them as they are, close their outer and inner access, or delete them (extended dialect). Counted as prunes. Ports that Portolan made are removed with their entry, whatever this says.',
      ['keep', 'close', 'delete'],
      { default: 'keep' },
    ),
  },
  { oneOf: [{ required: ['serviceId'] }, { required: ['from'] }] },
);

/** A spec with its defaults filled in. */
export type ComponentSpec = TypeOf<typeof componentSchema>;
