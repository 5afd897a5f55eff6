import fc from 'fast-check';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { Bench, webPorts } from './support.ts';

/** A port as a table writes it: `80 http WEB inner outer`. */
function portsOf(bench: Bench, component: string = demo.webServiceId): string[] {
  return bench.state.ports
    .in('component', component)
    .map((port) =>
      [
        port.port,
        port.protocol,
        port.alias,
        port.inner ? 'inner' : '-',
        port.outer ? 'outer' : '-',
        port.serviceName,
      ].join(' '),
    );
}

const CLOSED = '8080 http GR6F3C1D8080 - - gr6f3c1d';
const INNER = '8080 http GR6F3C1D8080 inner - gr6f3c1d';
const OPEN = '8080 http GR6F3C1D8080 inner outer gr6f3c1d';

const put = (body: object, port = 8080) => ({ method: 'PUT', path: `${webPorts}/${port}`, body });
const open = [put({ action: 'open_outer' })];
const close = [put({ action: 'close_inner' })];
const add = (body: object) => ({
  method: 'POST',
  path: webPorts,
  body: { protocol: 'http', is_inner_service: false, ...body },
});

test.for([
  ['open_inner on an inner port', [], put({ action: 'open_inner' }), 200, 200, 'success', [INNER]],
  ['open_inner on a closed port', close, put({ action: 'open_inner' }), 200, 200, 'success', [INNER]],
  ['close_inner', [], put({ action: 'close_inner' }), 200, 200, 'success', [CLOSED]],
  ['close_inner twice', close, put({ action: 'close_inner' }), 200, 200, 'success', [CLOSED]],
  ['open_outer', [], put({ action: 'open_outer' }), 200, 200, 'success', [OPEN]],
  ['open_outer twice', open, put({ action: 'open_outer' }), 200, 200, 'success', [OPEN]],
  [
    'open_outer while inner is closed',
    close,
    put({ action: 'open_outer' }),
    404,
    404,
    'inner port is not open',
    [CLOSED],
  ],
  ['close_inner while outer is open', open, put({ action: 'close_inner' }), 404, 404, 'inner port is not open', [OPEN]],
  ['close_outer', open, put({ action: 'close_outer' }), 200, 200, 'success', [INNER]],
  ['close_outer on a closed one', [], put({ action: 'close_outer' }), 200, 200, 'success', [INNER]],
  [
    'change_protocol to grpc while outer is open',
    open,
    put({ action: 'change_protocol', protocol: 'grpc' }),
    400,
    400,
    'change port fail',
    [OPEN],
  ],
  [
    'change_protocol to itself while open',
    open,
    put({ action: 'change_protocol', protocol: 'http' }),
    200,
    200,
    'success',
    [OPEN],
  ],
  [
    'change_protocol',
    [],
    put({ action: 'change_protocol', protocol: 'grpc' }),
    200,
    200,
    'success',
    ['8080 grpc GR6F3C1D8080 inner - gr6f3c1d'],
  ],
  [
    'change_protocol without a protocol is http',
    [put({ action: 'change_protocol', protocol: 'tcp' })],
    put({ action: 'change_protocol' }),
    200,
    200,
    'success',
    [INNER],
  ],
  [
    'change_port_alias without the service name',
    [],
    put({ action: 'change_port_alias', port_alias: 'WEB' }),
    500,
    10401,
    "object of type 'NoneType' has no len()",
    [INNER],
  ],
  [
    'change_port_alias names every port of the component',
    [add({ port: 9000, port_alias: 'RPC' })],
    put({ action: 'change_port_alias', port_alias: 'WEB', k8s_service_name: 'shop-web' }),
    200,
    200,
    'success',
    ['8080 http WEB inner - shop-web', '9000 http RPC - - shop-web'],
  ],
  [
    'the alias of a sibling',
    [add({ port: 9000, port_alias: 'RPC' })],
    put({ action: 'change_port_alias', port_alias: 'RPC', k8s_service_name: 'shop-web' }),
    400,
    400,
    'change port fail',
    [INNER, '9000 http RPC - - gr6f3c1d'],
  ],
  [
    'an alias that two ports share',
    [add({ port: 9000, port_alias: 'RPC' }), add({ port: 9001, port_alias: 'RPC' })],
    put({ action: 'change_port_alias', port_alias: 'RPC', k8s_service_name: 'shop-web' }),
    500,
    10401,
    'get() returned more than one TenantServicesPort -- it returned 2!',
    [INNER, '9000 http RPC - - gr6f3c1d', '9001 http RPC - - gr6f3c1d'],
  ],
  [
    'the service name of another component',
    [],
    put({ action: 'change_port_alias', port_alias: 'WEB', k8s_service_name: 'gr7a4d2e' }),
    409,
    20500,
    'k8s service name already exists',
    [INNER],
  ],
  [
    'a bad service name',
    [],
    put({ action: 'change_port_alias', port_alias: 'WEB', k8s_service_name: 'Shop' }),
    400,
    400,
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'",
    [INNER],
  ],
  [
    'a long service name',
    [],
    put({ action: 'change_port_alias', port_alias: 'WEB', k8s_service_name: 'a'.repeat(64) }),
    400,
    400,
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'",
    [INNER],
  ],
  ['an unknown port', [], put({ action: 'open_inner' }, 1), 404, 404, 'component port does not exist', [INNER]],
  ['an unknown action', [], put({ action: 'only_open_outer' }), 400, 20400, undefined, [INNER]],
  ['no action', [], put({}), 400, 20400, undefined, [INNER]],
  ['adding an existing port', [], add({ port: 8080 }), 409, 20501, 'component port already exists', [INNER]],
  ['adding port 0', [], add({ port: 0 }), 400, 400, 'params error', [INNER]],
  ['adding with a null protocol', [], add({ port: 81, protocol: null }), 400, 400, 'params error', [INNER]],
  ['adding port 65536', [], add({ port: 65536 }), 412, 412, 'component port out of range', [INNER]],
  ['adding a word', [], add({ port: 'http' }), 400, 20400, undefined, [INNER]],
  ['adding with a long alias', [], add({ port: 81, port_alias: 'A'.repeat(65) }), 400, 400, 'add port error', [INNER]],
  [
    'adding a numeric string with an empty alias',
    [],
    add({ port: '81', port_alias: '', protocol: 'udp' }),
    200,
    200,
    'success',
    [INNER, '81 udp GR6F3C1D81 - - gr6f3c1d'],
  ],
  [
    'adding with an alias that a sibling has',
    [],
    add({ port: 81, port_alias: 'GR6F3C1D8080', is_inner_service: true }),
    200,
    200,
    'success',
    [INNER, '81 http GR6F3C1D8080 inner - gr6f3c1d'],
  ],
  [
    'deleting an inner port',
    [],
    { method: 'DELETE', path: `${webPorts}/8080` },
    409,
    409,
    'can not delete inner port',
    [INNER],
  ],
  ['deleting a closed port', close, { method: 'DELETE', path: `${webPorts}/8080` }, 200, 200, 'success', []],
  ['deleting an unknown port', [], { method: 'DELETE', path: `${webPorts}/1` }, 404, 404, 'port not found', [INNER]],
] as const)('%s', ([, before, request, status, code, message, ports]) => {
  const bench = new Bench();
  for (const { method, path, body } of before) expect(bench.ask(method, path, body).status).toBe(200);
  const answer = bench.ask(request.method, request.path, 'body' in request ? request.body : undefined);
  expect([answer.status, answer.body.code, answer.body.msg]).toEqual([status, code, message]);
  expect(portsOf(bench)).toEqual(ports);
});

