import { expect, test } from 'vitest';
import type { LeaseUnit } from '../../src/ledger/shared.ts';
import type { Intent } from '../../src/model/owned.ts';
import { createMetrics, type Metrics } from '../../src/server/metrics.ts';
import { application, handMadeApi, NOON_MS } from '../controller/hand-made.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { parseExposition } from './exposition.ts';

const clock = new VirtualClock(NOON_MS);
const replica = (): Metrics =>
  createMetrics({ clock, concurrency: () => 8, version: '1.2.3', node: '24.21.0', process: false });

async function samplesOf(metrics: Metrics): Promise<ReadonlyMap<string, number>> {
  const { text } = await metrics.render();
  return new Map([...parseExposition(text).values()].flatMap(({ samples }) => [...samples]));
}

const UNITS: readonly LeaseUnit[] = ['platform:east', 'platform:west', 'source:default'];
const lease = (unit: LeaseUnit, from: 'free' | 'released' | 'expired' = 'free') => {
  const untilMs = clock.monotonic() + 15_000;
  return { unit, from, validUntilMs: () => untilMs };
};

/** Two applications on two platforms, and one that was not resolved. */
function fleet() {
  const api = handMadeApi([
    application('shop', { platform: 'east', scope: 'east/a/r/1', failures: 2 }),
    application('blog', { platform: 'west', scope: 'west/a/r/2' }),
    application('new', { platform: 'west', scope: null }),
  ]);
  const regions = ['east', 'west'].map((platform) => ({ platform, region: 'r', state: 'open', message: '' }) as const);
  const whole = api.status;
  api.status = (within = () => true) => {
    const applications = api.applicationsNow.filter(({ scope }) => within(scope)).length;
    const status = whole();
    return { ...status, regions, counts: { ...status.counts, applications } };
  };
  const orphan = { id: 'Component/a', origin: 'created', objects: ['port/1'], sinceMs: 0 } as const;
  api.orphans = () => ['east/a/r/3', 'west/a/r/4'].map((scope) => ({ ...orphan, scope }));
  api.intentsNow = async () =>
    ['east/a/r/1', 'west/a/r/2'].map((scope) => ({ scope, state: 'unknown' }) as Partial<Intent> as Intent);
  return api;
}

test('the sum over two controllers of what they lead is what one controller shows', async () => {
  const alone = replica();
  const [first, second] = [replica(), replica()];
  for (const metrics of [alone, first, second]) metrics.attach(fleet());
  for (const { observer } of [first, second]) observer.units(UNITS);
  first.observer.led(lease('platform:east'));
  second.observer.led(lease('platform:west'));
  second.observer.led(lease('source:default'));
  const expected = await samplesOf(alone);
  const parts = [await samplesOf(first), await samplesOf(second)];
  // Of these, each controller has its own.
  const ofProcess =
    /^(?:portolan_(?:build_info|phase|lease_|fenced|records_lost|shared|database|source_not_followed)|controller_runtime|workqueue)/;
  const standing = [...expected].filter(([series]) => !ofProcess.test(series));
  expect(standing.length).toBeGreaterThan(30);
  for (const [series, value] of standing)
    expect(
      parts.reduce((sum, part) => sum + (part.get(series) ?? 0), 0),
      series,
    ).toBe(value);
  expect(parts.map((part) => part.get('portolan_applications{state="applications"}'))).toEqual([1, 2]);
  for (const part of parts)
    expect([...part.keys()].filter((series) => !expected.has(series) && !ofProcess.test(series))).toEqual([]);
});

/** Acquisitions of each unit start at 0. */
const isAtRest = (series: string, value: number): boolean => value === 0 && series.includes('acquisitions');

