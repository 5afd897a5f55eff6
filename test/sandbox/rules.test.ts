import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { Bench, webPorts } from './support.ts';

const rule = { service_id: demo.webServiceId, container_port: 8080, domain_name: 'www.shop.example.com' };

function opened(): Bench {
  const bench = new Bench();
  expect(bench.ask('POST', 'httpdomains', { ...rule, whether_open: true }).status).toBe(201);
  return bench;
}

function outerOf(bench: Bench): boolean | undefined {
  return bench.state.ports.get(`${demo.webServiceId}/8080`)?.outer;
}

test('whether_open opens outer with inner closed too, and makes no default rule', () => {
  const bench = new Bench();
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_inner' });
  expect(bench.ask('POST', 'httpdomains', { ...rule, whether_open: true }).status).toBe(201);
  expect(bench.state.ports.get(`${demo.webServiceId}/8080`)).toMatchObject({ inner: false, outer: true });
  expect(bench.ask('GET', 'httpdomains').body).toHaveLength(1);
});

test('a port with inner closed, outer open and a custom rule on it cannot be deleted', () => {
  const bench = new Bench();
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_inner' });
  bench.ask('POST', 'httpdomains', { ...rule, whether_open: true });
  expect(bench.ask('DELETE', `${webPorts}/8080`).status).toBe(412);
});

test.for([
  ['the same', {}, 400, { msg: '策略已存在' }],
  ['the same domain in capitals', { domain_name: 'WWW.SHOP.example.com' }, 400, { msg: '策略已存在' }],
  ['another path', { domain_path: '/api' }, 201, { domain_path: '/api', is_senior: true }],
  ['https beside http', { certificate_id: 7 }, 201, { protocol: 'https', certificate_id: 7 }],
  ['an unknown certificate', { certificate_id: 99 }, 201, { protocol: 'https', certificate_id: 0 }],
  ['a domain that is none', { domain_name: '*not a domain!' }, 201, { domain_name: '*not a domain!' }],
  ['a port that does not exist', { container_port: 1 }, 500, { code: 10401 }],
  ['a component by its alias', { service_id: 'gr6f3c1d' }, 400, { msg: '组件不存在' }],
  [
    'a component whose outer is closed',
    { container_port: 8000, service_id: demo.apiServiceId },
    400,
    { msg: '没有开启对外端口' },
  ],
  ['extensions as strings', { domain_path: '/e', rule_extensions: ['a:b'] }, 500, { error_type: 'TypeError' }],
  [
    'extensions as pairs',
    { domain_path: '/e', rule_extensions: [{ key: 'a', value: 'b' }] },
    201,
    { domain_path: '/e' },
  ],
  [
    'a redirect beside http',
    { certificate_id: 7, rule_extensions: [{ key: 'httptohttps', value: 'true' }] },
    400,
    { msg: '策略已存在' },
  ],
  [
    'an empty cookie',
    { domain_path: '/e', domain_cookie: '' },
    400,
    { code: 20400, err: { domain_cookie: ['该字段不能为空。'] } },
  ],
  ['a long domain', { domain_name: 'a'.repeat(129) }, 400, { code: 20400 }],
  ['a wrong configuration', { domain_path: '/c', configuration: { proxy_body_size: 'x' } }, 400, { code: 20400 }],
] as const)('beside an http rule on /, a rule with %s', ([, changed, status, body]) => {
  const bench = opened();
  const answer = bench.ask('POST', 'httpdomains', { ...rule, ...changed });
  expect(answer).toMatchObject({ status, body });
  expect(bench.last?.effectApplied).toBe(status === 201);
});

test('a redirect of anyone on a domain and path refuses every rule there', () => {
  const bench = opened();
  const redirect = {
    ...rule,
    domain_name: 'a.example.com',
    certificate_id: 7,
    rule_extensions: [{ key: 'httptohttps', value: 'true' }],
  };
  expect(bench.ask('POST', 'httpdomains', redirect).status).toBe(201);
  expect(bench.ask('POST', 'httpdomains', { ...rule, domain_name: 'a.example.com' })).toMatchObject({
    status: 400,
    body: { msg: '策略已存在' },
  });
  expect(bench.ask('POST', 'httpdomains', { ...rule, domain_name: 'a.example.com', domain_path: '/x' }).status).toBe(
    201,
  );
});

test('a domain of another team is refused, and a port that was opened for it stays open', () => {
  const bench = new Bench();
  const row = bench.state.rules;
  bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' });
  const [mine] = [...row.all()];
  if (mine === undefined) throw new Error('no default rule');
  row.put({ ...mine, id: 'theirs', teamId: 'd1d2d3d4d5d6d7d8d9dadbdcdddedfd0', domain: 'taken.example.com' });
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_outer' });
  const answer = bench.ask('POST', 'httpdomains', { ...rule, domain_name: 'Taken.example.com', whether_open: true });
  expect(answer.status).toBe(400);
  expect([outerOf(bench), bench.last?.effectApplied]).toEqual([true, true]);
});

test('a lost race makes two rows, and then every creation of that key fails', () => {
  const bench = opened();
  const [first] = [...bench.state.rules.all()];
  if (first === undefined) throw new Error('no rule');
  bench.state.rules.put({ ...first, id: 'second', row: 2 });
  expect(bench.ask('POST', 'httpdomains', rule)).toMatchObject({
    status: 500,
    body: { msg: 'get() returned more than one ServiceDomain -- it returned 2!' },
  });
});

