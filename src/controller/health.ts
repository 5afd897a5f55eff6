import type { HealthThreshold } from '../kinds/application/spec.ts';
import { durationMsOf } from '../model/duration.ts';
import type { JsonObject } from '../model/json.ts';
import type { ApplicationRecord, ComponentMonitor } from '../platform/records.ts';
import type { EpochMs } from '../model/time.ts';
import { type ConditionState, no, unknown, yes } from './conditions.ts';
import { PortolanError } from '../model/errors.ts';
import { resourceId } from '../model/ids.ts';
import { amount } from '../plan/words.ts';
import { type MonitoringQuestion, readMonitoring, sourceInWords } from '../platform/monitoring.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import type { Prepared } from '../reconcile/reconcile.ts';
import type { Core } from './core.ts';
import type { Passed } from './daemon-policy.ts';
import type { AppRecord } from './ledger-records.ts';

/** Fields of an application's record that describe what runs. */
type RunningFacts = Pick<ApplicationRecord, 'status' | 'componentCount' | 'runningComponentCount'>;

/**
 * Returns the health that the platform's own status of the application shows.
 * @param dueMs time until which a changed application may take to become ready; null: it was not changed lately.
 */
export function statusHealth(facts: RunningFacts, dueMs: EpochMs | null, nowMs: EpochMs): ConditionState {
  const { status, componentCount, runningComponentCount } = facts;
  const counted = `${runningComponentCount} of ${amount(componentCount, 'component')} running`;
  if (componentCount === 0) return unknown('NothingRuns', 'it has no components');
  if (status === 'running') return yes('Running', counted);
  if (dueMs !== null && nowMs < dueMs) return unknown('Progressing', `it was changed and is not ready yet: ${counted}`);
  if (dueMs !== null) return no('NotRunning', `it was changed and did not become ready in time: ${counted}`);
  if (status === 'part_running') return no('PartlyRunning', counted);
  // A platform that cannot reach its cluster says "closed" as well.
  return unknown('Closed', `its status on the platform is "${status}"`);
}

/** A threshold with the id of its component; `serviceId` is undefined if the threshold applies to every component. */
export interface ResolvedThreshold {
  readonly threshold: HealthThreshold;
  readonly serviceId: string | undefined;
}

/** Returns the longest period of the thresholds in ms. */
export function longestMs(thresholds: readonly HealthThreshold[]): number {
  return Math.max(0, ...thresholds.map(({ over }) => durationMsOf(over)));
}

/**
 * Returns whether each series of an application stays within its bounds, by its mean over the time after a change.
 * @param fromMs end of the change.
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

/** Returns a text for each series; `isWithin` is undefined where there is no data. */
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
    text: `${series} of ${name}: ${Number(mean.toPrecision(4))} over ${over}, should be ${bounds.join(' and ')}`,
  };
}

/** Returns the detail of an event about health. */
export function healthDetail(before: ConditionState | undefined, after: ConditionState): JsonObject {
  return {
    before: before === undefined ? null : { status: before.status, reason: before.reason },
    after: { status: after.status, reason: after.reason, message: after.message },
  };
}

/** Time between two observations of an install or a change that must become ready. */
export const CHECK_EVERY_MS = 5_000;
/** Reason of a pass for which only the health after a change is due. */
export const HEALTH_DUE = 'health after a change';
/** Samples that are enough for a mean. */
const SAMPLES = 60;
const STEP_SECONDS_MIN = 15;

export interface HealthResult {
  readonly health: ConditionState;
  /** When a better answer is expected. */
  readonly healthCheckMs: EpochMs | undefined;
}

/**
 * Returns the health of an application after a pass: by the platform's status of it, then by the thresholds of its
 * manifest over the time after its last change. It is read after a change and once per process, so an application in
 * sync needs no request for it. Health that cannot be read is Unknown, which is not a failure.
 */
