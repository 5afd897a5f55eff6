import type { HealthThreshold } from '../kinds/application/spec.ts';
import { durationMsOf } from '../model/duration.ts';
import type { Json } from '../model/json.ts';
import type { ComponentMonitor } from '../model/observed.ts';
import type { EpochMs } from '../model/time.ts';
import type { ConditionState } from './conditions.ts';

/** What the platform itself says of an application. */
export interface RunningFacts {
  /** `running`, `part_running`, `closed`; anything else as it came. */
  readonly status: string;
  readonly componentCount: number;
  readonly runningComponentCount: number;
}

/**
 * Whether an application does what it is there for, by its own status.
 * @param dueMs it was changed, and has time until then to run; null: nothing was changed lately.
 */
export function statusHealth(facts: RunningFacts, dueMs: EpochMs | null, nowMs: EpochMs): ConditionState {
  const { status, componentCount, runningComponentCount } = facts;
  const counted = `${runningComponentCount} of ${componentCount} components run`;
  if (componentCount === 0) return { status: 'Unknown', reason: 'NothingRuns', message: 'it has no components' };
  if (status === 'running') return { status: 'True', reason: 'Running', message: counted };
  if (dueMs !== null && nowMs < dueMs)
    return { status: 'Unknown', reason: 'Progressing', message: `it was changed and does not run yet: ${counted}` };
  if (dueMs !== null)
    return {
      status: 'False',
      reason: 'NotRunning',
      message: `it was changed and did not come to run in time: ${counted}`,
    };
  if (status === 'part_running') return { status: 'False', reason: 'PartlyRunning', message: counted };
  // A platform that cannot ask its cluster says "closed" as well.
  return { status: 'Unknown', reason: 'Closed', message: `the platform calls it "${status}"` };
}

/** A threshold whose component is known by its id; `serviceId` is undefined where every component counts. */
export interface ResolvedThreshold {
  readonly threshold: HealthThreshold;
  readonly serviceId: string | undefined;
}

/** @returns ms that the longest of them looks at. */
export function longestMs(thresholds: readonly HealthThreshold[]): number {
  return Math.max(0, ...thresholds.map(({ over }) => durationMsOf(over)));
}

/**
 * Whether the series of an application keep within their bounds, each by its mean over the time after a change.
 * @param fromMs when the change was done.
 */
export function thresholdHealth(
  thresholds: readonly ResolvedThreshold[],
  monitors: readonly ComponentMonitor[],
  fromMs: EpochMs,
): ConditionState {
  const found = thresholds.flatMap((one) => measure(one, monitors, fromMs));
  const message = found.map(({ text }) => text).join('; ');
  const isBad = found.some(({ isWithin }) => isWithin === false);
  if (isBad) return { status: 'False', reason: 'OutOfBounds', message };
  if (found.some(({ isWithin }) => isWithin === undefined)) return { status: 'Unknown', reason: 'NoData', message };
  return { status: 'True', reason: 'WithinBounds', message };
}

interface Measured {
  /** undefined: there is no data. */
  readonly isWithin: boolean | undefined;
  readonly text: string;
}

function measure(
  { threshold, serviceId }: ResolvedThreshold,
  monitors: readonly ComponentMonitor[],
  fromMs: EpochMs,
): readonly Measured[] {
  const { series, over, component } = threshold;
  const from = fromMs / 1000;
  const to = from + durationMsOf(over) / 1000;
  const measured = monitors
    .filter((monitor) => serviceId === undefined || monitor.serviceId === serviceId)
    .flatMap((monitor) => {
      const item = monitor.items?.find(({ name }) => name === series);
      if (item === undefined) return [];
      const values = item.series.flatMap(({ samples }) =>
        samples.flatMap(([atSeconds, value]) =>
          atSeconds >= from && atSeconds <= to && Number.isFinite(value) ? [value] : [],
        ),
      );
      return [judged(threshold, monitor.componentName, values)];
    });
  if (measured.length > 0) return measured;
  return [
    { isWithin: undefined, text: `${series}${component === undefined ? '' : ` of ${component}`}: no such series` },
  ];
}

function judged({ series, over, min, max }: HealthThreshold, name: string, values: readonly number[]): Measured {
  if (values.length === 0) return { isWithin: undefined, text: `${series} of ${name}: no data over ${over}` };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const isWithin = (min === undefined || mean >= min) && (max === undefined || mean <= max);
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])];
  return {
    isWithin,
    text: `${series} of ${name}: ${Number(mean.toPrecision(4))} over ${over}, wanted ${bounds.join(' and ')}`,
  };
}

/** Facts of an event about health. */
export function healthDetail(before: ConditionState | undefined, after: ConditionState): Json {
  return {
    before: before === undefined ? null : { status: before.status, reason: before.reason },
    after: { status: after.status, reason: after.reason, message: after.message },
  };
}
