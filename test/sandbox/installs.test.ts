import { expect, test } from 'vitest';
import type { SeedStore } from '../../src/sandbox/seed.ts';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { Bench, webPorts } from './support.ts';

const body = {
  market_url: demo.storeUrl,
  market_domain: demo.storeDomain,
  market_type: demo.storeType,
  market_access_key: 'the-key',
  app_model_id: demo.mysqlModelId,
  app_model_version: '8.0.36',
};

interface Row {
  readonly service_id: string;
  readonly service_key: string;
  readonly service_alias: string;
  readonly k8s_component_name: string;
  readonly tenant_service_group_id: number;
  readonly status: string;
  readonly create_status: string;
  readonly image: string;
}

test('each install makes a copy of its own, and the answer lists the whole application', () => {
  const bench = new Bench();
  const first = bench.ask('POST', 'install', body);
  expect([first.status, first.body.ID, first.body.service_list.length]).toEqual([200, demo.appId, 4]);
  const second = bench.ask('POST', 'install', body);
  const copies = (second.body.service_list as Row[]).filter((row) => row.service_key === 'mysql');
  expect(copies.map((row) => row.tenant_service_group_id)).toEqual([1, 2]);
  expect(copies.map((row) => row.k8s_component_name)).toEqual(copies.map((row) => row.service_alias));
  const [entry, other] = bench.ask('GET', 'upgrade').body;
  expect(entry).toEqual(other);
  expect(entry).toMatchObject({
    app_model_id: demo.mysqlModelId,
    current_version: '8.0.36',
    upgrade_versions: ['8.0.37'],
  });
  const ports = bench.ask('GET', `services/${copies[0]?.service_id}/ports`).body.data.list;
  expect(ports).toMatchObject([
    { container_port: 3306, protocol: 'mysql', port_alias: 'MYSQL', is_inner_service: true, k8s_service_name: 'mysql' },
  ]);
  const others = bench.ask('GET', `services/${copies[1]?.service_id}/ports`).body.data.list;
  expect(others[0].k8s_service_name).toMatch(/^mysql-[0-9a-f]{4}$/);
});

test.for([
  ['true', true],
  ['false', true],
  ['0', true],
  ['', false],
  [undefined, false],
] as const)('is_deploy=%s builds: %s', ([value, builds]) => {
  const bench = new Bench();
  const query = value === undefined ? '' : `?is_deploy=${value}`;
  const { service_list } = bench.ask('POST', `install${query}`, body).body;
  const status = () => bench.ask('GET', 'services').body.at(-1);
  expect((service_list as Row[]).map((row) => row.status)).toEqual(['', '', '', '']);
  expect(bench.ask('GET', '').body).toMatchObject({ status: 'part_running', running_service_count: 3 });
  bench.nowMs += 2999;
  expect(status()).toMatchObject({ status: builds ? 'creating' : 'undeploy', create_status: 'complete' });
  bench.nowMs += 1;
  expect(status()).toMatchObject(builds ? { status: 'running', create_status: 'complete' } : { status: 'undeploy' });
  expect(bench.ask('GET', '').body.status).toBe(builds ? 'running' : 'part_running');
});

test.for([
  ['an unknown model', { app_model_id: 'nope' }, 404, '{"code": 404, "msg": "app not found"}'],
  ['an unknown version', { app_model_version: '9' }, 404, 'not found'],
  ['a store that is not there', { market_url: 'https://other.example.com' }, 400, null],
  ['no access key', { market_access_key: undefined }, 400],
  ['a null model', { app_model_id: null }, 400],
  ['an access key of null', { market_access_key: null }, 200],
] as const)('an install with %s', ([, changed, status, message]) => {
  const bench = new Bench();
  const answer = bench.ask('POST', 'install?is_deploy=true', { ...body, ...changed });
  expect([answer.status, bench.last?.effectApplied, bench.state.components.size]).toEqual([
    status,
    status === 200,
    status === 200 ? 4 : 3,
  ]);
  if (message !== undefined) expect(answer.body.msg).toBe(message);
});

function withStore(changed: Partial<SeedStore>): Bench {
  const stores = (demoSeed.stores ?? []).map((store) => ({ ...store, ...changed }));
  return new Bench({ ...demoSeed, stores });
}

