import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MonitoringHistory } from '../../src/model/monitoring.ts';
import type { ApplicationSummary, ControllerEvent } from '../../src/model/status.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { projectRoot } from '../cli/running.ts';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import { openWorld, until, type World } from './world.ts';

const MONITORING = '/applications/shop/monitoring';
const WEB = readFileSync(join(projectRoot, 'examples/shop/web.yaml'), 'utf8');

let world: World;
/** The commit that renamed a port. */
let commit: string;
beforeAll(async () => {
  world = await openWorld();
  await shopIs(({ conditions }) => conditions.some(({ type, status }) => type === 'Ready' && status === 'True'));
  commit = world.commit({ 'shop/web.yaml': WEB.replace('alias: WEB', 'alias: SHOP') });
  await shopIs(({ lastAppliedRevision }) => lastAppliedRevision?.endsWith(commit) === true);
  world.sandbox.alter((state) => state.ports.put({ ...portOf(), alias: 'BY_HAND' }));
  await world.portolan(['sync', 'shop']);
  await happened('drift.healed', 'Application/shop');
});
afterAll(() => world.close());

function portOf() {
  const port = world.sandbox.state.ports.in('component', demo.webServiceId).find((one) => one.port === 8080);
  if (port === undefined) throw new Error('the sandbox has no such port');
  return port;
}

async function shopIs(isSo: (shop: ApplicationSummary) => boolean): Promise<void> {
  await until(async () => {
    const { items } = await world.api<{ items: readonly ApplicationSummary[] }>('/api/v1/applications');
    return items.some((one) => one.id === 'Application/shop' && isSo(one));
  });
}

async function happened(type: string, application: string): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const { items } = await world.api<{ items: readonly ControllerEvent[] }>('/api/v1/events?limit=500');
    return items.some((event) => event.type === type && event.application === application);
  };
  await until(isThere);
}

test('question 7: how is the application doing, before and after the last change?', async () => {
  const page = await visit(world.url, '/applications');
  await page.getByRole('link', { name: 'shop', exact: true }).click();
  await page.getByRole('link', { name: 'Monitoring' }).click();
  await settled(page);
  for (const item of ['request_time', 'request', 'request_client']) {
    const panel = page.getByRole('figure').filter({ has: page.getByRole('heading', { name: item, exact: true }) });
    await panel.locator('canvas').waitFor();
    await panel.getByRole('columnheader', { name: 'Mean before' }).waitFor();
    await panel.getByText(/^Mean before and after the last change, just now\.$/).waitFor();
    for (const component of ['shop-web', 'shop-api']) {
      const cells = panel.getByRole('row').filter({ hasText: component }).getByRole('cell');
      // Last, least, greatest value, and the mean before the change.
      for (const text of (await cells.allInnerTexts()).slice(0, 4)) expect(text).toMatch(/^\d+(?:\.\d+)?(?: ms|\/s)?$/);
    }
  }
  const marks = page.getByRole('region', { name: 'Changes and drift in this time' });
  const rowOf = (type: string) =>
    marks.getByRole('row').filter({ has: page.getByRole('cell', { name: type, exact: true }) });
  await rowOf('Change').filter({ hasText: 'to SHOP' }).waitFor();
  await rowOf('Drift').filter({ hasText: 'ports[8080].alias' }).waitFor();
  await rowOf('Corrected').waitFor();
  await marks
    .getByRole('link', { name: new RegExp(commit.slice(0, 12)) })
    .first()
    .waitFor();
  expect(await axeViolations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
});

test('the values are a table too, with gaps as gaps', async () => {
  const page = await visit(world.url, `${MONITORING}?component=shop-api`);
  await settled(page);
  const [answer] = await Promise.all([
    world.api<MonitoringHistory>('/api/v1/applications/shop/monitoring?component=shop-api'),
    page.getByText('Values as a table').click(),
  ]);
  const table = page.getByRole('table', { name: /The values of each series/ });
  await table.waitFor();
  expect(await table.getByRole('row').count()).toBe((answer.series[0]?.values.length ?? 0) + 1);
  expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
    'Time',
    'shop-api request_time',
    'shop-api request',
    'shop-api request_client',
  ]);
  expect(await axeViolations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
});

test('zoom by keyboard, by pointer and by button; the address holds the time', async () => {
  const page = await visit(world.url, `${MONITORING}?range=6h`);
  await settled(page);
  const span = async (): Promise<number> => {
    const query = (await addressOf(page)).searchParams;
    return (Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '')) / 60_000;
  };
  const chart = page.getByRole('application', { name: /^request_time\./ });
  await chart.locator('canvas').waitFor();
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await page
    .getByRole('status')
    .filter({ hasText: /shop-web \d+(?:\.\d+)? ms, shop-api \d+/ })
    .waitFor();
  await page.keyboard.press('+');
  await expect.poll(span).toBeCloseTo(180, -1);
  await page.keyboard.press('Shift+ArrowLeft');
  await expect.poll(span).toBeCloseTo(180, -1);
  // A new document shows the same time.
  await page.reload();
  await settled(page);
  expect(await span()).toBeCloseTo(180, -1);
  const box = await chart.locator('.u-over').boundingBox();
  if (box === null) throw new Error('the chart is not shown');
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect.poll(span).toBeCloseTo(90, -1);
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await expect.poll(span).toBeCloseTo(180, -1);
  await page.getByRole('button', { name: '24h, the last 24 hours' }).click();
  await expect.poll(async () => (await addressOf(page)).search).toBe('?range=24h');
  await page.goBack();
  await expect.poll(span).toBeCloseTo(180, -1);
});

test('lost samples, unknown components and applications without history are told apart', async () => {
  world.sandbox.alter((state) => {
    for (const row of state.components.in('application', '43')) state.components.put({ ...row, monitored: false });
  });
  const page = await visit(world.url, '/applications/blog/monitoring', { expects: /status of 422/ });
  await settled(page);
  await page.getByText('No monitoring history').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.goto(`${MONITORING}?component=nobody`);
  await page.getByText('No component called nobody reports monitoring history.').waitFor();
  world.sandbox.setFaults([
    { operation: 'queryRegion', fault: { type: 'status', when: 'before', status: 500 } },
    { operation: 'monitor', fault: { type: 'lost-samples' } },
  ]);
  await page.goto(`${MONITORING}?range=7d`);
  await page.getByText('No samples', { exact: true }).waitFor();
  world.sandbox.setFaults([]);
});
