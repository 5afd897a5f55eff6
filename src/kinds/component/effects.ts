import { ADDRESS, type FieldEffect, inBoth, LOCAL, UPDATE } from '../field-effects.ts';

/** Ports are updated field by field, and their listing shows each field. */
export const componentEffects: readonly FieldEffect[] = [
  ...['application', 'serviceId', 'from'].map((name) => inBoth(`spec.${name}`, ADDRESS)),
  inBoth('spec.serviceName', UPDATE),
  inBoth('spec.ports[].port', ADDRESS),
  ...['protocol', 'alias', 'inner', 'outer'].map((name) => inBoth(`spec.ports[].${name}`, UPDATE)),
  // It says what becomes of other ports, by the rules of pruning.
  inBoth('spec.unlistedPorts', LOCAL),
];
