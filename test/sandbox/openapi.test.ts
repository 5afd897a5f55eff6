import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/sandbox/openapi.ts';
import { matchRoute, routes } from '../../src/sandbox/routes.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { lintOpenApi } from '../support/openapi-lint.ts';
import { ask, Bench, shopPath, startTestSandbox, webPorts } from './support.ts';

const dialects: readonly Dialect[] = ['documented', 'extended'];

test.for(dialects)('the document of the %s dialect is valid OpenAPI 3.1', async (dialect) => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(openApiDocument(dialect)));
  expect(result).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test.for(dialects)('a linter finds nothing against the document of the %s dialect', async (dialect) => {
  expect(await lintOpenApi(openApiDocument(dialect))).toEqual([]);
});

test.for(dialects)('it describes every route of the %s dialect and nothing else', (dialect) => {
  const described = Object.entries(openApiDocument(dialect)['paths'] as Record<string, object>).flatMap(
    ([path, item]) =>
      Object.keys(item)
        .filter((key) => key !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const handled = routes[dialect].map((route) => `${route.method} ${route.template}`);
  expect(described.toSorted()).toEqual(handled.toSorted());
});

test('it is served beside the API, without a token and uncounted', async () => {
  const sandbox = await startTestSandbox();
  for (const path of ['/openapi/v1/openapi.json', '/_sandbox/openapi.json']) {
    const answer = await fetch(sandbox.url + path);
    expect(await answer.json()).toEqual(openApiDocument('extended'));
  }
  expect(sandbox.requests()).toEqual([]);
  await sandbox.close();
});

const rule = { service_id: demo.webServiceId, container_port: 8080, domain_name: 'www.shop.example.com' };
const install = {
  market_url: demo.storeUrl,
  market_domain: demo.storeDomain,
  market_type: demo.storeType,
  market_access_key: null,
  app_model_id: demo.redisModelId,
  app_model_version: '7.2.4',
};
const upgrade = {
  update_versions: [{ market_name: null, app_model_id: demo.redisModelId, app_model_version: '7.4.0' }],
};
const teamApps = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps`;

/** One run through every operation, good and bad. `$rule` is the id of the latest rule. */
const tour: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/openapi/v1/regions'],
  ['GET', ''],
  ['GET', `${shopPath}9`],
  ['GET', teamApps],
  ['POST', teamApps, { app_name: 'docs' }],
  ['GET', 'services'],
  ['GET', `services/${demo.webServiceId}`],
  ['GET', webPorts],
  ['POST', webPorts, { port: '9000', protocol: 'grpc', port_alias: 'RPC', is_inner_service: true }],
  ['POST', webPorts, { port: 9000, protocol: 'grpc', is_inner_service: true }],
  ['POST', webPorts, {}],
  ['PUT', `${webPorts}/8080`, { action: 'open_outer' }],
  ['PUT', `${webPorts}/9000`, { action: 'open_outer' }],
  ['PUT', `${webPorts}/8080`, { action: 'close_inner' }],
  ['PUT', `${webPorts}/8080`, { action: 'change_port_alias', port_alias: 'WEB' }],
  ['PUT', `${webPorts}/9000`, { action: 'close_inner' }],
  ['DELETE', `${webPorts}/9000`],
  ['GET', 'httpdomains'],
  ['GET', '/openapi/v1/httpdomains'],
  ['POST', 'httpdomains', rule],
  ['POST', 'httpdomains', rule],
  ['POST', 'httpdomains', { ...rule, service_id: 'nobody' }],
  ['GET', 'httpdomains/$rule'],
  ['GET', 'httpdomains/unknown'],
  ['GET', 'domains'],
  ['GET', 'domains?query=tcp'],
  ['PUT', 'httpdomains/$rule', { ...rule, the_weight: 50 }],
  ['PUT', 'httpdomains/$rule', { ...rule, whether_open: true }],
  ['DELETE', 'httpdomains/$rule'],
  ['DELETE', 'httpdomains/$rule'],
  ['POST', 'install?is_deploy=true', install],
  ['POST', 'install', { ...install, app_model_id: 'unknown' }],
  ['GET', 'upgrade'],
  ['POST', 'upgrade', upgrade],
  ['GET', 'monitor/query_range?start=1763600000&end=1763600600&step=60'],
  ['GET', 'monitor/query_range?start=1763600000&end=1763600600&is_outer=true'],
  ['GET', 'monitor/query_range'],
  ['GET', 'monitor/query'],
  [
    'GET',
    `/openapi/v1/monitor/query_range?region_name=${demo.region}&query=app_request&start=1763600000&end=1763600600&step=60`,
  ],
  ['GET', `/openapi/v1/monitor/query_range?region_name=${demo.region}&query=(&start=1763600000&end=1763600600&step=60`],
  ['GET', '/openapi/v1/monitor/query_range?region_name=nowhere'],
  ['GET', `/openapi/v1/teams/${demo.team}/regions`],
  ['GET', `/openapi/v1/teams/${demo.team}/regions?query=x`],
  ['GET', `/openapi/v1/teams/${demo.team}/certificates`],
  ['GET', `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps_port`],
  ['POST', `services/${demo.webServiceId}/build`, {}],
  ['GET', `services/${demo.webServiceId}/events`],
  ['GET', `/openapi/v1/teams/${demo.team}/regions/${demo.region}/events/unknown/logs`],
];

test.for(dialects)('every answer of the %s dialect is as described', (dialect) => {
  const document = openApiDocument(dialect);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: 'api', ...document });
  const bench = new Bench(undefined, dialect);
  const seen = new Set<string>();
  let ruleId = 'none';
  for (const [method, rawPath, body] of tour) {
    const path = rawPath.replace('$rule', ruleId);
    const answer = bench.ask(method, path, body);
    if (typeof answer.body.http_rule_id === 'string') ruleId = answer.body.http_rule_id || ruleId;
    const absolute = (path.startsWith('/') ? path : `${shopPath}${path && `/${path}`}`).split('?')[0] ?? '';
    const match = matchRoute(dialect, method, absolute);
    if (match.type !== 'route') {
      expect([404, 405]).toContain(answer.status);
      continue;
    }
    seen.add(match.route.operation);
    const status = answer.status < 300 ? String(answer.status) : 'default';
    const pointer = [match.route.template, match.route.method.toLowerCase(), 'responses', status]
      .map(escaped)
      .join('/');
    const validate = ajv.getSchema(`api#/paths/${pointer}/content/application~1json/schema`);
    expect(validate, `${method} ${path} ${status} is described`).toBeDefined();
    void validate?.(answer.body);
    expect(validate?.errors ?? [], `${method} ${path} ${answer.status}`).toEqual([]);
  }
  expect([...seen].toSorted()).toEqual(routes[dialect].map((route) => route.operation).toSorted());
});

function escaped(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}

test('a sandbox of the documented dialect serves the smaller document', async () => {
  const sandbox = await startTestSandbox({ dialect: 'documented' });
  const { body } = await ask(sandbox, 'GET', '/openapi/v1/openapi.json');
  expect(Object.keys(body.paths)).toHaveLength(7);
  await sandbox.close();
});
