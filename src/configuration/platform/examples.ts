import type { JsonObject } from '../../model/json.ts';
import { API_VERSION } from '../../kinds/schema.ts';

/** Documents of this kind that show every field there is; the first is the one to begin with. */
export const platformExamples: readonly JsonObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'Platform',
    metadata: { name: 'default' },
    spec: {
      url: 'https://console.example.com',
      auth: { header: 'Authorization', value: { env: 'PORTOLAN_TOKEN' } },
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'Platform',
    metadata: { name: 'lab' },
    spec: {
      url: 'http://console.lab.example.com',
      auth: { header: 'Authorization', value: { file: '/run/secrets/platform-token' } },
      dialect: 'documented',
      tls: { caFile: '/etc/portolan/ca.pem' },
      limits: { concurrency: 16, requestsPerSecond: 50, timeout: '30s' },
      allowPlainHttp: true,
    },
  },
];