test('the first access key for a store is kept for good, of a failed install too, and only as a hash', () => {
  const bench = withStore({ accessKeys: ['the-right-key'] });
  const denied = { code: 10407, msg: 'no store permissions', data: { bean: { name: 'main' } } };
  expect(bench.ask('POST', 'install', body)).toMatchObject({ status: 403, body: denied });
  const right = { ...body, market_access_key: 'the-right-key' };
  expect(bench.ask('POST', 'install', right)).toMatchObject({ status: 403, body: denied });
  expect(bench.last?.changes).toEqual([]);
  expect(bench.ask('POST', 'install', { ...right, market_url: `${demo.storeUrl}/` })).toMatchObject({ status: 400 });
  const other = withStore({ accessKeys: ['the-right-key'] });
  expect(other.ask('POST', 'install', right).status).toBe(200);
  expect(other.ask('POST', 'install', body).status).toBe(200);
  expect(JSON.stringify([bench.state.dump(), other.state.dump()])).not.toMatch(/the-right-key|the-key/);
});

test.for([
  [
    'no key for a store with keys',
    { accessKeys: ['k'] },
    { market_access_key: null },
    401,
    10421,
    'no store auth token',
  ],
  ['a store that answers 401', { answers: 401 }, {}, 401, 10421, 'no store auth token'],
  ['a store that answers 403', { answers: 403 }, {}, 403, 10407, 'no store permissions'],
  ['a store that answers 500', { answers: 500 }, {}, 400, 400, '{"code": 500, "msg": "boom"}'],
  ['a store that cannot be reached', { answers: 'unreachable' }, {}, 400, 400, null],
] as const)('an install with %s changes nothing', ([, store, changed, status, code, message]) => {
  const bench = withStore(store);
  const answer = bench.ask('POST', 'install?is_deploy=true', { ...body, ...changed });
  expect([answer.status, answer.body.code, answer.body.msg]).toEqual([status, code, message]);
  expect([bench.last?.effectApplied, bench.state.components.size, bench.state.installs.size]).toEqual([false, 3, 0]);
});

test('a store that cannot be reached fails the listing of what is installed, of its applications only', () => {
  const bench = new Bench();
  bench.ask('POST', 'install', body);
  for (const store of bench.state.stores.all()) bench.state.stores.put({ ...store, answers: 'unreachable' });
  expect(bench.ask('GET', 'upgrade')).toMatchObject({ status: 400, body: { code: 400, msg: null } });
  const blog = `/openapi/v1/teams/${demo.team}/regions/${demo.region}/apps/43/upgrade`;
  expect(bench.ask('GET', blog)).toEqual({ status: 200, body: [] });
});

test('a build is an event with a log, and one that fails leaves its component undeployed', () => {
  const [store] = demoSeed.stores ?? [];
  if (store === undefined) throw new Error('the demo has no store');
  const models = store.models.map((model) => ({
    ...model,
    versions: model.versions.map(({ version, components }) => ({
      version,
      components: components.map((component) => ({ ...component, buildFailure: 'no space left' })),
    })),
  }));
  const bench = withStore({ models });
  const { service_list } = bench.ask('POST', 'install?is_deploy=true', body).body;
  const path = `services/${(service_list as Row[]).at(-1)?.service_id}`;
  const events = () => bench.ask('GET', `${path}/events`).body;
  const logs = (id: string) =>
    bench.ask('GET', `/openapi/v1/teams/${demo.team}/regions/${demo.region}/events/${id}/logs`).body.logs;
  expect(events()).toMatchObject({ total: 1, page: 1, page_size: 10, events: [{ status: '', final_status: '' }] });
  const [{ event_id }] = events().events;
  expect(logs(event_id)).toMatchObject([{ message: 'pull image', utime: bench.nowMs / 1000 }]);
  bench.nowMs += 3000;
  expect(events().events).toMatchObject([{ status: 'failure', final_status: 'complete', message: 'no space left' }]);
  expect(logs(event_id)).toMatchObject([{}, { message: 'build failed: no space left' }]);
  expect(bench.ask('GET', path).body.status).toBe('undeploy');
  expect(bench.ask('POST', `${path}/build`, {}).body.event_id).not.toBe(event_id);
  bench.nowMs += 3000;
  expect(bench.ask('GET', path).body.status).toBe('running');
  expect(bench.ask('GET', `${path}/events?page=2&page_size=1`).body).toMatchObject({
    total: 2,
    events: [{ event_id }],
  });
  expect(logs('unknown')).toEqual([]);
});

