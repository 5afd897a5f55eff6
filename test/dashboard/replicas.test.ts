/** Leaders and replicas on the platform page, and a database that does not answer, over a hand-made controller. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import type { ReplicaGroup, ReplicaState, UnitState } from '../../src/model/replicas.ts';
import { projectRoot } from '../cli/running.ts';
import { serve, type Serving } from '../server/serving.ts';
import { axeViolations, overflow, screenshot, settled, visit } from './browsing.ts';

let at: Serving;
beforeEach(async () => {
  at = await serve({ dashboardFolder: join(projectRoot, 'dist', 'dashboard') });
});

const NAMES = ['portolan-7c9f6d5b4-2xkqp', 'portolan-7c9f6d5b4-8hnwz', 'portolan-5d6c7b8a9-lmnop'] as const;

/** Twelve platforms on three replicas, of which one ends; one platform has no leader. */
function largeGroup(): ReplicaGroup {
  const nowMs = Date.now();
  const units = Array.from({ length: 12 }, (_, index): UnitState => {
    const name = `market-${String(index + 1).padStart(2, '0')}`;
    const leader = index === 6 ? null : (NAMES[index % 2] ?? null);
    const sinceMs = nowMs - (index + 1) * 400_000;
    const leaseLeftMs = leader === null ? null : 12_000;
    const [unit, epoch] = [`platform:${name}`, 40 + index];
    return { unit, type: 'platform', name, leader, epoch, sinceMs, leaseLeftMs, isConfigured: true };
  });
  const source: UnitState = {
    unit: 'source:default',
    type: 'source',
    name: 'default',
    leader: NAMES[0],
    epoch: 31,
    sinceMs: nowMs - 8_000_000,
    leaseLeftMs: 9_000,
    isConfigured: true,
  };
  const all = [...units, source];
  const replicas = NAMES.map(
    (name, index): ReplicaState => ({
      name,
      version: index === 2 ? '0.1.0' : '0.2.0',
      address: index === 0 ? 'https://portolan.example.com' : null,
      startedMs: nowMs - 9_000_000 * (index + 1),
      seenAgoMs: [900, 15_000, 2_000][index] ?? 0,
      isDraining: index === 2,
      isSelf: index === 0,
      leads: all.filter(({ leader }) => leader === name).length,
    }),
  );
  return { isShared: true, asOfMs: nowMs, isCurrent: true, replicas, units: all };
}

/** Opens a page whose time passes as the test says. The dashboard reads what has no events every ten seconds. */
async function visitInTime(path: string): Promise<{ page: Page; later(): Promise<void> }> {
  const page = await visit(at.url, path);
  await page.clock.install();
  await page.reload();
  await settled(page);
  return { page, later: () => page.clock.fastForward(10_000) };
}

test('the platform page shows the leader of each platform, since when, under which epoch, and all replicas', async () => {
  at.api.group = largeGroup();
  const { page, later } = await visitInTime('/platform');
  const leaders = page.getByRole('group', { name: 'Leaders' }).getByRole('row');
  await expect.poll(() => leaders.count()).toBe(14);
  // The one that waits comes first.
  expect(await leaders.nth(1).innerText()).toMatch(/^market-07\s+No leader\s+–\s+46 minutes ago\s+46$/);
  expect(await leaders.nth(2).innerText()).toMatch(/^market-01\s+Led\s+portolan-7c9f6d5b4-2xkqp\s+6 minutes ago\s+40$/);
  expect(await leaders.last().innerText()).toMatch(/^default source\s+Led/);
  const replicas = page.getByRole('group', { name: 'Replicas' }).getByRole('row');
  expect(await replicas.nth(1).innerText()).toMatch(/shows this page\s+Active\s+6\s+0\.2\.0\s+2 hours ago\s+1 s ago$/);
  expect(await replicas.nth(2).innerText()).toMatch(/8hnwz\s+No sign\s+6\s+0\.2\.0\s+5 hours ago\s+15 s ago$/);
  expect(await replicas.nth(3).innerText()).toMatch(/lmnop\s+Ending\s+0\s+0\.1\.0/);
  await page.getByRole('region', { name: 'Leaders' }).getByText('1 without a leader').waitFor();

  // A takeover shows without a reload.
  const taken = at.api.group.units.map((unit) => ({ ...unit, leader: unit.leader ?? NAMES[0] }));
  at.api.group = { ...at.api.group, units: taken };
  await later();
  await page.getByRole('region', { name: 'Leaders' }).getByText('All led').waitFor();
  expect(await axeViolations(page)).toEqual([]);
});

