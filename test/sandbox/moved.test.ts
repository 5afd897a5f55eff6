import { expect, test } from 'vitest';
import { moveComponent } from '../../src/sandbox/applications.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { Bench, shopPath, webPorts } from './support.ts';

const BLOG = 43;
const blogPath = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps/${BLOG}`;
const rule = { service_id: demo.webServiceId, container_port: 8080, domain_name: 'www.shop.example.com' };
const notOfThisApp = { status: 404, body: { code: 404, msg: 'component not belong to this app' } };

/** A shop whose `web` has a rule and belongs to the blog by now. */
function moved(): Bench {
  const bench = new Bench();
  bench.ask('POST', 'httpdomains', { ...rule, whether_open: true });
  moveComponent(bench.state, demo.webServiceId, BLOG);
  return bench;
}

test.for([
  ['GET', webPorts, undefined],
  ['GET', `services/${demo.webServiceId}`, undefined],
  ['GET', 'services/gr6f3c1d/events', undefined],
  ['POST', webPorts, { port: 9000, protocol: 'http', is_inner_service: false }],
  ['PUT', `${webPorts}/8080`, { action: 'close_outer' }],
  ['DELETE', `${webPorts}/8080`, undefined],
  ['POST', `services/${demo.webServiceId}/build`, {}],
] as const)('%s %s of a component that moved is refused by its old application', ([method, path, body]) => {
  const bench = moved();
  const before = bench.state.dump();
  expect(bench.ask(method, path, body)).toMatchObject(notOfThisApp);
  expect(bench.state.dump()).toEqual(before);
});

test('the component and its rules are listed where they are by now', () => {
  const bench = moved();
  const names = (path: string) =>
    bench.ask('GET', `${path}/services`).body.map((row: { service_cname: string }) => row.service_cname);
  expect([names(shopPath), names(blogPath)]).toEqual([['shop-api', 'shop-worker'], ['shop-web']]);
  expect(bench.ask('GET', 'httpdomains').body).toEqual([]);
  expect(bench.ask('GET', `${blogPath}/httpdomains`).body).toMatchObject([{ domain_name: rule.domain_name }]);
  expect(bench.ask('GET', '/openapi/v1/httpdomains').body).toMatchObject([{ app_id: BLOG }]);
});

test('an application without components checks nothing, and a write by way of it happens', () => {
  const bench = moved();
  for (const id of [demo.apiServiceId, demo.workerServiceId]) moveComponent(bench.state, id, BLOG);
  expect(bench.ask('GET', 'services').body).toEqual([]);
  expect(bench.ask('PUT', `${webPorts}/8080`, { action: 'close_outer' }).status).toBe(200);
  expect(bench.last?.effectApplied).toBe(true);
  expect(bench.ask('GET', `${blogPath}/${webPorts}`).body.data.list[0].is_outer_service).toBe(false);
});
