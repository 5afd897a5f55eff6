import { expect, test } from 'vitest';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { plainTokenOf, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { ask, Bench, shopPath, startTestSandbox } from './support.ts';

const team = `/openapi/v1/teams/${demo.team}`;
const plain = { authorization: plainTokenOf(SANDBOX_TOKEN) };

test.for([
  ['sandbox-token', 'sandbox-token-plain'],
  ['peer-token-admin', 'peer-token-plain'],
] as const)('beside the token %s the sandbox accepts %s', ([token, other]) => {
  expect(plainTokenOf(token)).toBe(other);
});

test('a token without rights in the enterprise may do everything but list its regions', () => {
  const bench = new Bench();
  expect(bench.ask('GET', '/openapi/v1/regions', undefined, plain)).toMatchObject({
    status: 403,
    body: { code: 403, error_type: 'PermissionDenied' },
  });
  for (const path of ['/openapi/v1/httpdomains', `${team}/regions`, `${team}/certificates`, shopPath]) {
    expect(bench.ask('GET', path, undefined, plain).status).toBe(200);
  }
});

test('the regions of a team hold a secret, which no control path shows', async () => {
  const regions = demoSeed.regions.map((region) => ({ ...region, token: 'hush-region' }));
  const bench = new Bench({ ...demoSeed, regions });
  const { total, regions: listed } = bench.ask('GET', `${team}/regions`, undefined, plain).body;
  expect([total, listed[0].token, listed[0].tenant_name]).toEqual([2, 'hush-region', demo.team]);
  expect(bench.ask('GET', `${team}/regions?page=2&page_size=1`).body).toMatchObject({
    total: 2,
    regions: [{ region_name: demo.maintenanceRegion, status: '3' }],
  });
  expect(bench.ask('GET', `${team}/regions?query=region`).status).toBe(500);
  expect(bench.ask('GET', '/openapi/v1/teams/nobody/regions').status).toBe(404);
  const sandbox = await startTestSandbox({ seed: { ...demoSeed, regions } });
  expect((await ask(sandbox, 'GET', '/_sandbox/state')).text).not.toContain('hush');
  await sandbox.close();
});

test('certificates are listed with what they are for, and expire', () => {
  const certificates = [
    { id: 8, team: demo.team, alias: 'old', issuedTo: ['a.example.com'], expiresAt: '2020-01-01T00:00:00Z' },
  ];
  const bench = new Bench({ ...demoSeed, certificates: [...(demoSeed.certificates ?? []), ...certificates] });
  expect(bench.ask('GET', `${team}/certificates`).body).toMatchObject({
    total: 2,
    list: [
      { id: 7, alias: 'shop.example.com', has_expired: false },
      { id: 8, issued_to: ['a.example.com'], has_expired: true, end_data: '2020-01-01 08:00:00' },
    ],
  });
});

const range = `/openapi/v1/monitor/query_range?region_name=${demo.region}&start=1763600000&end=1763600120&step=60`;

test.for([
  [`max(app_requestclient{service_id="${demo.webServiceId}"})`, [{}]],
  [
    `sum(ceil(increase(app_request{service_id=~"${demo.webServiceId}|${demo.apiServiceId}",method="total"}[1m])/12)) by (service_id)`,
    [{ service_id: demo.webServiceId }, { service_id: demo.apiServiceId }],
  ],
  [`max(app_requestclient{service_id="${demo.workerServiceId}"})`, []],
  ['up', []],
  [`max(app_requestclient{service_id="${demo.webServiceId}"})&start=0`, [{}]],
] as const)('the metrics of a region: %s', ([query, metrics]) => {
  for (const monitoring of ['traffic', 'lossy'] as const) {
    const bench = new Bench({ ...demoSeed, monitoring });
    const answer = bench.ask('GET', `${range}&query=${encodeURIComponent(query)}`, undefined, plain);
    expect(answer).toMatchObject({ status: 200, body: { status: 'success', data: { resultType: 'matrix' } } });
    const { result } = answer.body.data;
    expect(result.map((series: { metric: object }) => series.metric)).toEqual(metrics);
    for (const { values } of result) {
      expect(values.map(([time]: [number]) => time)).toEqual([1763600000, 1763600060, 1763600120]);
      expect(values[0][1]).toMatch(/^\d+$/);
    }
  }
});

test.for([
  ['an unknown region', `${range.replace(demo.region, 'nowhere')}&query=up`, 404],
  ['a broken expression', `${range}&query=sum(`, 400],
  ['no expression', range, 400],
  ['no start', `${range.replace('start=1763600000', 'start=')}&query=up`, 400],
] as const)('the metrics of a region with %s', ([, path, status]) => {
  expect(new Bench().ask('GET', path).status).toBe(status);
});

test('monitoring now has one sample per item of each component that runs', () => {
  const bench = new Bench();
  const [web] = bench.ask('GET', 'monitor/query').body;
  expect(web.monitors.map((item: { monitor_item: string }) => item.monitor_item)).toEqual([
    'request_time',
    'request',
    'request_client',
  ]);
  expect(web.monitors[0].data.result).toEqual([
    { value: [String(bench.nowMs / 1000), expect.stringMatching(/^\d+$/)] },
  ]);
  const region = bench.state.regions.get(demo.region);
  if (region !== undefined) bench.state.regions.put({ ...region, reachable: false });
  expect(bench.ask('GET', 'monitor/query').status).toBe(400);
  expect(bench.ask('GET', 'monitor/query_range?start=1763600000&end=1763600060').status).toBe(200);
});
