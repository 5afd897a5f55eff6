import { Cron } from 'croner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import type { WindowState } from '../../src/plan/guard.ts';
import { syncWindows, windowAt } from '../../src/plan/windows.ts';
import type { WindowSettings } from '../../src/configuration/settings/windows-spec.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';

const scope = { platform: 'default', team: 'team-a', region: 'region-1', appId: 42 };
const HOUR_MS = 3_600_000;

const nights: WindowSettings = {
  name: 'nights',
  kind: 'allow',
  schedule: '0 22 * * *',
  durationMs: 8 * HOUR_MS,
  timeZone: 'UTC',
};
const freeze: WindowSettings = {
  name: 'freeze',
  kind: 'deny',
  schedule: '0 0 24 12 *',
  durationMs: 192 * HOUR_MS,
  timeZone: 'UTC',
};

/** `open`, or `why window until` in UTC. */
function at(specs: readonly WindowSettings[], time: string, labels: Readonly<Record<string, string>> = {}): string {
  return words(windowAt(syncWindows(specs), scope, labels, Date.parse(time)));
}

function words(state: WindowState): string {
  if (state.type === 'open') return 'open';
  const until = state.untilMs === null ? 'null' : new Date(state.untilMs).toISOString().replace(/:00\.000Z$/, 'Z');
  return `${state.why} ${state.window} ${until}`;
}

test.for([
  ['no window', [], '2026-11-20T12:00Z', 'open'],
  ['inside of an allow', [nights], '2026-11-20T23:00Z', 'open'],
  ['at its beginning', [nights], '2026-11-20T22:00:00.000Z', 'open'],
  ['just before it', [nights], '2026-11-20T21:59:59.999Z', 'not-allowed nights 2026-11-20T22:00Z'],
  ['just before its end', [nights], '2026-11-21T05:59:59.999Z', 'open'],
  ['at its end', [nights], '2026-11-21T06:00:00.000Z', 'not-allowed nights 2026-11-21T22:00Z'],
  ['inside of a deny', [freeze], '2026-12-28T12:00Z', 'denied freeze 2027-01-01T00:00Z'],
  ['outside of a deny', [freeze], '2026-11-20T12:00Z', 'open'],
  ['a deny beats an allow', [nights, freeze], '2026-12-28T23:00Z', 'denied freeze 2027-01-01T00:00Z'],
  [
    'a deny that ends while no allow lasts goes on until one does',
    [nights, { ...freeze, durationMs: 12 * HOUR_MS }],
    '2026-12-24T01:00Z',
    'denied freeze 2026-12-24T22:00Z',
  ],
  [
    'of two allows one is enough',
    [nights, { ...nights, name: 'noon', schedule: '0 12 * * *', durationMs: HOUR_MS }],
    '2026-11-20T12:30Z',
    'open',
  ],
  [
    'the allow that comes next is named',
    [nights, { ...nights, name: 'noon', schedule: '0 12 * * *', durationMs: HOUR_MS }],
    '2026-11-20T11:00Z',
    'not-allowed noon 2026-11-20T12:00Z',
  ],
  [
    'a deny that begins anew before it ends is one',
    [{ ...freeze, schedule: '0 0,12 24 12 *', durationMs: 20 * HOUR_MS }],
    '2026-12-24T01:00Z',
    'denied freeze 2026-12-25T08:00Z',
  ],
  [
    'a deny that never ends has no end to tell',
    [{ ...freeze, schedule: '0 * * * *', durationMs: 2 * HOUR_MS }],
    '2026-11-20T12:30Z',
    'denied freeze null',
  ],
  [
    'of two denies the longer one is named',
    [freeze, { ...freeze, name: 'short', durationMs: 200 * HOUR_MS, schedule: '0 0 20 12 *' }],
    '2026-12-25T12:00Z',
    'denied freeze 2027-01-01T00:00Z',
  ],
] as const)('%s', ([, specs, time, expected]) => {
  expect(at(specs, time)).toBe(expected);
});

test.for([
  ['in winter, Berlin is an hour ahead', '2026-11-20T21:00Z', 'open'],
  ['in summer, two', '2026-07-20T20:00Z', 'open'],
  ['and not yet', '2026-07-20T19:59Z', 'not-allowed nights 2026-07-20T20:00Z'],
  ['the night of 23 hours: 8 hours from 22:00 end at 07:00 there', '2026-03-29T04:59Z', 'open'],
  ['and not later', '2026-03-29T05:00Z', 'not-allowed nights 2026-03-29T20:00Z'],
  ['the night of 25 hours: they end at 05:00 there', '2026-10-25T03:59Z', 'open'],
  ['and not later, either', '2026-10-25T04:00Z', 'not-allowed nights 2026-10-25T21:00Z'],
] as const)('%s', ([, time, expected]) => {
  expect(at([{ ...nights, timeZone: 'Europe/Berlin' }], time)).toBe(expected);
});

