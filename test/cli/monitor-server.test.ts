import { expect, test } from 'vitest';
import { serve, TOKENS } from '../server/serving.ts';
import { runHere } from './running.ts';

const env = { PORTOLAN_SERVER_TOKEN: TOKENS.viewer };

test('monitor --server draws what a controller reads, with the changes and the drift of that time', async () => {
  const { url, api } = await serve();
  const detail = { resource: 'Component/shop-web', changes: [{ field: 'ports[80].outer' }] };
  const row = { uid: null, previousHash: '0', hash: '1', scope: 'default/team-a/region-1/42', actor: 'daemon' };
  api.rows = [{ ...row, serial: 1, atMs: Date.now() - 60_000, event: 'drift', detail }];
  const { code, out, err } = await runHere(['monitor', 'shop', '--server', url, '--item', 'request_time'], { env });
  expect(code, err).toBe(0);
  expect(out).toMatch(/^default\/team-a\/region-1\/42 {2}\S+ to \S+ \(1h\), a sample every 1m\n/);
  expect(out).toContain("source: the region's metrics");
  expect(out).toMatch(/^shop-web +request_time .*1 gap, 1m/m);
  expect(out).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z {2}Component\/shop-web: drift: ports\[80\]\.outer$/m);
});

test('monitor --server -o json has the samples, and filters as without a server', async () => {
  const { url } = await serve();
  const args = ['monitor', 'shop', '--server', url, '-o', 'json', '--component', 'shop-api', '--since', '31m'];
  const { components } = JSON.parse((await runHere(args, { env })).out) as {
    components: readonly { name: string; series: readonly { item: string; samples: readonly object[] }[] }[];
  };
  expect(components.map(({ name }) => name)).toEqual(['shop-api']);
  expect(components[0]?.series.map(({ item, samples }) => [item, samples.length])).toEqual([
    ['request_time', 31],
    ['request', 31],
  ]);
  const wrong = await runHere(['monitor', 'shop', '--server', url, '--component', 'nobody'], { env });
  expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('[monitor/no-component]')]);
});

test.for([
  [['shop', '--outer'], 3, 'monitor/outer-server'],
  [['nobody'], 3, 'controller/unknown-application'],
  [['shop', '--since', '960h', '--step', '3600'], 3, 'monitoring/bad-window'],
] as const)('monitor %s --server: exit code %i, %s', async ([args, expected, problem]) => {
  const { url } = await serve();
  const { code, err } = await runHere(['monitor', ...args, '--server', url], { env });
  expect(err).toContain(`[${problem}]`);
  expect(code).toBe(expected);
});
