import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { Bench, shopPath, webPorts } from './support.ts';

const teamApps = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps`;
const rule = { service_id: demo.webServiceId, container_port: 8080, domain_name: 'www.shop.example.com' };

test.for([
  ['GET', teamApps, 404],
  ['POST', teamApps, 404],
  ['GET', 'services', 404],
  ['GET', `services/${demo.webServiceId}`, 404],
  ['GET', '/openapi/v1/httpdomains', 404],
  ['GET', 'httpdomains', 405],
  ['GET', 'httpdomains/some-rule', 404],
  ['PUT', 'httpdomains/some-rule', 404],
  ['DELETE', 'httpdomains/some-rule', 404],
  ['DELETE', `${webPorts}/8080`, 405],
  ['GET', `${webPorts}/8080`, 405],
  ['GET', 'upgrade', 404],
  ['POST', 'upgrade', 404],
  ['DELETE', '', 405],
  ['POST', '/openapi/v1/regions', 405],
] as const)('the documented dialect has no %s %s: JSON %i', ([method, path, status]) => {
  const bench = new Bench(undefined, 'documented');
  const answer = bench.ask(method, path, method === 'GET' ? undefined : {});
  expect(answer).toMatchObject({
    status,
    body: { code: status, error_type: status === 404 ? 'NotFound' : 'MethodNotAllowed' },
  });
  expect(bench.last?.effectApplied).toBe(false);
});

const portFields = [
  'container_port',
  'protocol',
  'port_alias',
  'is_inner_service',
  'is_outer_service',
  'k8s_service_name',
];

test('records are bare and have the documented fields', () => {
  const bench = new Bench(undefined, 'documented');
  expect(Object.keys(bench.ask('GET', webPorts).body[0])).toEqual(portFields);
  const added = bench.ask('POST', webPorts, { port: '9000', protocol: 'grpc' });
  expect([added.status, added.body.is_inner_service]).toEqual([200, false]);
  expect(Object.keys(added.body)).toEqual(portFields);
  expect(bench.ask('PUT', `${webPorts}/9000`, { action: 'open_inner' }).body).toEqual({
    ...added.body,
    is_inner_service: true,
  });
  expect(bench.ask('GET', '').body).toMatchObject({
    ID: demo.appId,
    app_id: demo.appId,
    create_time: '2024-01-01T00:00:00.000Z',
  });
});

test('protocol is required, and an outer port still wants an inner one', () => {
  const bench = new Bench(undefined, 'documented');
  expect(bench.ask('POST', webPorts, { port: 9000 }).status).toBe(400);
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_inner' });
  expect(bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' }).status).toBe(404);
});

test('a rule is 200 with its whole record, and its extensions are strings', () => {
  const bench = new Bench(undefined, 'documented');
  const wanted = { ...rule, whether_open: true, rule_extensions: ['retries:3'] };
  const answer = bench.ask('POST', 'httpdomains', wanted);
  expect(answer).toMatchObject({
    status: 200,
    body: { ID: 1, rule_extensions: ['retries:3'], auto_ssl_config: '', rewrites: '' },
  });
  expect(Object.keys(answer.body)).toHaveLength(24);
  const pairs = { ...wanted, domain_path: '/x', rule_extensions: [{ key: 'a', value: 'b' }] };
  expect(bench.ask('POST', 'httpdomains', pairs).status).toBe(400);
  expect(bench.ask('POST', 'httpdomains', wanted)).toMatchObject({ status: 400, body: { msg: '策略已存在' } });
});

test('monitoring has a list of strings per sample', () => {
  const bench = new Bench(undefined, 'documented');
  const [web] = bench.ask('GET', 'monitor/query_range?start=1763600000&end=1763600060&step=60').body;
  expect(web.monitors[0].data.result).toEqual([
    { value: ['1763600000', expect.stringMatching(/^\d+\.\d{3}$/)] },
    { value: ['1763600060', expect.stringMatching(/^\d+\.\d{3}$/)] },
  ]);
});

test('the paths are those of the extended dialect', () => {
  for (const dialect of ['documented', 'extended'] as const) {
    expect(new Bench(undefined, dialect).ask('GET', shopPath).status).toBe(200);
  }
});
