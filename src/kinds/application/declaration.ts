import { ADDRESS, type FieldEffect, inBoth, LOCAL } from '../field-effects.ts';
import type { KindDeclaration } from '../kind.ts';
import { applicationIdentities, foreseeApplication } from './check.ts';
import { documentOf } from '../schema.ts';
import { type ApplicationSpec, applicationSchema } from './spec.ts';

/** An Application is the address of the others: nothing of it is written to the platform. */
const applicationEffects: readonly FieldEffect[] = [
  ...['platform', 'team', 'region', 'appId', 'app'].map((name) => inBoth(`spec.${name}`, ADDRESS)),
  inBoth('spec.health', LOCAL),
];

export const applicationDeclaration: KindDeclaration<ApplicationSpec> = {
  kind: 'Application',
  trust: 'manifest',
  effects: applicationEffects,
  specSchema: applicationSchema,
  examples: [
    documentOf('Application', 'shop', { team: 'team-a', region: 'region-1', appId: 42 }, { env: 'prod' }),
    documentOf('Application', 'shop', {
      platform: 'default',
      team: 'team-a',
      region: 'region-1',
      app: 'shop',
      health: [{ series: 'request_time', component: 'shop-web', over: '5m', min: 1, max: 250 }],
    }),
  ],
  references: { 'spec.platform': 'Platform' },
  foresee: foreseeApplication,
  identities: applicationIdentities,
};