test('an update keeps what it does not name, but for the certificate and the ssl configuration', () => {
  const bench = opened();
  const created = bench.ask('POST', 'httpdomains', {
    ...rule,
    domain_path: '/s',
    domain_cookie: 'a=b',
    domain_header: 'x=y',
    the_weight: 30,
    certificate_id: 7,
    auto_ssl: true,
    auto_ssl_config: 'letsencrypt',
  }).body;
  const path = `httpdomains/${created.http_rule_id}`;
  expect(bench.ask('PUT', path, { service_id: demo.webServiceId }).body).toEqual({
    ...created,
    protocol: 'http',
    certificate_id: 0,
    auto_ssl_config: null,
    rewrites: '[]',
  });
  expect(bench.ask('GET', path).body).toMatchObject({
    domain_path: '/s',
    domain_cookie: 'a=b',
    the_weight: 30,
    protocol: 'http',
  });
});

test.for([
  ['domain_header', { domain_header: 'x=y' }],
  ['whether_open', { whether_open: true }],
] as const)('an update with %s fails and changes nothing', ([, extra]) => {
  const bench = opened();
  const [{ http_rule_id }] = bench.ask('GET', 'httpdomains').body;
  expect(bench.ask('PUT', `httpdomains/${http_rule_id}`, { ...rule, the_weight: 1, ...extra }).status).toBe(500);
  expect(bench.ask('GET', `httpdomains/${http_rule_id}`).body.the_weight).toBe(100);
});

test('a creation stores all of its configuration, and no update changes it or the header', () => {
  const bench = opened();
  const stored = () => [...bench.state.rules.all()].find((row) => row.path === '/c');
  const created = bench.ask('POST', 'httpdomains', {
    ...rule,
    domain_path: '/c',
    domain_header: 'x:y',
    configuration: { proxy_body_size: 10 },
  }).body;
  const configuration = {
    proxy_body_size: 10,
    proxy_buffer_numbers: 4,
    proxy_buffer_size: 4,
    proxy_buffering: 'off',
    proxy_connect_timeout: 75,
    proxy_read_timeout: 60,
    proxy_send_timeout: 60,
    set_headers: [],
  };
  expect(stored()).toMatchObject({ configuration, header: 'x:y' });
  const change = { ...rule, configuration: { proxy_body_size: 99 }, domain_heander: 'a:b', domain_path: '/c' };
  expect(bench.ask('PUT', `httpdomains/${created.http_rule_id}`, change).status).toBe(200);
  expect(stored()).toMatchObject({ configuration, header: 'x:y' });
});

test('an unknown certificate is 0 after a creation, kept after an update, and gone after an update without it', () => {
  const bench = opened();
  const { http_rule_id, ...created } = bench.ask('POST', 'httpdomains', {
    ...rule,
    domain_path: '/s',
    certificate_id: 99,
  }).body;
  expect(created).toMatchObject({ certificate_id: 0, protocol: 'https' });
  const update = (fields: object) =>
    bench.ask('PUT', `httpdomains/${http_rule_id}`, { service_id: demo.webServiceId, ...fields });
  expect(update({ certificate_id: 99 }).body).toMatchObject({ certificate_id: 99, protocol: 'https' });
  expect(update({}).body).toMatchObject({ certificate_id: 0, protocol: 'http' });
});

test('a rule whose domain was edited keeps its id, and the key that it had is free again', () => {
  const bench = opened();
  const created = bench.ask('POST', 'httpdomains', { ...rule, domain_path: '/e' }).body;
  const path = `httpdomains/${created.http_rule_id}`;
  expect(bench.ask('PUT', path, { ...rule, domain_path: '/e', domain_name: 'Edited.example.com' }).body).toEqual({
    ...created,
    domain_name: 'Edited.example.com',
    rewrites: '[]',
  });
  expect(bench.ask('POST', 'httpdomains', { ...rule, domain_path: '/e' }).status).toBe(201);
  expect(bench.ask('POST', 'httpdomains', { ...rule, domain_path: '/e', domain_name: 'edited.example.com' })).toEqual({
    status: 400,
    body: { msg: '策略已存在' },
  });
});

test('an update of an unknown rule is 404, and of an unknown component 400', () => {
  const bench = opened();
  expect(bench.ask('PUT', 'httpdomains/unknown', rule).status).toBe(404);
  expect(bench.ask('PUT', 'httpdomains/unknown', { ...rule, service_id: 'x' })).toMatchObject({
    status: 400,
    body: { msg: '组件不存在' },
  });
});

test('one request lists the rules of the whole enterprise, each with its place', () => {
  const bench = opened();
  bench.ask('POST', 'httpdomains', { ...rule, domain_path: '/tls', auto_ssl: true });
  const all = bench.ask('GET', '/openapi/v1/httpdomains').body;
  expect(all).toHaveLength(2);
  expect(all[0]).toMatchObject({ team_name: demo.team, region_name: demo.region, app_id: demo.appId });
  expect(bench.ask('GET', '/openapi/v1/httpdomains?auto_ssl=true').body).toMatchObject([{ domain_path: '/tls' }]);
});
