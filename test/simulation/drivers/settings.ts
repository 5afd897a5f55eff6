import type { Settings } from '../../../src/configuration/settings/spec.ts';
import type { WindowSettings } from '../../../src/configuration/settings/windows-spec.ts';
import { defaultSettings } from '../../../src/configuration/configuration.ts';
import type { Chance } from '../chance.ts';

const base = defaultSettings();

/** What an operator has configured besides. */
export const operator = { platforms: new Set(['default']), stores: new Set(['main']) };
const HOUR_MS = 3_600_000;
const SHORT_BUDGET_SHARE = 0.15;

/** In each hour, in minutes; short enough that no two of them meet. */
interface HourlyWindow {
  readonly kind: 'allow' | 'deny';
  readonly fromMinute: number;
  readonly minutes: number;
}

/** What an operator's configuration says, and what that means, worked out apart from production. */
export interface DriverSettings {
  readonly spec: Settings;
  readonly pruneAfterMs: number;
  /** Always given, so it counts however few objects there are. */
  readonly maxShare: number;
  readonly window: HourlyWindow | undefined;
}

/** Times that settings are drawn from; the first of each is that of `permissive`. */
export interface SettingTimes {
  readonly pruneAfterMs: readonly number[];
  readonly resyncIntervalMs: readonly number[];
}

export const settingTimes: SettingTimes = {
  pruneAfterMs: [60_000, 300_000, 600_000],
  resyncIntervalMs: [120_000, 600_000],
};

/** How many objects may be removed in a day, in some schedules. undefined: as in production, which is more than most of them remove. */
export function anyDailyObjects(chance: Chance): number | undefined {
  return chance.happens(SHORT_BUDGET_SHARE) ? chance.pick([1, 2]) : undefined;
}

/** @param dailyObjects how many objects may be removed in a day; by default as many as in production. */
export function anySettings(chance: Chance, times = settingTimes, dailyObjects?: number): DriverSettings {
  const window: HourlyWindow | undefined = chance.happens(0.3)
    ? { kind: chance.pick(['allow', 'deny']), fromMinute: chance.pick([0, 5, 30]), minutes: chance.pick([5, 20]) }
    : undefined;
  return settingsOf({
    enabled: chance.happens(0.85),
    maxObjects: chance.pick([0, 1, 2, 3, 10]),
    maxShare: chance.pick([0.1, 0.3, 1]),
    pruneAfterMs: chance.pick(times.pruneAfterMs),
    resyncIntervalMs: chance.pick(times.resyncIntervalMs),
    concurrency: chance.pick([1, 2, 10]),
    window,
    dailyObjects,
  });
}

/** Nothing stands in the way of anything but age. */
export function permissive({
  pruneAfterMs: [pruneAfterMs = 0],
  resyncIntervalMs: [resyncIntervalMs = 0],
} = settingTimes): DriverSettings {
  return settingsOf({
    enabled: true,
    maxObjects: 1000,
    maxShare: 1,
    pruneAfterMs,
    resyncIntervalMs,
    concurrency: 10,
    window: undefined,
  });
}

export interface Choices {
  readonly enabled: boolean;
  readonly maxObjects: number;
  readonly maxShare: number;
  readonly pruneAfterMs: number;
  readonly resyncIntervalMs: number;
  readonly concurrency: number;
  readonly window: HourlyWindow | undefined;
  readonly dailyObjects?: number | undefined;
}

export function settingsOf(choices: Choices): DriverSettings {
  const { enabled, maxObjects, maxShare, pruneAfterMs, resyncIntervalMs, concurrency, window } = choices;
  const { dailyObjects = base.prune.dailyObjects } = choices;
  const windows: readonly WindowSettings[] =
    window === undefined
      ? []
      : [
          {
            name: 'hourly',
            kind: window.kind,
            schedule: `${window.fromMinute} * * * *`,
            durationMs: window.minutes * 60_000,
            timeZone: 'UTC',
          },
        ];
  const spec: Settings = {
    ...base,
    prune: { ...base.prune, enabled, maxShare, maxObjects, dailyObjects },
    controller: { ...base.controller, pruneAfterMs, resyncIntervalMs, concurrency },
    windows,
  };
  return { spec, pruneAfterMs, maxShare, window };
}

/** Whether its window is closed at a time of the wall clock. */
export function isClosedAt({ window }: DriverSettings, wallMs: number): boolean {
  if (window === undefined) return false;
  const intoHourMs = ((wallMs % HOUR_MS) + HOUR_MS) % HOUR_MS;
  const lasts = intoHourMs >= window.fromMinute * 60_000 && intoHourMs < (window.fromMinute + window.minutes) * 60_000;
  return window.kind === 'deny' ? lasts : !lasts;
}
