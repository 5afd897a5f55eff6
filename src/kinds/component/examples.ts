import type { JsonObject } from '../../model/json.ts';
import { API_VERSION } from '../schema.ts';

/** Documents of this kind that show every field there is; the first is the one to begin with. */
export const componentExamples: readonly JsonObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'Component',
    metadata: { name: 'shop-web' },
    spec: {
      application: 'shop',
      serviceId: '6f3c1d5e8a9b40c7a2e4d6f8091b3c5d',
      serviceName: 'shop-web',
      ports: [
        { port: 8080, protocol: 'http', alias: 'WEB', inner: true, outer: true },
        { port: 9000, protocol: 'grpc', alias: 'RPC', inner: true, outer: false },
      ],
      unlistedPorts: 'keep',
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'Component',
    metadata: { name: 'shop-db' },
    spec: {
      application: 'shop',
      from: { install: 'shop-db', component: 'mysql' },
      ports: [{ port: 3306, protocol: 'mysql', alias: 'DB', inner: true, outer: false }],
    },
  },
];