test('a beginning that the change of clocks leaves out comes right after it, one that comes twice counts once', () => {
  const half = { ...freeze, schedule: '30 2 * * *', durationMs: 30 * 60_000, timeZone: 'Europe/Berlin' };
  expect(at([half], '2026-03-29T01:00Z')).toBe('denied freeze 2026-03-29T01:30Z');
  expect(at([half], '2026-03-29T01:30Z')).toBe('open');
  expect(at([half], '2026-10-25T00:30Z')).toBe('denied freeze 2026-10-25T01:00Z');
  expect(at([half], '2026-10-25T01:30Z')).toBe('open');
});

test.for([
  ['every scope', {}, {}, true],
  ['its scope', { scopes: ['team-b/*/*', 'team-a/*/42'] }, {}, true],
  ['another scope', { scopes: ['team-b/*/*', 'team-a/region-2/*'] }, {}, false],
  ['its platform', { platforms: ['default'] }, {}, true],
  ['another platform', { platforms: ['staging'] }, {}, false],
  ['its labels', { labels: { env: 'prod' } }, { env: 'prod', tier: '1' }, true],
  ['some of its labels', { labels: { env: 'prod', tier: '2' } }, { env: 'prod', tier: '1' }, false],
  ['a label that it has not', { labels: { env: 'prod' } }, {}, false],
  ['a name of every object', { labels: { constructor: 'x' } }, {}, false],
  ['its scope and another label', { scopes: ['*/*/*'], labels: { env: 'prod' } }, { env: 'test' }, false],
] as const)('a window for %s', ([, meant, labels, applies]) => {
  expect(at([{ ...freeze, ...meant }], '2026-12-28T12:00Z', labels) !== 'open').toBe(applies);
  // An allow window that is meant for others closes nothing here.
  expect(at([{ ...nights, ...meant }], '2026-11-20T12:00Z', labels) !== 'open').toBe(applies);
});

const specArbitrary: fc.Arbitrary<WindowSettings> = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  kind: fc.constantFrom('allow', 'deny'),
  schedule: fc.constantFrom('0 22 * * *', '30 2 * * *', '0 */6 * * 1-5', '15 9,13 1 * *', '0 0 * * SUN', '0 3 L * *'),
  durationMs: fc.constantFrom(600_000, HOUR_MS, 8 * HOUR_MS, 30 * HOUR_MS),
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'),
});

test('whatever the windows and the time, the answer is that of trying out every beginning', () => {
  fc.assert(
    fc.property(
      fc.array(specArbitrary, { maxLength: 3 }),
      fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }),
      (specs, date) => {
        const nowMs = date.getTime();
        const lasts = (spec: WindowSettings, atMs: number): boolean => {
          const { durationMs } = spec;
          const cron = new Cron(spec.schedule, { mode: '5-part', timezone: spec.timeZone });
          let beginsMs = cron.nextRun(new Date(atMs - durationMs - 2 * HOUR_MS))?.getTime();
          while (beginsMs !== undefined && beginsMs <= atMs) {
            if (atMs < beginsMs + durationMs) return true;
            beginsMs = cron.nextRun(new Date(beginsMs))?.getTime();
          }
          return false;
        };
        const isOpen = (atMs: number): boolean => {
          const allows = specs.filter(({ kind }) => kind === 'allow');
          const isAllowed = allows.length === 0 || allows.some((spec) => lasts(spec, atMs));
          return isAllowed && !specs.some((spec) => spec.kind === 'deny' && lasts(spec, atMs));
        };
        const state = windowAt(syncWindows(specs), scope, {}, nowMs);
        expect(state.type).toBe(isOpen(nowMs) ? 'open' : 'closed');
        if (state.type === 'open' || state.untilMs === null) return;
        expect(state.untilMs).toBeGreaterThan(nowMs);
        expect(isOpen(state.untilMs)).toBe(true);
        // Not open before: beginnings and ends are at whole minutes.
        expect(isOpen(state.untilMs - 60_000) && state.untilMs - 60_000 >= nowMs).toBe(false);
      },
    ),
    { numRuns: 150 },
  );
});

test('windows of the configuration are read with their defaults', () => {
  const text = `apiVersion: portolan/v1
kind: Settings
spec:
  windows:
    - { name: nights, kind: allow, schedule: "0 22 * * 1-5", duration: 8h, labels: { env: prod } }
`;
  const { configuration, problems } = loadConfiguration(kindDeclarations, text, 'portolan.yaml');
  expect(problems).toEqual([]);
  expect(configuration.settings.windows).toEqual([
    {
      name: 'nights',
      kind: 'allow',
      schedule: '0 22 * * 1-5',
      durationMs: 8 * HOUR_MS,
      timeZone: 'UTC',
      labels: { env: 'prod' },
    },
  ]);
  expect(syncWindows(configuration.settings.windows)).toHaveLength(1);
});
