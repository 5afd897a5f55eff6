import type { KindDeclaration } from '../kind.ts';
import { checkStoreInstall, storeInstallIdentities } from './check.ts';
import { installEffects } from './effects.ts';
import { storeInstallExamples } from './examples.ts';
import { type StoreInstallSpec, storeInstallSchema } from './spec.ts';

export const storeInstallDeclaration: KindDeclaration<StoreInstallSpec> = {
  kind: 'StoreInstall',
  trust: 'manifest',
  description: storeInstallSchema.description,
  effects: installEffects,
  specSchema: storeInstallSchema,
  examples: storeInstallExamples,
  references: (spec) => [
    { path: 'spec.application', to: `Application/${spec.application}`, trust: 'manifest' },
    { path: 'spec.store', to: `Store/${spec.store}`, trust: 'operator' },
  ],
  check: checkStoreInstall,
  identities: storeInstallIdentities,
};