test('an upgrade moves the components of every copy, and the reported version stays old', () => {
  const bench = new Bench();
  bench.ask('POST', 'install', body);
  bench.ask('POST', 'install', body);
  const before = bench.ask('GET', 'upgrade').body;
  const versions = [{ market_name: 'main', app_model_id: demo.mysqlModelId, app_model_version: '8.0.37' }];
  const answer = bench.ask('POST', 'upgrade', { update_versions: versions });
  expect(answer).toEqual({ status: 200, body: before });
  const rows = (bench.ask('GET', 'services').body as Row[]).filter((row) => row.service_key === 'mysql');
  expect(rows.map((row) => row.image)).toEqual(Array(2).fill('registry.example.com/mysql:8.0.37'));
});

test.for([
  [
    'a model that is not installed',
    [{ market_name: null, app_model_id: demo.redisModelId, app_model_version: '7.4.0' }],
    200,
  ],
  ['an unknown version', [{ market_name: null, app_model_id: demo.mysqlModelId, app_model_version: '9' }], 404],
  ['no market_name', [{ app_model_id: demo.mysqlModelId, app_model_version: '8.0.37' }], 400],
  ['nothing', undefined, 400],
] as const)('an upgrade of %s changes nothing', ([, versions, status]) => {
  const bench = new Bench();
  bench.ask('POST', 'install', body);
  expect(bench.ask('POST', 'upgrade', { update_versions: versions }).status).toBe(status);
  expect(bench.last?.effectApplied).toBe(false);
});

test('a cluster that is away fails an install and leaves nothing behind', () => {
  const bench = new Bench();
  const region = bench.state.regions.get(demo.region);
  if (region !== undefined) bench.state.regions.put({ ...region, reachable: false });
  expect(bench.ask('POST', 'install', body).status).toBe(400);
  expect([bench.last?.effectApplied, bench.state.components.size, bench.state.installs.size]).toEqual([false, 3, 0]);
});

const range = 'monitor/query_range?start=1763600000&end=1763686400&step=600';

test('monitoring shows traffic of the components with the plugin: the same each time, busier by day', () => {
  const bench = new Bench();
  const { body: components } = bench.ask('GET', range);
  expect(bench.ask('GET', range).body).toEqual(components);
  expect(components.map((row: { service_cname: string }) => row.service_cname)).toEqual(['shop-web', 'shop-api']);
  const samples = components[0].monitors[1].data.result[0].value as [number, string][];
  expect(samples).toHaveLength(145);
  const values = samples.map(([, value]) => Number(value));
  expect(Math.min(...values)).toBeGreaterThan(0);
  expect(Math.max(...values)).toBeGreaterThan(3 * Math.min(...values));
});

test('monitoring: is_outer keeps components with an outer port, and closed ones have no samples', () => {
  const bench = new Bench();
  expect(bench.ask('GET', `${range}&is_outer=true`).body).toEqual([]);
  bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' });
  expect(bench.ask('GET', `${range}&is_outer=`).body).toMatchObject([{ service_cname: 'shop-web' }]);
  const api = bench.state.components.get(demo.apiServiceId);
  if (api !== undefined) bench.state.components.put({ ...api, life: { type: 'steady', status: 'closed' } });
  expect(bench.ask('GET', range).body[1].monitors[0].data.result).toEqual([{ value: [] }]);
});

test('monitoring ends at the present, has one sample per minute by default, and refuses too many', () => {
  const bench = new Bench();
  const now = bench.nowMs / 1000;
  const around = bench.ask('GET', `monitor/query_range?start=${now - 120}&end=${now + 600}`).body;
  expect(around[0].monitors[0].data.result[0].value).toHaveLength(3);
  expect(bench.ask('GET', 'monitor/query_range?start=0&end=11001&step=1').status).toBe(400);
  expect(bench.ask('GET', 'monitor/query_range?start=x&end=11001').status).toBe(400);
});
