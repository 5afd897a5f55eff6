import type { KindDeclaration } from '../../kinds/kind.ts';
import { checkStore } from './check.ts';
import { storeExamples } from './examples.ts';
import { type StoreSpec, storeSchema } from './spec.ts';

export const storeDeclaration: KindDeclaration<StoreSpec> = {
  kind: 'Store',
  trust: 'operator',
  description: storeSchema.description,
  effects: [],
  specSchema: storeSchema,
  examples: storeExamples,
  references: () => [],
  check: checkStore,
  identities: () => [],
};
