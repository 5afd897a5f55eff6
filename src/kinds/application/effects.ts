import { ADDRESS, type FieldEffect, inBoth, LOCAL } from '../field-effects.ts';

/** An Application is the address of the others: nothing of it is written to the platform. */
export const applicationEffects: readonly FieldEffect[] = [
  ...['platform', 'team', 'region', 'appId', 'app'].map((name) => inBoth(`spec.${name}`, ADDRESS)),
  inBoth('spec.health', LOCAL),
];
