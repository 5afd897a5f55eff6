import type { JsonObject } from '../../model/json.ts';
import { API_VERSION } from '../schema.ts';

/** Documents of this kind that show every field there is; the first is the one to begin with. */
export const storeInstallExamples: readonly JsonObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'StoreInstall',
    metadata: { name: 'shop-db' },
    spec: {
      application: 'shop',
      store: 'main',
      model: { id: '0a1b2c', version: '8.0.36' },
      build: true,
      wait: { for: 'running', timeout: '10m' },
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'StoreInstall',
    metadata: { name: 'shop-db-copy' },
    spec: { application: 'shop', store: 'main', model: { id: '0a1b2c', version: '8.0.36' }, allowSecondCopy: true },
  },
];
