import { ADDRESS, type FieldEffect, inBoth, LOCAL, UPDATE } from '../field-effects.ts';
import type { KindDeclaration } from '../kind.ts';
import { checkComponent, componentIdentities } from './check.ts';
import { documentOf } from '../schema.ts';
import { type ComponentSpec, componentSchema } from './spec.ts';

/** Each field of a port is updated by itself, and the listing of ports shows it. */
const componentEffects: readonly FieldEffect[] = [
  ...['application', 'serviceId', 'from'].map((name) => inBoth(`spec.${name}`, ADDRESS)),
  inBoth('spec.serviceName', UPDATE),
  inBoth('spec.ports[].port', ADDRESS),
  ...['protocol', 'alias', 'inner', 'outer'].map((name) => inBoth(`spec.ports[].${name}`, UPDATE)),
  // It decides about unlisted ports, by the rules of pruning.
  inBoth('spec.unlistedPorts', LOCAL),
];

export const componentDeclaration: KindDeclaration<ComponentSpec> = {
  kind: 'Component',
  trust: 'manifest',
  effects: componentEffects,
  specSchema: componentSchema,
  examples: [
    documentOf('Component', 'shop-web', {
      application: 'shop',
      serviceId: '6f3c1d5e8a9b40c7a2e4d6f8091b3c5d',
      serviceName: 'shop-web',
      ports: [
        { port: 8080, protocol: 'http', alias: 'WEB', inner: true, outer: true },
        { port: 9000, protocol: 'grpc', alias: 'RPC', inner: true, outer: false },
      ],
      unlistedPorts: 'keep',
    }),
    documentOf('Component', 'shop-db', {
      application: 'shop',
      from: { install: 'shop-db', component: 'mysql' },
      ports: [{ port: 3306, protocol: 'mysql', alias: 'DB', inner: true, outer: false }],
    }),
  ],
  references: { 'spec.application': 'Application', 'spec.from.install': 'StoreInstall' },
  check: checkComponent,
  identities: componentIdentities,
};
