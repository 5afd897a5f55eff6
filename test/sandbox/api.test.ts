import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { Bench, shopPath, webPorts } from './support.ts';

const place = `/openapi/v1/teams/${demo.team}/regions/${demo.region}`;
const ids = { team: 'd0d1d2d3d4d5d6d7d8d9dadbdcdddedf' };

test.for([
  ['no token', { authorization: '' }, 401, 'No token'],
  ['a bearer token', { authorization: 'Bearer sandbox-token' }, 401, 'No such user or user is not admin'],
] as const)('access with %s is refused', ([, headers, status, detail]) => {
  const answer = new Bench().ask('GET', '', undefined, headers);
  expect(answer).toEqual({
    status,
    body: { detail, code: status, msg: detail, msg_show: detail, error_type: 'AuthenticationFailed' },
  });
});

test.for([
  ['a team by its id', `/openapi/v1/teams/${ids.team}/regions/${demo.region}/apps/42`, 200, undefined],
  ['a component by its alias', `${shopPath}/services/gr6f3c1d/ports`, 200, 200],
  ['an unknown team', `/openapi/v1/teams/nobody/regions/${demo.region}/apps/42`, 404, 404],
  ['an unknown region', `/openapi/v1/teams/${demo.team}/regions/nowhere/apps/42`, 404, 3000],
  ['a region under maintenance', `/openapi/v1/teams/${demo.team}/regions/${demo.maintenanceRegion}/apps/42`, 409, 2001],
  ['a region the team is not in', `/openapi/v1/teams/team-b/regions/${demo.maintenanceRegion}/apps/44`, 409, 2001],
  ['an application of another team', `${place}/apps/44`, 404, 404],
  ['an unknown component', `${shopPath}/services/${'0'.repeat(32)}/ports`, 404, 404],
] as const)('%s', ([, path, status, code]) => {
  const answer = new Bench().ask('GET', path);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});

test.for([
  ['a trailing slash', `${shopPath}/`],
  ['a path outside the API', '/openapi/v2/regions'],
  ['a broken escape', `${shopPath}/services/%E0%A4%A/ports`],
  ['an application that is no number', `${place}/apps/shop`],
  ['a component with a dot', `${shopPath}/services/a.b/ports`],
] as const)('%s is a page, whatever the token', ([, path]) => {
  const bench = new Bench();
  for (const authorization of ['', 'sandbox-token']) {
    const answer = bench.ask('GET', path, undefined, { authorization });
    expect([answer.status, bench.last?.response.headers['content-type']]).toEqual([404, 'text/html; charset=utf8']);
    expect(answer.body).toContain('<h1>Not Found</h1>');
  }
});

test.for(['', '/', 'anything'])('the listing of all rules takes the suffix "%s"', (suffix) => {
  expect(new Bench().ask('GET', `/openapi/v1/httpdomains${suffix}`)).toEqual({ status: 200, body: [] });
});

test.for([
  ['application/xml', 406],
  ['application/xml, application/*;q=0.5', 200],
  ['*/*', 200],
] as const)('an address without a team and Accept: %s', ([accept, status]) => {
  const bench = new Bench();
  expect(bench.ask('GET', '/openapi/v1/regions', undefined, { accept }).status).toBe(status);
  expect(bench.ask('GET', '/openapi/v1/regions', undefined, { accept, authorization: '' }).status).toBe(
    status === 406 ? 406 : 401,
  );
  expect(bench.ask('GET', '', undefined, { accept }).status).toBe(200);
});

test('a component whose memory is no multiple of 32 MiB gives a fraction, and the number of its application a string', () => {
  const bench = new Bench();
  const detail = () => bench.ask('GET', '').body;
  expect([detail().app_id, detail().used_cpu]).toEqual([demo.appId, 90]);
  const web = bench.state.components.get(demo.webServiceId);
  if (web === undefined) throw new Error('the demo has no web');
  bench.state.components.put({ ...web, memoryMib: 100 });
  expect(detail()).toMatchObject({ app_id: String(demo.appId), used_cpu: 83.4375, used_momory: 356 });
});

