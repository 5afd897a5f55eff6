import { listEndpoints, listPorts } from '../../src/kinds/component/readings.ts';
import { getRule, listAllRules, listRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { eventLog, listBuilds, listInstalled } from '../../src/kinds/store-install/readings.ts';
import { createApplication } from '../../src/kinds/application/requests.ts';
import * as ports from '../../src/kinds/component/requests.ts';
import * as rules from '../../src/kinds/http-gateway-rule/requests.ts';
import * as installs from '../../src/kinds/store-install/requests.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PortolanError } from '../../src/model/errors.ts';
import { Secret } from '../../src/model/secret.ts';
import { addressOf } from '../../src/platform/address.ts';
import * as readings from '../../src/platform/readings.ts';
import { hashOf, writeRequest } from '../../src/platform/requests.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { everyWrite } from './every-write.ts';
import type { RuleFields } from '../../src/kinds/http-gateway-rule/wire.ts';

const app = { team: 'team-a', region: 'region-1', appId: 42 };
const at = '/openapi/v1/teams/team-a/regions/region-1/apps/42';
const id = 'a'.repeat(32);
const port = { port: 8080, protocol: 'http', alias: 'WEB', inner: true } as const;
const rule = { serviceId: id, port: 8080, domain: 'www.shop.example.com', path: '/' } as const;
const accessKey = new Secret('store-key', 'env STORE_KEY');
const store = { url: 'https://store.example.com', domain: 'market-1', type: 'rainstore', accessKey };
const install = installs.install({ app, build: true, store, modelId: '0a1b', modelVersion: '8.0.36' });

function addPort(change: Partial<Record<keyof ports.PortRequestFields, unknown>>): WriteRequest {
  return ports.addPort({ app, serviceId: id, port: { ...port, ...change } as ports.PortRequestFields });
}
function updatePort(change: Record<string, unknown>): WriteRequest {
  return ports.updatePort({ app, serviceId: id, port: 8080, change: change as unknown as ports.PortActionFields });
}
function createRule(change: Partial<Record<keyof RuleFields, unknown>>): WriteRequest {
  return rules.createRule({ app, rule: { ...rule, ...change } as RuleFields });
}
function updateRule(change: Partial<Record<keyof RuleFields, unknown>>): WriteRequest {
  return rules.updateRule({ app, ruleId: 'r1', rule: { ...rule, ...change } as RuleFields });
}

const ruleBody = { service_id: id, container_port: 8080, domain_name: 'www.shop.example.com', domain_path: '/' };

test.for([
  [
    'addPort',
    addPort({}),
    'POST',
    `${at}/services/${id}/ports`,
    { port: '8080', protocol: 'http', port_alias: 'WEB', is_inner_service: true },
  ],
  [
    'addPort without an alias',
    ports.addPort({ app, serviceId: id, port: { port: 1, protocol: 'udp', inner: false } }),
    'POST',
    `${at}/services/${id}/ports`,
    { port: '1', protocol: 'udp', is_inner_service: false },
  ],
  [
    'open_outer',
    updatePort({ action: 'open_outer' }),
    'PUT',
    `${at}/services/${id}/ports/8080`,
    { action: 'open_outer' },
  ],
  [
    'change_protocol',
    updatePort({ action: 'change_protocol', protocol: 'grpc' }),
    'PUT',
    `${at}/services/${id}/ports/8080`,
    { action: 'change_protocol', protocol: 'grpc' },
  ],
  [
    'change_port_alias, always with the service name',
    updatePort({ action: 'change_port_alias', alias: 'OPS', serviceName: 'web-svc' }),
    'PUT',
    `${at}/services/${id}/ports/8080`,
    { action: 'change_port_alias', port_alias: 'OPS', k8s_service_name: 'web-svc' },
  ],
  [
    'deletePort',
    ports.deletePort({ app, serviceId: id, port: 8080 }),
    'DELETE',
    `${at}/services/${id}/ports/8080`,
    undefined,
  ],
  ['createRule', createRule({}), 'POST', `${at}/httpdomains`, ruleBody],
  ['updateRule', updateRule({}), 'PUT', `${at}/httpdomains/r1`, ruleBody],
  ['deleteRule', rules.deleteRule({ app, ruleId: 'r1' }), 'DELETE', `${at}/httpdomains/r1`, undefined],
  [
    'upgrade',
    installs.upgrade({ app, modelId: 'm', modelVersion: '2', marketName: null }),
    'POST',
    `${at}/upgrade`,
    { update_versions: [{ app_model_id: 'm', app_model_version: '2', market_name: null }] },
  ],
  [
    'createApplication',
    createApplication({ team: '团队', region: 'a/b', name: 'shop', k8sApp: 'shop' }),
    'POST',
    '/openapi/v1/teams/%E5%9B%A2%E9%98%9F/regions/a%2Fb/apps',
    { app_name: 'shop', k8s_app: 'shop' },
  ],
] as const)('%s', ([, write, method, path, body]) => {
  const request = writeRequest(write);
  expect([request.method, request.path, request.body, request.query]).toEqual([method, path, body, {}]);
  expect([request.isRead, request.timeoutMs]).toEqual([false, write.operation === 'upgrade' ? 900_000 : 90_000]);
});

test('a rule travels with every field that is present, and with no other', () => {
  const full: RuleFields = {
    ...rule,
    path: '/api',
    certificateId: 3,
    cookie: 'a=b',
    header: 'x=y',
    weight: 30,
    extensions: [{ key: 'httptohttps', value: 'true' }],
    open: true,
    autoSsl: true,
    autoSslConfig: 'acme',
    configuration: {
      proxyBodySize: 10,
      proxyBufferNumbers: 4,
      proxyBufferSize: 8,
      proxyBuffering: 'off',
      proxyConnectTimeout: 5,
      proxyReadTimeout: 60,
      proxySendTimeout: 60,
      setHeaders: [{ key: 'X-Env', value: 'prod' }],
    },
  };
  const shared = {
    ...ruleBody,
    domain_path: '/api',
    certificate_id: 3,
    domain_cookie: 'a=b',
    the_weight: 30,
    rule_extensions: [{ key: 'httptohttps', value: 'true' }],
    auto_ssl: true,
    auto_ssl_config: 'acme',
    configuration: {
      proxy_body_size: 10,
      proxy_buffer_numbers: 4,
      proxy_buffer_size: 8,
      proxy_buffering: 'off',
      proxy_connect_timeout: 5,
      proxy_read_timeout: 60,
      proxy_send_timeout: 60,
      set_headers: [{ key: 'X-Env', value: 'prod' }],
    },
  };
  expect(writeRequest(createRule(full)).body).toEqual({
    ...shared,
    domain_header: 'x=y',
    whether_open: true,
  });
  // A real server answers 500 to these two in a PUT.
  expect(writeRequest(updateRule(full)).body).toEqual(shared);
  expect(writeRequest(createRule(full), () => false).body).toMatchObject({ rule_extensions: ['httptohttps:true'] });
});

test('empty texts and the certificate 0 are left out: the server refuses "" and null', () => {
  const blank = { cookie: '', header: '', autoSslConfig: '', certificateId: 0 };
  expect(writeRequest(createRule(blank)).body).toEqual(ruleBody);
});

test('an install builds only where the parameter is present, whatever its value', () => {
  const built = writeRequest(install);
  expect([built.path, built.query, built.timeoutMs]).toEqual([`${at}/install`, { is_deploy: 'true' }, 900_000]);
  expect(built.body).toEqual({
    market_url: 'https://store.example.com',
    market_domain: 'market-1',
    market_type: 'rainstore',
    market_access_key: accessKey,
    app_model_id: '0a1b',
    app_model_version: '8.0.36',
  });
  expect(writeRequest(installs.install({ ...install, build: false })).query).toEqual({});
  const open = installs.install({ ...install, store: { ...store, accessKey: null } });
  expect(writeRequest(open).body).toMatchObject({ market_access_key: null });
});

const domains = [
  '',
  ' ',
  'a b.example.com',
  'a..b',
  '-a.example.com',
  'a-.example.com',
  'exämple.com',
  'a.*.com',
  'x_y.com',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(65)}com`,
  'a.com.',
  'http://a.com',
  'a.com/x',
  '*.',
];
const wrong: readonly (readonly [string, WriteRequest])[] = [
  ...[0, 65_536, 1.5, -1, Number.NaN, '80'].map((value) => [`port ${value}`, addPort({ port: value })] as const),
  ...['HTTP', 'ftp', '', 'constructor'].map((value) => [`protocol ${value}`, addPort({ protocol: value })] as const),
  ...['', 'web', '1WEB', 'WEB-1', '_WEB', `A${'B'.repeat(64)}`, 'WEB\n'].map(
    (value) => [`alias ${JSON.stringify(value)}`, addPort({ alias: value })] as const,
  ),
  ...['explode', '', 'only_open_outer'].map((value) => [`action ${value}`, updatePort({ action: value })] as const),
  ...['', 'Web', '1web', 'web-', 'a'.repeat(64), 'web_1'].map(
    (value) =>
      [`service name ${value}`, updatePort({ action: 'change_port_alias', alias: 'A', serviceName: value })] as const,
  ),
  ...domains.map((value) => [`domain ${value}`, createRule({ domain: value })] as const),
  ...['', 'api', '/a b', '/a\n', '/\u0000'].map(
    (value) => [`path ${JSON.stringify(value)}`, createRule({ path: value })] as const,
  ),
  ...['', 'a b', '__import__("os")', 'a:b', 'x'.repeat(33), 'ключ'].map(
    (value) => [`extension ${value}`, createRule({ extensions: [{ key: 'k', value }] })] as const,
  ),
  ['header name', createRule({ configuration: { setHeaders: [{ key: 'X Env', value: 'a' }] } })],
  ['header value', createRule({ configuration: { setHeaders: [{ key: 'X-Env', value: 'a\r\nB: c' }] } })],
  ['empty header value', createRule({ configuration: { setHeaders: [{ key: 'X-Env', value: '' }] } })],
  ['buffering', createRule({ configuration: { proxyBuffering: 'maybe' } })],
  ['timeout', createRule({ configuration: { proxyReadTimeout: -1 } })],
  ['weight', createRule({ weight: 1.5 })],
  ['certificate', createRule({ certificateId: -1 })],
  ['cookie', createRule({ cookie: 'a\u0007' })],
  ['component id', createRule({ serviceId: '../x' })],
  ['rule id', rules.deleteRule({ app, ruleId: '../x' })],
  ['application id', rules.deleteRule({ app: { ...app, appId: 0 }, ruleId: 'r1' })],
  ['team', rules.deleteRule({ app: { ...app, team: '..' }, ruleId: 'r1' })],
  ['empty region', rules.deleteRule({ app: { ...app, region: '' }, ruleId: 'r1' })],
  ['half a character', rules.deleteRule({ app: { ...app, region: '\ud800' }, ruleId: 'r1' })],
  ['store address', installs.install({ ...install, store: { ...store, url: 'file:///etc/passwd' } })],
  [
    'store address with a password',
    installs.install({ ...install, store: { ...store, url: 'https://u:p@store.example.com' } }),
  ],
  ['model id', installs.install({ ...install, modelId: '' })],
  [
    'access key',
    installs.install({ ...install, store: { ...store, accessKey: new Secret('k'.repeat(65), 'env STORE_KEY') } }),
  ],
  ['k8s name', createApplication({ team: 't', region: 'r', name: 'n', k8sApp: 'Shop' })],
];

test.for(wrong)('%s that is no documented value is refused', ([, write]) => {
  let thrown: unknown;
  try {
    writeRequest(write);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(PortolanError);
  expect(thrown).toMatchObject({ code: 'platform/invalid-request', disposition: 'invalid' });
  expect((thrown as PortolanError).message).toContain('Nothing was sent');
  expect((thrown as PortolanError).message).not.toContain('kkkk');
});

test.for([
  'a.com',
  'A.Example.COM',
  '*.shop.example.com',
  'xn--fa-hia.de',
  '1.2.3.4',
  'localhost',
  `${'a'.repeat(63)}.com`,
])('the domain %s is accepted as it is', (domain) => {
  expect(writeRequest(createRule({ domain })).body).toMatchObject({ domain_name: domain });
});

test('a hash says which request it is, and nothing of its secrets', () => {
  const request = writeRequest(install);
  expect(hashOf(request)).toMatch(/^[0-9a-f]{64}$/);
  const otherKey = installs.install({ ...install, store: { ...store, accessKey: new Secret('another', 'file k') } });
  expect(hashOf(writeRequest(otherKey))).toBe(hashOf(request));
  for (const other of [
    installs.install({ ...install, modelVersion: '9' }),
    installs.install({ ...install, build: false }),
    installs.install({ ...install, app: { ...app, appId: 43 } }),
  ]) {
    expect(hashOf(writeRequest(other))).not.toBe(hashOf(request));
  }
  expect(hashOf(writeRequest(rules.deleteRule({ app, ruleId: 'r1' })))).not.toBe(hashOf(writeRequest(updateRule({}))));
});

test('whatever the names, a path stays under the API and gives its segments back', () => {
  const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(name, name, fc.integer({ min: 1 }), (team, region, appId) => {
      let path: string;
      try {
        path = addressOf({ team, region, appId }, undefined, ['services', id, 'ports']);
      } catch (error) {
        expect(error).toBeInstanceOf(PortolanError);
        return;
      }
      const url = new URL(path, 'https://console.example.com');
      expect([url.origin, url.pathname, url.search, url.hash]).toEqual(['https://console.example.com', path, '', '']);
      const segments = ['teams', team, 'regions', region, 'apps', String(appId), 'services', id, 'ports'];
      expect(path.split('/').map(decodeURIComponent)).toEqual(['', 'openapi', 'v1', ...segments]);
    }),
    { numRuns: 500 },
  );
});

test('every write has a timeout of its own, and every read but the status of an application takes the operator’s', () => {
  const ofKinds = [listPorts(id), listEndpoints, listRules, listAllRules, getRule('r'), listInstalled, listBuilds(id)];
  const reads = [...Object.values(readings), ...ofKinds, eventLog('e')];
  for (const { operation, timeoutMs } of reads)
    expect([operation, timeoutMs === undefined]).toEqual([operation, operation !== 'getApplication']);
  for (const write of everyWrite) {
    const { method, timeoutMs } = writeRequest(write);
    const isInstall = write.operation === 'install' || write.operation === 'upgrade';
    expect([write.operation, timeoutMs]).toEqual([write.operation, isInstall ? 900_000 : 90_000]);
    expect(method).not.toBe('GET');
  }
});
