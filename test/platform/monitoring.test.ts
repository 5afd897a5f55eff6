import { expect, test } from 'vitest';
import { readMonitoring, sourceInWords } from '../../src/platform/monitoring.ts';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import { clientOf } from './client-support.ts';
import { jsonResponse, recordedExchange, recordedSecond } from './recorded.ts';

const app = { team: 'team-a', region: 'rainbond', appId: 1 };
const window = { start: 1_700_000_000, end: 1_700_000_600, stepSeconds: 60 };
const REGION_QUERY = '/openapi/v1/monitor/query_range';
const idOf = (index: number): string => index.toString(16).padStart(32, 'a');

function component(index: number): Record<string, unknown> {
  return { service_id: idOf(index), service_key: 'k', service_alias: `gr${index}`, service_cname: `c${index}` };
}

function matrix(ids: readonly string[]): PlatformResponse {
  const result = ids.map((id) => ({
    metric: { service_id: id },
    values: [
      [1_700_000_000, '41'],
      [1_700_000_060.5, '42'],
    ],
  }));
  return jsonResponse(200, { status: 'success', data: { resultType: 'matrix', result } });
}

const lost = jsonResponse(200, recordedExchange('monitoring history').response.body);

/** A server with so many components, and a metrics system that has series of the first two. */
function server(count: number, ofRegion: (request: PlatformRequest) => PlatformResponse) {
  return (request: PlatformRequest): PlatformResponse => {
    if (request.path === REGION_QUERY) return ofRegion(request);
    if (request.path.endsWith('/monitor/query_range')) return lost;
    expect(request.path).toMatch(/\/services$/);
    return jsonResponse(
      200,
      Array.from({ length: count }, (_, index) => component(index)),
    );
  };
}

test('samples come from the metrics of the region, for all components of an application with one request each item', async () => {
  const { client, sent } = clientOf(server(3, () => matrix([idOf(0), idOf(1)])));
  const { source, isEmpty, monitors } = await readMonitoring(client, app, window);
  expect({ source, isEmpty }).toEqual({ source: 'region', isEmpty: false });
  expect(monitors.map(({ componentName }) => componentName)).toEqual(['c0', 'c1']);
  expect(monitors[0]?.items?.map(({ name, series }) => [name, series])).toEqual(
    ['request_time', 'request', 'request_client'].map((name) => [
      name,
      [
        {
          samples: [
            [1_700_000_000, 41],
            [1_700_000_060.5, 42],
          ],
        },
      ],
    ]),
  );
  const queries = sent.filter(({ path }) => path === REGION_QUERY).map(({ query }) => query);
  expect(queries).toHaveLength(3);
  expect(queries[0]).toEqual({
    region_name: 'rainbond',
    query: `ceil(avg(app_requesttime{mode="avg",service_id=~"${[0, 1, 2].map(idOf).join('|')}"})by(service_id))`,
    start: '1700000000',
    end: '1700000600',
    step: '60',
  });
  for (const query of queries) expect(query?.['query']).not.toMatch(/[&+\s]/);
});

test('many components are asked for in as few requests as fit into an address', async () => {
  const { client, sent } = clientOf(server(90, () => matrix([idOf(0)])));
  await readMonitoring(client, app, { ...window, items: ['request'] });
  const queries = sent.filter(({ path }) => path === REGION_QUERY);
  expect(queries).toHaveLength(3);
  for (const { query } of queries) expect(new URLSearchParams(query).toString().length).toBeLessThan(2_000);
});

test('components that are known are not listed', async () => {
  const { client, sent } = clientOf(server(0, () => matrix([idOf(7)])));
  const components = [{ serviceId: idOf(7), displayName: 'web', alias: '' }];
  const { monitors } = await readMonitoring(client, app, { ...window, items: ['request_time'], components });
  expect(monitors.map(({ componentName }) => componentName)).toEqual(['web']);
  expect(sent.map(({ operation }) => operation)).toEqual(['queryRegion']);
});

test.for([
  ['has no such address', { status: 404, contentType: 'text/html', retryAfter: null, body: '<h1>Not Found</h1>' }],
  ['denies the endpoint', jsonResponse(404, { detail: 'Not found.', code: 404, msg: 'Not found.' })],
  ['cannot reach its metrics', jsonResponse(400, { code: 400, msg: { error: 'down' }, msg_show: 'failed' })],
] as const)(
  'a server that %s is asked by the documented endpoint, which says that it lost the samples',
  async ([, answer]) => {
    const { client } = clientOf(server(2, () => answer));
    const monitoring = await readMonitoring(client, app, window);
    expect(monitoring).toMatchObject({ source: 'application', isEmpty: true });
    expect(sourceInWords(monitoring)).toBe(
      'the monitoring endpoint of the application, whose answer has lost every sample',
    );
    expect(monitoring.monitors.length).toBeGreaterThan(0);
  },
);

test('an endpoint that was denied is not asked for again', async () => {
  const { client, sent } = clientOf(server(2, () => jsonResponse(404, { code: 404, msg: 'Not found.' })));
  await readMonitoring(client, app, { ...window, items: ['request'] });
  await readMonitoring(client, app, { ...window, items: ['request'] });
  expect(sent.filter(({ path }) => path === REGION_QUERY)).toHaveLength(1);
});

test('an item that has no expression is asked for by the documented endpoint', async () => {
  const { client, sent } = clientOf(server(2, () => matrix([])));
  expect(await readMonitoring(client, app, { ...window, items: ['request', 'disk'] })).toMatchObject({
    source: 'application',
  });
  expect(sent.map(({ operation }) => operation)).toEqual(['monitor']);
});

test('the recorded answer of a region decodes', async () => {
  const { body } = recordedSecond('query the metrics of a region over a range').response;
  const { data } = body as { data: { result: { metric: object; values: unknown }[] } };
  // It was asked for one component without `by`, so its labels are empty.
  const [series] = data.result;
  const labelled = jsonResponse(200, {
    status: 'success',
    data: { resultType: 'matrix', result: [{ ...series, metric: { service_id: idOf(0) } }] },
  });
  const { client } = clientOf(server(1, () => labelled));
  const { monitors } = await readMonitoring(client, app, { ...window, items: ['request_time'] });
  expect(monitors[0]?.items?.[0]?.series[0]?.samples).toEqual([
    [1_700_000_000, 41],
    [1_700_000_600, 42],
  ]);
});
