import type { KindDeclaration } from '../kind.ts';
import { applicationIdentities } from './check.ts';
import { applicationEffects } from './effects.ts';
import { applicationExamples } from './examples.ts';
import { type ApplicationSpec, applicationSchema } from './spec.ts';

export const applicationDeclaration: KindDeclaration<ApplicationSpec> = {
  kind: 'Application',
  trust: 'manifest',
  description: applicationSchema.description,
  effects: applicationEffects,
  specSchema: applicationSchema,
  examples: applicationExamples,
  references: (spec) => [{ path: 'spec.platform', to: `Platform/${spec.platform}`, trust: 'operator' }],
  check: () => [],
  identities: applicationIdentities,
};