test('leases are shown with their age and the time that is left, and each gain and loss is counted', async () => {
  const metrics = replica();
  metrics.attach(fleet());
  const { observer } = metrics;
  const alone = await samplesOf(metrics);
  expect([...alone.keys()].filter((series) => /portolan_(?:lease|shared|database_silence)/.test(series))).toEqual([]);

  observer.units(UNITS);
  expect((await samplesOf(metrics)).get('portolan_lease_acquisitions_total{from="expired",unit="platform:east"}')).toBe(
    0,
  );
  observer.led(lease('platform:east', 'expired'));
  observer.led(lease('platform:west', 'released'));
  observer.databaseAsked(true);
  observer.caughtUp();
  clock.advance(4_000);
  observer.databaseAsked(false);
  observer.fenced('platform:west', 'taken-over');
  observer.recordsLost();
  observer.yielded('platform:west', 'lost');
  const now = await samplesOf(metrics);
  const found = Object.fromEntries(
    [...now].filter(
      ([series, value]) =>
        /^portolan_(?:lease|fenced|records_lost|shared|database)/.test(series) && !isAtRest(series, value),
    ),
  );
  expect(found).toEqual({
    'portolan_lease_held{unit="platform:east"}': 1,
    'portolan_lease_held{unit="platform:west"}': 0,
    'portolan_lease_held{unit="source:default"}': 0,
    'portolan_lease_age_seconds{unit="platform:east"}': 4,
    'portolan_lease_remaining_seconds{unit="platform:east"}': 11,
    'portolan_lease_acquisitions_total{from="expired",unit="platform:east"}': 1,
    'portolan_lease_acquisitions_total{from="released",unit="platform:west"}': 1,
    'portolan_lease_losses_total{because="handed-over"}': 0,
    'portolan_lease_losses_total{because="lost"}': 1,
    'portolan_lease_losses_total{because="stopped"}': 0,
    'portolan_fenced_writes_total{because="records-lost"}': 0,
    'portolan_fenced_writes_total{because="taken-over"}': 1,
    portolan_records_lost_total: 1,
    portolan_database_failures_total: 1,
    portolan_database_silence_seconds: 4,
    portolan_shared_state_age_seconds: 4,
  });
});

test('a controller that cannot follow the accepted revision says so, also when another one leads the source', async () => {
  const [leader, other] = [replica(), replica()];
  const [followed, notFollowed] = [fleet(), fleet()];
  const whole = notFollowed.status;
  notFollowed.status = (within) => {
    const status = whole(within);
    const error = { code: 'source/not-followed', message: 'variables differ', remedy: '', atMs: NOON_MS };
    return { ...status, source: { ...status.source, error } };
  };
  leader.attach(followed);
  other.attach(notFollowed);
  for (const { observer } of [leader, other]) observer.units(UNITS);
  leader.observer.led(lease('source:default'));
  other.observer.led(lease('platform:west'));
  const series = 'portolan_source_not_followed{source="default"}';
  expect((await samplesOf(leader)).get(series)).toBe(0);
  expect((await samplesOf(other)).get(series)).toBe(1);
  // Whether the newest revision can be read is known to the leader of the source.
  expect((await samplesOf(other)).has('portolan_source_failing{source="default"}')).toBe(false);
});

test('records that were lost are counted, whether this controller had written or only read them', async () => {
  const metrics = replica();
  metrics.observer.units(UNITS);
  const lost = async () => (await samplesOf(metrics)).get('portolan_records_lost_total');
  expect(await lost()).toBe(0);
  metrics.observer.fenced('platform:east', 'taken-over');
  expect(await lost()).toBe(0);
  metrics.observer.fenced('platform:east', 'records-lost');
  metrics.observer.recordsLost();
  expect(await lost()).toBe(2);
});

test('a lease that is not renewed is not held any more, also before its controller notices', async () => {
  const metrics = replica();
  metrics.observer.units(['platform:east']);
  metrics.observer.led(lease('platform:east'));
  const held = async () => (await samplesOf(metrics)).get('portolan_lease_held{unit="platform:east"}');
  clock.advance(14_999);
  expect(await held()).toBe(1);
  clock.advance(1);
  expect(await held()).toBe(0);
  expect((await samplesOf(metrics)).get('portolan_lease_remaining_seconds{unit="platform:east"}')).toBe(0);
});

test('a platform that was removed from the configuration has no lease to hold', async () => {
  const metrics = replica();
  metrics.observer.units(UNITS);
  metrics.observer.units(['platform:east']);
  const names = [...(await samplesOf(metrics)).keys()].filter((series) => series.startsWith('portolan_lease_held'));
  expect(names).toEqual(['portolan_lease_held{unit="platform:east"}']);
});