function rulesOf(bench: Bench) {
  return bench
    .ask('GET', 'httpdomains')
    .body.map((rule: { domain_name: string; domain_path: string; is_outer_service: boolean; type: number }) =>
      [rule.domain_name, rule.domain_path, rule.is_outer_service, rule.type].join(' '),
    );
}

const DEFAULT_DOMAIN = `gr6f3c1d-8080-${demo.team}.region-1.apps.example.com`;

test('outer access of an http port without rules makes the default rule, and the rules follow the port', () => {
  const bench = new Bench();
  bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' });
  expect(rulesOf(bench)).toEqual([`${DEFAULT_DOMAIN}  true 0`]);
  bench.ask('POST', 'httpdomains', {
    service_id: demo.webServiceId,
    container_port: 8080,
    domain_name: 'a.example.com',
  });
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_outer' });
  expect(rulesOf(bench)).toEqual([`${DEFAULT_DOMAIN}  false 0`, 'a.example.com / false 1']);
  bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' });
  expect(rulesOf(bench)).toEqual([`${DEFAULT_DOMAIN}  true 0`, 'a.example.com / true 1']);
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_outer' });
  bench.ask('PUT', `${webPorts}/8080`, { action: 'close_inner' });
  expect(bench.ask('DELETE', `${webPorts}/8080`).status).toBe(200);
  expect(rulesOf(bench)).toEqual([]);
});

test('outer access of another protocol makes no rule', () => {
  const bench = new Bench();
  bench.ask('PUT', `${webPorts}/8080`, { action: 'change_protocol', protocol: 'tcp' });
  bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' });
  expect(rulesOf(bench)).toEqual([]);
});

const anyAction = fc.oneof(
  fc.constantFrom('open_outer', 'close_outer', 'open_inner', 'close_inner').map((action) => put({ action })),
  fc.constantFrom('http', 'tcp', 'grpc').map((protocol) => put({ action: 'change_protocol', protocol })),
);

test('whatever is sent, an outer port was made so over an open inner one, and a refusal changes nothing', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { maxLength: 12 }), (requests) => {
      const bench = new Bench();
      for (const { path, body } of requests) {
        const before = portsOf(bench);
        const [http, tcp] = [[...bench.state.rules.all()], [...bench.state.tcpRules.all()]];
        const { status } = bench.ask('PUT', path, body);
        if (status !== 200) expect(portsOf(bench)).toEqual(before);
        expect(bench.last?.effectApplied).toBe(status === 200);
        const [port] = bench.state.ports.in('component', demo.webServiceId);
        expect(port?.outer && !port.inner).toBe(false);
        const isHttp = port?.protocol === 'http';
        if ('action' in body && String(body.action).endsWith('_outer') && status === 200) {
          const rows = isHttp ? bench.state.rules.all() : bench.state.tcpRules.all();
          for (const rule of rows) expect(rule.outer).toBe(port?.outer);
        } else expect([...bench.state.rules.all(), ...bench.state.tcpRules.all()]).toEqual([...http, ...tcp]);
        if (isHttp) expect([...bench.state.tcpRules.all()]).toEqual(tcp);
        else expect([...bench.state.rules.all()]).toEqual(http);
      }
    }),
    { numRuns: 300 },
  );
});
