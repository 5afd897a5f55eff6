import type { KindDeclaration } from '../kind.ts';
import { checkStoreInstall, storeInstallIdentities } from './check.ts';
import { installEffects } from './effects.ts';
import { documentOf } from '../schema.ts';
import { type StoreInstallSpec, storeInstallSchema } from './spec.ts';

export const storeInstallDeclaration: KindDeclaration<StoreInstallSpec> = {
  kind: 'StoreInstall',
  trust: 'manifest',
  description: storeInstallSchema.description,
  effects: installEffects,
  specSchema: storeInstallSchema,
  examples: [
    documentOf(
      'StoreInstall',
      { name: 'shop-db' },
      {
        application: 'shop',
        store: 'main',
        model: { id: '0a1b2c', version: '8.0.36' },
        build: true,
        wait: { for: 'running', timeout: '10m' },
      },
    ),
    documentOf(
      'StoreInstall',
      { name: 'shop-db-copy' },
      { application: 'shop', store: 'main', model: { id: '0a1b2c', version: '8.0.36' }, allowSecondCopy: true },
    ),
  ],
  references: (spec) => [
    { path: 'spec.application', to: `Application/${spec.application}`, trust: 'manifest' },
    { path: 'spec.store', to: `Store/${spec.store}`, trust: 'operator' },
  ],
  check: checkStoreInstall,
  identities: storeInstallIdentities,
};