test.for([
  ['plain text', '{}', { 'content-type': 'text/plain' }, 415],
  ['no content type', '{}', { 'content-type': '' }, 415],
  ['broken JSON', '{', {}, 400],
  ['a JSON array', '[]', {}, 400],
  [
    'a form',
    'port=8081&protocol=tcp&is_inner_service=false',
    { 'content-type': 'application/x-www-form-urlencoded' },
    200,
  ],
] as const)('a body of %s', ([, body, headers, status]) => {
  expect(new Bench().ask('POST', webPorts, body, headers).status).toBe(status);
});

test('a method that the path does not have is 405, after the path was found', () => {
  const bench = new Bench();
  expect(bench.ask('PATCH', '').body).toMatchObject({ code: 405, error_type: 'MethodNotAllowed' });
  expect(bench.ask('PATCH', `${place}/apps/999`).status).toBe(404);
});

test('the status of an application follows its components, and says closed when the cluster is away', () => {
  const bench = new Bench();
  expect(bench.ask('GET', '').body).toMatchObject({ status: 'running', running_service_count: 3, service_count: 3 });
  const region = bench.state.regions.get(demo.region);
  if (region === undefined) throw new Error('the demo has no region');
  bench.state.regions.put({ ...region, reachable: false });
  expect(bench.ask('GET', '').body).toMatchObject({ status: 'closed', running_service_count: 0, service_count: 3 });
  expect(bench.ask('GET', 'services').body.map((row: { status: unknown }) => row.status)).toEqual([null, null, null]);
  expect(bench.ask('GET', webPorts).status).toBe(200);
  const refused = bench.ask('PUT', `${webPorts}/8080`, { action: 'close_inner' });
  expect([refused.status, refused.body.code, typeof refused.body.msg]).toEqual([400, 10411, 'object']);
  expect(bench.last?.effectApplied).toBe(false);
});

test('applications are listed by team and created once per name', () => {
  const bench = new Bench();
  const names = () => bench.ask('GET', `${place}/apps`).body.map((row: { group_name: string }) => row.group_name);
  expect(names()).toEqual(['shop', 'blog']);
  const created = bench.ask('POST', `${place}/apps`, { app_name: 'docs', k8s_app: 'docs' });
  expect([created.status, created.body.ID, created.body.group_name, created.body.k8s_app]).toEqual([
    201,
    45,
    'docs',
    'docs',
  ]);
  expect(bench.ask('GET', `${place}/apps/${created.body.ID}`).body.app_id).toBe(created.body.ID);
  expect(bench.ask('POST', `${place}/apps`, { app_name: 'docs' }).status).toBe(400);
  expect(bench.ask('POST', `${place}/apps`, {}).body.err).toEqual({ app_name: ['该字段是必填项。'] });
  expect(names()).toEqual(['shop', 'blog', 'docs']);
});

test('the same state, requests and context give the same answers and changes', () => {
  const run = () => {
    const bench = new Bench();
    const answers = [
      bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' }),
      bench.ask('GET', 'httpdomains'),
      bench.ask('POST', 'install?is_deploy=true', installBody),
    ];
    return { answers, state: bench.state.dump() };
  };
  expect(run()).toEqual(run());
});

const installBody = {
  market_url: demo.storeUrl,
  market_domain: demo.storeDomain,
  market_type: demo.storeType,
  market_access_key: 'key',
  app_model_id: demo.mysqlModelId,
  app_model_version: '8.0.36',
};

test('a clone lives a life of its own, and changes can be taken back', () => {
  const bench = new Bench();
  const copy = bench.state.clone();
  const before = bench.state.dump();
  bench.ask('PUT', `${webPorts}/8080`, { action: 'open_outer' });
  expect(copy.dump()).toEqual(before);
  expect(bench.state.dump()).not.toEqual(before);
  const changes = bench.last?.changes ?? [];
  bench.state.revert(changes);
  expect(bench.state.dump()).toEqual(before);
  bench.state.reapply(changes);
  expect(bench.ask('GET', 'httpdomains').body).toHaveLength(1);
});
