import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { Bench, webPorts } from './support.ts';

const port = `${webPorts}/8080`;

/** The rules of the port, both kinds, as short lines. */
function rules(bench: Bench): readonly string[] {
  const { http, tcp } = bench.ask('GET', 'domains').body;
  return [
    ...http.map((row: Record<string, unknown>) => `http ${row['domain_name']} ${row['is_outer_service']}`),
    ...tcp.map((row: Record<string, unknown>) => `${row['protocol']} ${row['end_point']} ${row['is_outer_service']}`),
  ];
}

function put(bench: Bench, action: string, protocol?: string): number {
  return bench.ask('PUT', port, { action, ...(protocol === undefined ? {} : { protocol }) }).status;
}

const http = 'http gr6f3c1d-8080-team-a.region-1.apps.example.com';
const node = 'tcp.region-1.apps.example.com:30001';

test('a tcp port that closes and opens keeps its row, its node port and no http rule', () => {
  const bench = new Bench();
  expect([put(bench, 'change_protocol', 'tcp'), put(bench, 'open_outer')]).toEqual([200, 200]);
  expect(rules(bench)).toEqual([`tcp ${node} true`]);
  put(bench, 'close_outer');
  expect(rules(bench)).toEqual([`tcp ${node} false`]);
  put(bench, 'open_outer');
  expect(rules(bench)).toEqual([`tcp ${node} true`]);
});

test('tcp to http with outer open leaves the tcp row alive, whatever is closed and opened afterwards', () => {
  const bench = new Bench();
  put(bench, 'open_outer');
  put(bench, 'close_outer');
  put(bench, 'change_protocol', 'tcp');
  put(bench, 'open_outer');
  expect(rules(bench)).toEqual([`${http} false`, `tcp ${node} true`]);
  expect(put(bench, 'change_protocol', 'http')).toBe(200);
  expect(rules(bench)).toEqual([`${http} false`, `tcp ${node} true`]);
  put(bench, 'close_outer');
  expect(rules(bench)).toEqual([`${http} false`, `tcp ${node} true`]);
  put(bench, 'open_outer');
  expect(rules(bench)).toEqual([`${http} true`, `tcp ${node} true`]);
});

test('outer access that is closed before the protocol changes and opened after it leaves the right rules', () => {
  const bench = new Bench();
  put(bench, 'open_outer');
  expect(put(bench, 'change_protocol', 'tcp')).toBe(400);
  for (const protocol of ['tcp', 'http', 'mysql']) {
    expect([put(bench, 'close_outer'), put(bench, 'change_protocol', protocol), put(bench, 'open_outer')]).toEqual([
      200, 200, 200,
    ]);
  }
  expect(rules(bench)).toEqual([`${http} false`, `mysql ${node} true`]);
  put(bench, 'close_outer');
  put(bench, 'close_inner');
  expect(bench.ask('DELETE', port).status).toBe(200);
  expect(rules(bench)).toEqual([]);
});

test('a rule with whether_open activates the rows of both kinds', () => {
  const bench = new Bench();
  put(bench, 'change_protocol', 'tcp');
  put(bench, 'open_outer');
  put(bench, 'close_outer');
  const rule = {
    service_id: demo.webServiceId,
    container_port: 8080,
    domain_name: 'a.example.com',
    whether_open: true,
  };
  expect(bench.ask('POST', 'httpdomains', rule).status).toBe(201);
  expect(rules(bench)).toEqual(['http a.example.com true', `tcp ${node} true`]);
});

test('one kind can be asked for, and a component lists its addresses', () => {
  const bench = new Bench();
  put(bench, 'open_outer');
  expect(Object.keys(bench.ask('GET', 'domains?query=http').body)).toEqual(['http']);
  expect(bench.ask('GET', 'domains?query=tcp').body).toEqual({ tcp: [] });
  expect(bench.ask('GET', `services/${demo.webServiceId}`).body.access_infos).toEqual([
    http.replace('http ', 'http://'),
  ]);
  expect(bench.ask('GET', 'services').body[0].access_infos).toEqual([]);
});

test('a rule with whether_open activates the rules of a port that is open already, and opening a tcp port does not', () => {
  const bench = new Bench();
  put(bench, 'open_outer');
  put(bench, 'close_outer');
  put(bench, 'change_protocol', 'tcp');
  put(bench, 'open_outer');
  put(bench, 'open_outer');
  expect(rules(bench)).toEqual([`${http} false`, `tcp ${node} true`]);
  const rule = { service_id: demo.webServiceId, container_port: 8080, domain_name: 'b.example.com' };
  expect(bench.ask('POST', 'httpdomains', rule).status).toBe(201);
  expect(rules(bench)).toEqual([`${http} false`, 'http b.example.com true', `tcp ${node} true`]);
  bench.ask('POST', 'httpdomains', { ...rule, domain_name: 'c.example.com', whether_open: true });
  expect(rules(bench)).toEqual([
    `${http} true`,
    'http b.example.com true',
    'http c.example.com true',
    `tcp ${node} true`,
  ]);
});

test('closing a tcp port leaves its http rules active, and opening an open http port activates them', () => {
  const bench = new Bench();
  put(bench, 'change_protocol', 'tcp');
  put(bench, 'open_outer');
  bench.ask('POST', 'httpdomains', {
    service_id: demo.webServiceId,
    container_port: 8080,
    domain_name: 'b.example.com',
  });
  put(bench, 'close_outer');
  expect(rules(bench)).toEqual(['http b.example.com true', `tcp ${node} false`]);
  put(bench, 'change_protocol', 'http');
  put(bench, 'open_outer');
  put(bench, 'close_outer');
  put(bench, 'change_protocol', 'tcp');
  put(bench, 'open_outer');
  put(bench, 'change_protocol', 'http');
  expect(rules(bench)).toEqual(['http b.example.com false', `tcp ${node} true`]);
  put(bench, 'open_outer');
  expect(rules(bench)).toEqual(['http b.example.com true', `tcp ${node} true`]);
});
