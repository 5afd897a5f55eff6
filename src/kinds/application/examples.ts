import type { JsonObject } from '../../model/json.ts';
import { API_VERSION } from '../schema.ts';

/** Documents of this kind that show every field there is; the first is the one to begin with. */
export const applicationExamples: readonly JsonObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'Application',
    metadata: { name: 'shop', labels: { env: 'prod' } },
    spec: { team: 'team-a', region: 'region-1', appId: 42 },
  },
  {
    apiVersion: API_VERSION,
    kind: 'Application',
    metadata: { name: 'shop' },
    spec: {
      platform: 'default',
      team: 'team-a',
      region: 'region-1',
      app: 'shop',
      health: [{ series: 'request_time', component: 'shop-web', over: '5m', min: 1, max: 250 }],
    },
  },
];
