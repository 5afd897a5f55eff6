import { ADDRESS, CREATION_ONLY, type DialectEffect, type FieldEffect, inBoth, LOCAL } from '../field-effects.ts';
import { ruleFields } from './fields.ts';
import type { KindDeclaration } from '../kind.ts';
import { checkRule, foreseeRule, ruleIdentities } from './check.ts';
import { documentOf } from '../schema.ts';
import { type HttpGatewayRuleSpec, httpGatewayRuleSchema } from './spec.ts';

/** The documented dialect neither changes nor shows a rule. */
const UNSEEN: DialectEffect = { change: 'hold', readBack: 'never' };

/** The effects of the managed fields, and of the fields that identify the rule. */
const ruleEffects: readonly FieldEffect[] = [
  ...['application', 'component', 'port', 'domain', 'path'].map(
    (name): FieldEffect => ({ path: `spec.${name}`, documented: { ...ADDRESS, readBack: 'never' }, extended: ADDRESS }),
  ),
  ...ruleFields.map(
    ({ path, change, readBack }): FieldEffect => ({
      path: `spec.${path}`,
      documented: UNSEEN,
      extended: { change, readBack },
    }),
  ),
  // Sent as the number of the certificate.
  { path: 'spec.certificate', documented: UNSEEN, extended: { change: 'update', readBack: 'own listing' } },
  inBoth('spec.openOuter', CREATION_ONLY),
  inBoth('spec.onImmutableChange', LOCAL),
];

export const httpGatewayRuleDeclaration: KindDeclaration<HttpGatewayRuleSpec> = {
  kind: 'HttpGatewayRule',
  trust: 'manifest',
  effects: ruleEffects,
  specSchema: httpGatewayRuleSchema,
  examples: [
    documentOf('HttpGatewayRule', 'shop-www', {
      application: 'shop',
      component: 'shop-web',
      port: 8080,
      domain: 'www.shop.example.com',
      path: '/',
    }),
    documentOf('HttpGatewayRule', 'shop-api', {
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
    }),
    documentOf('HttpGatewayRule', 'shop-login', {
      application: 'shop',
      component: 'shop-web',
      port: 8080,
      domain: 'login.shop.example.com',
      path: '/',
      certificate: 'shop.example.com',
    }),
  ],
  references: { 'spec.application': 'Application', 'spec.component': 'Component' },
  check: checkRule,
  foresee: foreseeRule,
  identities: ruleIdentities,
};
