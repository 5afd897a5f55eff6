import type { KindDeclaration } from '../../kinds/kind.ts';
import { checkPlatform } from './check.ts';
import { platformExamples } from './examples.ts';
import { type PlatformSpec, platformSchema } from './spec.ts';

export const platformDeclaration: KindDeclaration<PlatformSpec> = {
  kind: 'Platform',
  trust: 'operator',
  description: platformSchema.description,
  defaultName: 'default',
  effects: [],
  specSchema: platformSchema,
  examples: platformExamples,
  references: () => [],
  check: checkPlatform,
  identities: () => [],
};