test('a unit that no configuration has any more comes last, and does not count as one without a leader', async () => {
  const group = largeGroup();
  const units = group.units.map((unit) => ({ ...unit, isConfigured: unit.leader !== null }));
  at.api.group = { ...group, units };
  const { page } = await visitInTime('/platform');
  const leaders = page.getByRole('group', { name: 'Leaders' }).getByRole('row');
  await expect.poll(() => leaders.count()).toBe(14);
  expect(await leaders.last().innerText()).toMatch(/^market-07\s+Not configured/);
  expect(await page.getByRole('region', { name: 'Leaders' }).innerText()).not.toContain('without a leader');
});

test('a controller with a ledger of its own has no leaders, and asks for the database once', async () => {
  at.api.group = { ...largeGroup(), isShared: false };
  const { page, later } = await visitInTime('/platform');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await settled(page);
  for (let times = 2; times < 4; times += 1) {
    await later();
    await expect.poll(() => asked.filter((path) => path === '/api/v1/platform').length).toBeGreaterThanOrEqual(times);
  }
  expect(await page.getByRole('heading', { name: 'Leaders' }).count()).toBe(0);
  expect(asked.filter((path) => path === '/api/v1/status')).toHaveLength(1);
});

test('a database that cannot be read is shown on every page, with the age of the state, until it answers', async () => {
  const database = { isReachable: true, asOfMs: Date.now(), ageMs: 1_000 };
  at.api.group = largeGroup();
  at.api.state = { ...at.api.state, database };
  const { page, later } = await visitInTime('/applications');
  const banner = page.getByText('This controller cannot read the database of the ledger.');
  const away = { isReachable: false, asOfMs: Date.now() - 190_000, ageMs: 190_000 };
  at.api.state = { ...at.api.state, database: away };
  at.api.group = { ...at.api.group, isCurrent: false, asOfMs: away.asOfMs };
  await later();
  await banner.waitFor();
  expect(await banner.innerText()).toContain('The page shows its state of 3 minutes ago. Changes are refused.');
  await page.getByRole('link', { name: 'Platform' }).click();
  await settled(page);
  await page
    .getByRole('region', { name: 'Leaders' })
    .getByText(/^As of 3 minutes ago/)
    .waitFor();
  expect(await banner.isVisible()).toBe(true);
  expect(await axeViolations(page)).toEqual([]);
  at.api.state = { ...at.api.state, database: { ...away, isReachable: true } };
  await later();
  await page.getByText('This controller cannot read what the others have stored.').waitFor();
  at.api.state = { ...at.api.state, database };
  await later();
  await page.getByText('The page shows its state of').waitFor({ state: 'detached' });
});

for (const theme of ['light', 'dark'] as const)
  test.for([360, 1280])(`leaders and the banner, ${theme}, %i px wide: a picture without scrolling`, async (width) => {
    at.api.group = largeGroup();
    at.api.state = {
      ...at.api.state,
      database: { isReachable: false, asOfMs: Date.now() - 190_000, ageMs: 190_000 },
    };
    const page = await visit(at.url, '/platform', { theme, width });
    await settled(page);
    await page.getByText('This controller cannot read the database').waitFor();
    await screenshot(page, `replicas-${theme}-${width}`);
    expect(await axeViolations(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
  });
