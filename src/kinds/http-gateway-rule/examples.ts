import type { JsonObject } from '../../model/json.ts';
import { API_VERSION } from '../schema.ts';

/** Documents of this kind that show every field there is; the first is the one to begin with. */
export const httpGatewayRuleExamples: readonly JsonObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'HttpGatewayRule',
    metadata: { name: 'shop-www' },
    spec: { application: 'shop', component: 'shop-web', port: 8080, domain: 'www.shop.example.com', path: '/' },
  },
  {
    apiVersion: API_VERSION,
    kind: 'HttpGatewayRule',
    metadata: { name: 'shop-api' },
    spec: {
      application: 'shop',
      component: 'shop-web',
      port: 8080,
      domain: 'api.shop.example.com',
      path: '/v1',
      weight: 100,
      cookie: 'beta=1',
      header: 'X-Beta=1',
      certificateId: 7,
      autoSsl: { enabled: true, config: 'default' },
      extensions: [{ key: 'httptohttps', value: 'true' }],
      openOuter: true,
      configuration: {
        proxyBodySize: 10,
        proxyBufferNumbers: 4,
        proxyBufferSize: 4,
        proxyBuffering: 'off',
        proxyConnectTimeout: 60,
        proxyReadTimeout: 60,
        proxySendTimeout: 60,
        setHeaders: [{ key: 'X-Env', value: 'prod' }],
      },
      onImmutableChange: 'recreate',
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'HttpGatewayRule',
    metadata: { name: 'shop-login' },
    spec: {
      application: 'shop',
      component: 'shop-web',
      port: 8080,
      domain: 'login.shop.example.com',
      path: '/',
      certificate: 'shop.example.com',
    },
  },
];
