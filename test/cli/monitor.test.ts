import { expect, test } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { collectingTerminal, type Run, runHere } from './running.ts';

/** It is always this moment, so that the sandbox's traffic is always the same. */
const clock = { ...systemClock, now: () => Date.UTC(2026, 10, 20, 12) };
const APP = 'default/team-a/region-1/42';

async function platform(seed: Partial<typeof demoSeed> = {}, dialect: Dialect = 'extended') {
  const sandbox = await sandboxFor({ clock, dialect, seed: { ...demoSeed, ...seed } });
  const config = `${folderOf({ 'portolan.yaml': configurationFor(sandbox.url) })}/portolan.yaml`;
  const monitor = async (
    args: readonly string[],
    window: Parameters<typeof collectingTerminal>[0] = {},
    env: Record<string, string> = {},
  ): Promise<Run> => {
    const { terminal, text } = collectingTerminal(window);
    const around = { terminal, clock, env: { PORTOLAN_TOKEN: 'sandbox-token', ...env } };
    const { code } = await runHere(['monitor', ...args, '--config', config], around);
    return { code, ...text };
  };
  return { sandbox, monitor };
}

test.for([
  [40, false],
  [80, false],
  [120, false],
  [120, true],
] as const)('components in %i columns, with colour: %s', async ([columns, color]) => {
  const { monitor } = await platform();
  const { code, out } = await monitor([APP, '--item', 'request_time'], { isTerminal: true, columns, color });
  expect(code).toBe(0);
  const bare = out.replace(/\u001b\[\d+m/g, '');
  expect(bare === out).toBe(!color);
  expect(bare.split('\n').filter((line) => displayWidth(line) > columns)).toEqual([]);
  await expect(out).toMatchFileSnapshot(`golden/monitor-${columns}${color ? '-colour' : ''}.txt`);
});

test.for([
  ['--ascii', ['--ascii'], {}],
  ['the locale', [], { LC_ALL: 'C' }],
] as const)('nothing but ASCII, by %s', async ([, args, env]) => {
  const { monitor } = await platform();
  const { out } = await monitor([APP, ...args], { isTerminal: true, columns: 80 }, env);
  expect(out).toMatch(/^[\u0020-\u007e\n]+$/);
  expect(out).toMatch(/shop-web +request_time +[_.:=+*#-]+ +\d/);
});

test('an overview is a line for each series', async () => {
  const { monitor } = await platform();
  const { out } = await monitor([APP, '--overview', '--component', 'shop-web']);
  const [, , , head, ...rows] = out.trimEnd().split('\n');
  expect(head).toMatch(/^COMPONENT +ITEM +TREND +LAST +MIN +MAX$/);
  expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual(['request_time', 'request', 'request_client']);
});

test('csv has a line for each sample, with times and stable columns', async () => {
  const { monitor } = await platform();
  const { out, err } = await monitor([APP, '--item', 'request', '--since', '2m', '-o', 'csv']);
  const lines = out.split('\r\n');
  expect(lines[0]).toBe('time,platform,team,region,app_id,service_id,component,item,series,unit,value');
  expect(lines[1]).toMatch(
    /^2026-11-20T11:58:00\.000Z,default,team-a,region-1,42,[0-9a-f]{32},shop-web,request,1,per-second,\d+$/,
  );
  expect(lines).toHaveLength(1 + 2 * 3 + 1);
  expect(err).toBe('');
});

test('json has times, a summary and the samples', async () => {
  const { monitor } = await platform();
  const { out } = await monitor([
    APP,
    '--item',
    'request_time',
    '--component',
    'shop-web',
    '--since',
    '2m',
    '-o',
    'json',
  ]);
  expect(JSON.parse(out)).toMatchObject({
    formatVersion: 1,
    scope: { appId: 42 },
    from: '2026-11-20T11:58:00.000Z',
    to: '2026-11-20T12:00:00.000Z',
    stepSeconds: 60,
    components: [
      {
        name: 'shop-web',
        series: [
          {
            item: 'request_time',
            unit: 'milliseconds',
            summary: { lastTime: '2026-11-20T12:00:00.000Z' },
            samples: [
              { time: '2026-11-20T11:58:00.000Z' },
              { time: '2026-11-20T11:59:00.000Z' },
              { time: '2026-11-20T12:00:00.000Z' },
            ],
          },
        ],
      },
    ],
  });
});

test('what the platform lost is not known, and never a zero, in every format', async () => {
  const { monitor } = await platform({ monitoring: 'lossy' }, 'documented');
  for (const columns of [40, 120]) {
    const { out } = await monitor([APP], { isTerminal: true, columns });
    expect(out.replace(/\s+/g, ' ')).toContain(
      'source: the monitoring endpoint of the application, whose answer has lost every sample',
    );
    expect(out).toMatch(/request_time +no data \(status success\)/);
    expect(out).not.toMatch(/\b0\b/);
  }
  const csv = await monitor([APP, '-o', 'csv']);
  expect(csv.out.split('\r\n')).toHaveLength(2);
  expect(csv.err).toBe(
    'note: no data for shop-web: it reports no monitoring history\nnote: no data for shop-api: it reports no monitoring history\n',
  );
  const json = JSON.parse((await monitor([APP, '-o', 'json'])).out) as {
    source: string;
    samplesLost: boolean;
    components: { series: { summary: unknown; samples: unknown[] }[] }[];
  };
  expect(json).toMatchObject({ source: 'application', samplesLost: true });
  const series = json.components.flatMap((component) => component.series);
  expect(series.length).toBe(6);
  expect(series.every(({ summary, samples }) => summary === null && samples.length === 0)).toBe(true);
});

test('a platform whose endpoint loses samples is asked by the metrics of the region, which have them', async () => {
  const { monitor } = await platform({ monitoring: 'lossy' });
  const { out } = await monitor([APP], { isTerminal: true, columns: 120 });
  expect(out).toContain("source: the region's metrics");
  expect(out).not.toContain('no data');
  const json = JSON.parse((await monitor([APP, '-o', 'json'])).out) as {
    components: { series: { samples: unknown[] }[] }[];
  };
  expect(json).toMatchObject({ source: 'region', samplesLost: false });
  const series = json.components.flatMap((component) => component.series);
  expect(series).toHaveLength(6);
  expect(series.every(({ samples }) => samples.length > 50)).toBe(true);
});

test('what has not happened yet is missing', async () => {
  const { monitor } = await platform();
  const args = [APP, '--since', '2026-11-20T11:30:00Z', '--until', '2026-11-20T12:30:00Z', '--item', 'request'];
  const { out } = await monitor(args, { isTerminal: true, columns: 120 });
  expect(out).toMatch(/COMPONENT .* MISSING\nshop-web +request +[▁▂▃▄▅▆▇█]+ +.* {3}1 gap, 30m\n/);
});

test.for([
  [['--component', 'shop-wbe'], 'Did you mean shop-web?'],
  [['--item', 'requests'], 'Did you mean request?'],
  [['--watch', '-o', 'csv'], 'one table'],
  [['--watch', '10ms'], 'interval'],
] as const)('%j is refused: %s', async ([args, said]) => {
  const { monitor } = await platform();
  const { code, out, err } = await monitor([APP, ...args]);
  expect(code).toBe(3);
  expect(out).toBe('');
  expect(err).toContain(said);
});

test('no name of the platform can move the cursor, and wide ones line up', async () => {
  const { sandbox, monitor } = await platform();
  sandbox.alter((state) => {
    const [first] = [...state.components.all()].filter(({ name }) => name === 'shop-web');
    if (first !== undefined) state.components.put({ ...first, name: '上海\u001b[2J' });
  });
  const { out } = await monitor([APP, '--item', 'request'], { isTerminal: true, columns: 120 });
  expect(out).not.toContain('\u001b');
  expect(out).toContain('上海\\u001b[2J');
  const [head = '', ...rows] = out.split('\n').slice(3, 6);
  const at = head.indexOf('ITEM');
  for (const row of rows) expect(displayWidth(row.slice(0, row.indexOf('request')))).toBe(at);
  const csv = await monitor([APP, '--item', 'request', '-o', 'csv']);
  expect(csv.code).toBe(0);
});
