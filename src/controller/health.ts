import type { HealthThreshold } from '../kinds/application/spec.ts';
import { durationMsOf } from '../model/duration.ts';
import type { Json } from '../model/json.ts';
import type { ApplicationRecord, ComponentMonitor } from '../platform/records.ts';
import type { EpochMs } from '../model/time.ts';
import { type ConditionState, no, unknown, yes } from './conditions.ts';
import { PortolanError } from '../model/errors.ts';
import { resourceId } from '../model/ids.ts';
import { type MonitoringQuestion, readMonitoring, sourceInWords } from '../platform/monitoring.ts';
import type { Prepared } from '../reconcile/reconcile.ts';
import type { Core } from './core.ts';
import type { Passed } from './daemon-policy.ts';
import type { AppRecord } from './ledger-records.ts';

/** What the platform itself says of an application. */
type RunningFacts = Pick<ApplicationRecord, 'status' | 'componentCount' | 'runningComponentCount'>;

/**
 * Whether an application does what it is there for, by its own status.
 * @param dueMs it was changed, and has time until then to run; null: nothing was changed lately.
 */
export function statusHealth(facts: RunningFacts, dueMs: EpochMs | null, nowMs: EpochMs): ConditionState {
  const { status, componentCount, runningComponentCount } = facts;
  const counted = `${runningComponentCount} of ${componentCount} components run`;
  if (componentCount === 0) return unknown('NothingRuns', 'it has no components');
  if (status === 'running') return yes('Running', counted);
  if (dueMs !== null && nowMs < dueMs) return unknown('Progressing', `it was changed and does not run yet: ${counted}`);
  if (dueMs !== null) return no('NotRunning', `it was changed and did not come to run in time: ${counted}`);
  if (status === 'part_running') return no('PartlyRunning', counted);
  // A platform that cannot ask its cluster says "closed" as well.
  return unknown('Closed', `the platform calls it "${status}"`);
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
  if (isBad) return no('OutOfBounds', message);
  return found.some(({ isWithin }) => isWithin === undefined)
    ? unknown('NoData', message)
    : yes('WithinBounds', message);
}

/** Returns a sentence about each series; `isWithin` is undefined where there is no data. */
function measure({ threshold, serviceId }: ResolvedThreshold, monitors: readonly ComponentMonitor[], fromMs: EpochMs) {
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

function judged({ series, over, min, max }: HealthThreshold, name: string, values: readonly number[]) {
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

/** Between two looks at an install or a change that must come to run. */
export const LOOK_EVERY_MS = 5_000;
/** So many samples are enough for a mean. */
const SAMPLES = 60;
const STEP_SECONDS_MIN = 15;

export interface HealthLook {
  readonly health: ConditionState;
  /** When it is known better. */
  readonly healthLookMs: EpochMs | undefined;
}

/**
 * How healthy an application is after a pass: by the platform's own status of it, then by the thresholds of its manifest
 * over the time after its last change. Looked at after a change and once per process: an application in sync costs no
 * request for this alone. What cannot be read is Unknown and fails nothing.
 */
export async function healthAfter(core: Core, record: AppRecord, { prepared, outcome }: Passed): Promise<HealthLook> {
  const { options, configuration } = core;
  const nowMs = options.clock.now();
  const settled = (health: ConditionState): HealthLook => ({ health, healthLookMs: undefined });
  if (outcome.type === 'ended' && outcome.results.some(({ status }) => status === 'done')) {
    record.kept = { ...record.kept, changedMs: nowMs };
    // What was read before a change says nothing of the time after it.
    return { health: unknown('Progressing', 'it was changed just now'), healthLookMs: nowMs + LOOK_EVERY_MS };
  }
  if (prepared === undefined) return settled(unknown('Unreachable', 'it could not be looked at'));
  const { changedMs } = record.kept;
  const former = record.status.conditions.find(({ type }) => type === 'Healthy');
  const isKnown = former !== undefined && former.status !== 'Unknown' && record.passes > 1;
  if (changedMs === null && isKnown) return settled(former);
  const dueMs = changedMs === null ? null : changedMs + configuration.settings.controller.healthTimeoutMs;
  const byStatus = await healthByStatus(prepared, dueMs, nowMs);
  if (byStatus.reason === 'Progressing') return { health: byStatus, healthLookMs: nowMs + LOOK_EVERY_MS };
  const thresholds = record.work.application.spec.health ?? [];
  if (byStatus.status !== 'True' || thresholds.length === 0 || changedMs === null) {
    record.kept = { ...record.kept, changedMs: null };
    return settled(byStatus);
  }
  const untilMs = changedMs + longestMs(thresholds);
  if (nowMs < untilMs) {
    const message = `${byStatus.message}; its series are judged at ${new Date(untilMs).toISOString()}`;
    return { health: unknown('Progressing', message), healthLookMs: untilMs };
  }
  record.kept = { ...record.kept, changedMs: null };
  return settled(await byMonitoring(core, record, prepared, changedMs, untilMs));
}

/** What cannot be read is not known, and fails nothing. */
async function healthByStatus({ reader }: Prepared, dueMs: EpochMs | null, nowMs: EpochMs): Promise<ConditionState> {
  try {
    return statusHealth(await reader.application(), dueMs, nowMs);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return unknown('Unreachable', `its status cannot be read: ${error.message}`);
  }
}

/** The components and items that thresholds are about; all components where one of them is about each. */
function wantedOf(thresholds: readonly ResolvedThreshold[]): Pick<MonitoringQuestion, 'components' | 'items'> {
  const items = [...new Set(thresholds.map(({ threshold }) => threshold.series))];
  const ids = new Map(thresholds.map(({ threshold, serviceId }) => [serviceId, threshold.component]));
  if (ids.has(undefined)) return { items };
  const components = [...ids].flatMap(([serviceId, name]) =>
    serviceId === undefined || serviceId === '' ? [] : [{ serviceId, displayName: name ?? null, alias: '' }],
  );
  return { items, components };
}

async function byMonitoring(
  { configuration, options }: Core,
  { work }: AppRecord,
  { scope, memory }: Prepared,
  fromMs: EpochMs,
  toMs: EpochMs,
): Promise<ConditionState> {
  const monitored = [...options.kinds.values()].find(({ monitoredId }) => monitoredId !== undefined);
  const thresholds = (work.application.spec.health ?? []).map((threshold): ResolvedThreshold => {
    if (threshold.component === undefined) return { threshold, serviceId: undefined };
    const resource = monitored && work.resources.get(resourceId(monitored.kind, threshold.component));
    // One that the source does not name has no series either.
    return { threshold, serviceId: (resource && monitored?.monitoredId?.(resource, memory)) ?? '' };
  });
  const start = Math.floor(fromMs / 1000);
  const end = Math.ceil(toMs / 1000);
  const stepSeconds = Math.max(STEP_SECONDS_MIN, Math.ceil((end - start) / SAMPLES));
  try {
    const client = configuration.client(scope.platform);
    const monitoring = await readMonitoring(client, scope, { start, end, stepSeconds, ...wantedOf(thresholds) });
    const verdict = thresholdHealth(thresholds, monitoring.monitors, fromMs);
    return { ...verdict, message: `${verdict.message} (source: ${sourceInWords(monitoring)})` };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return unknown('NoData', `its monitoring history cannot be read: ${error.message}`);
  }
}
