import type { JsonObject } from '../../model/json.ts';
import { API_VERSION } from '../../kinds/schema.ts';

/** Documents of this kind that show every field there is; the first is the one to begin with. */
export const storeExamples: readonly JsonObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'Store',
    metadata: { name: 'main' },
    spec: {
      url: 'https://store.example.com',
      domain: 'market-1',
      type: 'rainstore',
      accessKey: { env: 'STORE_ACCESS_KEY' },
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'Store',
    metadata: { name: 'lab' },
    spec: {
      url: 'http://store.lab.example.com',
      domain: 'market-1',
      type: 'rainstore',
      accessKey: { file: '/run/secrets/store-key' },
      allowPlainHttp: true,
    },
  },
];