export async function healthAfter(core: Core, record: AppRecord, { prepared, outcome }: Passed): Promise<HealthResult> {
  const { options, configuration } = core;
  const nowMs = options.clock.now();
  const conclude = (health: ConditionState): HealthResult => ({ health, healthCheckMs: undefined });
  if (hasWritten(outcome)) {
    record.kept = { ...record.kept, changedMs: nowMs };
    // Records from before a change say nothing about the time after it.
    return { health: unknown('Progressing', 'it was changed just now'), healthCheckMs: nowMs + CHECK_EVERY_MS };
  }
  if (prepared === undefined) return conclude(unknown('Unreachable', 'it could not be observed'));
  const { changedMs } = record.kept;
  const former = record.status.conditions.find(({ type }) => type === 'Healthy');
  const isKnown = former !== undefined && former.status !== 'Unknown' && record.passes > 1;
  if (changedMs === null && isKnown) return conclude(former);
  const dueMs = changedMs === null ? null : changedMs + configuration.settings.controller.healthTimeoutMs;
  const byStatus = await healthByStatus(prepared, dueMs, nowMs);
  if (byStatus.reason === 'Progressing') return { health: byStatus, healthCheckMs: nowMs + CHECK_EVERY_MS };
  const thresholds = record.work.application.spec.health ?? [];
  if (byStatus.status !== 'True' || thresholds.length === 0 || changedMs === null) {
    record.kept = { ...record.kept, changedMs: null };
    return conclude(byStatus);
  }
  const untilMs = changedMs + longestMs(thresholds);
  if (nowMs < untilMs) {
    const message = `${byStatus.message}; its series are evaluated at ${new Date(untilMs).toISOString()}`;
    return { health: unknown('Progressing', message), healthCheckMs: untilMs };
  }
  record.kept = { ...record.kept, changedMs: null };
  return conclude(await byMonitoring(core, record, prepared, changedMs, untilMs));
}

/** Returns whether a pass has changed something on the platform. */
export function hasWritten(outcome: Outcome): boolean {
  return outcome.type === 'ended' && outcome.results.some(({ status }) => status === 'done');
}

/** Returns the health by status; Unknown, with the reason `Unreachable`, if the status cannot be read. */
export async function healthByStatus(
  { reader }: Pick<Prepared, 'reader'>,
  dueMs: EpochMs | null,
  nowMs: EpochMs,
): Promise<ConditionState> {
  try {
    return statusHealth(await reader.application(), dueMs, nowMs);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return unknown('Unreachable', `its status cannot be read: ${error.message}`);
  }
}

/** Returns the components and series that the thresholds need; all components if one threshold applies to each. */
function questionOf(thresholds: readonly ResolvedThreshold[]): Pick<MonitoringQuestion, 'components' | 'items'> {
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
  { scope, ledgerView }: Prepared,
  fromMs: EpochMs,
  toMs: EpochMs,
): Promise<ConditionState> {
  const monitored = [...options.kinds.values()].find(({ monitoredId }) => monitoredId !== undefined);
  const thresholds = (work.application.spec.health ?? []).map((threshold): ResolvedThreshold => {
    if (threshold.component === undefined) return { threshold, serviceId: undefined };
    const resource = monitored && work.resources.get(resourceId(monitored.kind, threshold.component));
    // A component without a manifest has no series.
    return { threshold, serviceId: (resource && monitored?.monitoredId?.(resource, ledgerView)) ?? '' };
  });
  const start = Math.floor(fromMs / 1000);
  const end = Math.ceil(toMs / 1000);
  const stepSeconds = Math.max(STEP_SECONDS_MIN, Math.ceil((end - start) / SAMPLES));
  try {
    const client = configuration.client(scope.platform);
    const monitoring = await readMonitoring(client, scope, { start, end, stepSeconds, ...questionOf(thresholds) });
    const verdict = thresholdHealth(thresholds, monitoring.monitors, fromMs);
    return { ...verdict, message: `${verdict.message} (source: ${sourceInWords(monitoring)})` };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return unknown('NoData', `its monitoring data cannot be read: ${error.message}`);
  }
}
