import type { LedgerOperation } from '../ledger/ledger.ts';
import type { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Hold, ScopePlan, Wait } from '../model/plan.ts';
import type { ApplicationStatus, Drift, PendingWork, ResourceStatus, StatusError } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { planDigest } from '../plan/digest.ts';
import { POLICY_REFUSAL } from '../plan/guard.ts';
import type { ActionResult } from '../plan/result.ts';
import { amount, withRemedy } from '../plan/words.ts';
import { conditionOf } from './application-state.ts';
import { applicationConditions, type Findings, resourceStatuses, withSince } from './conditions.ts';
import type { Passed } from './daemon-policy.ts';
import { driftDetail, trackDrift } from './drift.ts';
import { draftEvent, type EventDraft } from './events.ts';
import { REGIONS_EVERY_MS } from './gates.ts';
import { healthDetail, type HealthResult, CHECK_EVERY_MS, HEALTH_DUE } from './health.ts';
import { historyRow, type AppRecord } from './ledger-records.ts';
import { applicationFailed, approvalNeeded, driftDetected, holdAdded, notHealthy } from './problem-events.ts';

/** When an application gets its next pass. */
export type Requeue =
  | { readonly type: 'now'; readonly because: string }
  | { readonly type: 'at'; readonly atMs: EpochMs; readonly because: string }
  /** After its backoff, because the pass failed. */
  | { readonly type: 'retry' }
  | { readonly type: 'resync' };

interface PassToJudge extends HealthResult {
  readonly record: AppRecord;
  readonly passed: Passed;
  /** Drift as the pass first observed it, which was reported at that time. */
  readonly seen: readonly ResourceStatus[];
  readonly revision: string;
  readonly nowMs: EpochMs;
}

/**
 * Judges a pass, and stores the application's new status in its record.
 * @returns the events, the rows for the history, and when the application gets its next pass.
 */
export function judgePass(input: PassToJudge) {
  const { record, passed, revision, nowMs, health } = input;
  const { outcome, pause, approval } = passed;
  const former = record.status;
  const plan = outcome.type === 'unobserved' ? undefined : outcome.plan;
  const { results, waits } = outcome.type === 'ended' ? outcome : { results: [], waits: [] };
  const error = outcome.type === 'refused' ? undefined : outcome.error;
  const { drifts, news } =
    plan === undefined ? { drifts: new Map<ResourceId, Drift>(), news: [] } : trackDrift(input.seen, plan, nowMs);
  const denied = outcome.type === 'refused' ? outcome.refusals.filter(({ code }) => code === POLICY_REFUSAL) : [];
  const { work } = record;
  // An application does not fail because its region takes no changes.
  const mayFail = pause?.type !== 'region';
  const refused = mayFail ? refusalOf(passed, nowMs) : undefined;
  const findings: Findings = {
    work,
    plan,
    waits,
    drifts,
    error,
    ...unfinishedOf(results),
    pause,
    approval,
    denied,
    refused,
    health,
  };
  const failure = mayFail ? (failureOf(error, results, nowMs) ?? refused) : undefined;
  const states = applicationConditions(findings);
  const isReady = states.Ready.status === 'True';
  record.status = {
    ...former,
    conditions: withSince(states, former.conditions, revision, nowMs),
    pause,
    approval,
    pending: plan === undefined ? former.pending : pendingOf(plan, waits),
    lastAttemptedRevision: revision,
    lastAppliedRevision: isReady ? revision : former.lastAppliedRevision,
    lastAttemptMs: nowMs,
    lastSuccessMs: isReady ? nowMs : former.lastSuccessMs,
    failures: failure === undefined ? 0 : former.failures + 1,
    lastError: failure ?? null,
    resources: resourceStatuses(findings, former.resources, revision, nowMs),
  };
  const drift = news.map((one) => reportDrift(one, results, nowMs));
  const events = [
    ...drift.map(({ event }) => event),
    ...(plan === undefined ? [] : holdEvents(former.resources, plan.holds)),
    ...waitEvents(former.pending?.waits ?? [], waits),
    ...changeEvents(record.id, former, record.status, failure),
  ];
  const lines = drift.flatMap((one) => one.lines);
  return { events, lines, next: requeueOf(input, plan, waits, results, failure) };
}

/** Returns the failures by resource, and the resources whose writes are in doubt. */
function unfinishedOf(results: readonly ActionResult[]): Pick<Findings, 'failed' | 'inDoubt'> {
  const failed = new Map<ResourceId, string>();
  const inDoubt = new Set<ResourceId>();
  for (const result of results) {
    const { resource } = result.action;
    if (result.status === 'in-doubt') inDoubt.add(resource);
    if (result.status === 'failed')
      failed.set(resource, withRemedy({ message: result.answer.message, remedy: result.remedy }));
  }
  return { failed, inDoubt };
}

/**
 * Returns events for what changed since the last pass: an approval that is needed, a failure, a recovery, the health.
 */
function changeEvents(
  id: ResourceId,
  former: ApplicationStatus,
  now: ApplicationStatus,
  failure: StatusError | undefined,
): readonly EventDraft[] {
  const events: EventDraft[] = [];
  const { approval } = now;
  if (approval !== null && approval.digest !== former.approval?.digest) events.push(approvalNeeded(id, approval));
  if (failure !== undefined && (former.failures === 0 || former.lastError?.code !== failure.code))
    events.push(applicationFailed(id, failure));
  // A process counts only its own failures. The error is stored, so it shows a failure before a restart or of a former leader, too.
  if (conditionOf(now, 'Ready')?.status === 'True' && (former.failures > 0 || former.lastError !== null)) {
    const { failures } = former;
    const message = `${id} is in sync again${failures === 0 ? '' : ` after ${amount(failures, 'failed attempt')}`}`;
    events.push(draftEvent('application.recovered', message, { detail: { failures } }));
  }
  events.push(...healthEvents(id, former, now));
  return events;
}

/** Returns the event for health that has changed. */
export function healthEvents(id: ResourceId, former: ApplicationStatus, now: ApplicationStatus): readonly EventDraft[] {
  const before = conditionOf(former, 'Healthy');
  const health = conditionOf(now, 'Healthy');
  if (health === undefined || before?.status === health.status || health.status === 'Unknown') return [];
  const isHealthy = health.status === 'True';
  const detail = healthDetail(before, health);
  if (isHealthy) return [draftEvent('health.changed', `${id} is healthy: ${health.message}`, { detail })];
  return [notHealthy(id, health, detail)];
}

/** Returns the failure that the next pass retries. A guard that waits for an approval is not a failure. */
function failureOf(
  error: PortolanError | undefined,
  results: readonly ActionResult[],
  atMs: EpochMs,
): StatusError | undefined {
  if (error !== undefined) return { code: error.code, message: error.message, remedy: error.remedy, atMs };
  for (const result of results) {
    if (result.status !== 'failed') continue;
    const { action, request, reason, remedy, answer } = result;
    const message = `${action.resource}: "${action.summary}" failed: ${request}: ${answer.message}`;
    return { code: `action/${reason.type}`, message, remedy, atMs };
  }
  return undefined;
}

/** Returns the first refusal of a plan that no approval permits, with the number of the others. */
function refusalOf({ outcome, approval }: Passed, atMs: EpochMs): StatusError | undefined {
  if (outcome.type !== 'refused' || approval !== null) return undefined;
  const [refusal, ...others] = outcome.refusals;
  if (refusal === undefined) return undefined;
  const { code, message, override } = refusal;
  const more = others.length === 0 ? '' : `; and ${amount(others.length, 'more refusal')}`;
  return { code, message: `${message}${more}.`, remedy: `To allow it: ${override}.`, atMs };
}

function pendingOf(plan: ScopePlan, waits: readonly Wait[]): PendingWork | null {
  const { actions, deferred } = plan;
  if (actions.length + deferred.length + waits.length === 0) return null;
  const shown = actions.map(({ id, resource, summary }) => ({ id, resource, summary }));
  return { digest: planDigest([plan]), actions: shown, deferred, waits };
}

/** Returns the event and the history row for drift that began or ended. */
function reportDrift(
  { type, resource, drift }: ReturnType<typeof trackDrift>['news'][number],
  results: readonly ActionResult[],
  nowMs: EpochMs,
): { readonly event: EventDraft; readonly lines: readonly LedgerOperation[] } {
  if (type === 'detected') return reportNewDrift(resource, drift, nowMs);
  const detail = driftDetail(drift, nowMs);
  const facts = { resource, detail };
  const fields = drift.changes.map(({ path }) => path).join(', ');
  if (results.some(({ status, action }) => status === 'done' && action.resource === resource))
    return {
      event: draftEvent('drift.healed', `${resource}: corrected ${fields}`, facts),
      lines: [historyRow('drift-healed', { resource, ...detail })],
    };
  const message = `${resource}: drift of ${fields} ended without a change by Portolan`;
  return { event: draftEvent('drift.gone', message, facts), lines: [] };
}

/** Returns the event and the history row for drift that began. */
export function reportNewDrift(resource: ResourceId, drift: Drift, nowMs: EpochMs) {
  const event = driftDetected(resource, drift, nowMs);
  return { event, lines: [historyRow('drift', { resource, ...driftDetail(drift, nowMs) })] };
}

/** Returns events for the progress of installs: the status of the application, and its builds. */
function waitEvents(former: readonly Wait[], waits: readonly Wait[]): readonly EventDraft[] {
  return waits
    .filter(({ resource, message }) => !former.some((one) => one.resource === resource && one.message === message))
    .map(({ resource, message, untilMs }) => draftEvent('wait.progress', message, { resource, detail: { untilMs } }));
}

function holdEvents(former: readonly ResourceStatus[], holds: readonly Hold[]): readonly EventDraft[] {
  const before = former.flatMap((status) => status.holds);
  const added = without(holds, before).map(holdAdded);
  const released = without(before, holds).map(({ resource, code }) => {
    const message = `the hold on ${resource} was released (${code})`;
    return draftEvent('hold.released', message, { resource, detail: { code } });
  });
  return [...added, ...released];
}

/** Returns the holds that `others` does not have, one for each resource and code. */
function without(holds: readonly Hold[], others: readonly Hold[]): readonly Hold[] {
  const byKey = (all: readonly Hold[]) => new Map(all.map((hold) => [`${hold.resource} ${hold.code}`, hold] as const));
  const known = byKey(others);
  return [...byKey(holds)].flatMap(([key, hold]) => (known.has(key) ? [] : [hold]));
}

/** Returns when the application gets its next pass: the earliest time that something waits for. */
function requeueOf(
  { record, passed, revision, nowMs, healthCheckMs }: PassToJudge,
  plan: ScopePlan | undefined,
  waits: readonly Wait[],
  results: readonly ActionResult[],
  failure: StatusError | undefined,
): Requeue {
  if (record.revision !== revision && results.some(isInterrupted)) return { type: 'now', because: 'git' };
  for (const result of results) {
    if (result.status !== 'failed' || result.reason.type !== 'throttled') continue;
    const { retryAfterMs } = result.reason;
    if (retryAfterMs === null) return { type: 'retry' };
    return { type: 'at', atMs: nowMs + retryAfterMs, because: 'the platform asked to slow down' };
  }
  if (failure !== undefined) return { type: 'retry' };
  const times: { readonly atMs: EpochMs; readonly because: string }[] = [];
  const addTime = (atMs: EpochMs | null | undefined, because: string): void => {
    if (atMs !== undefined && atMs !== null) times.push({ atMs, because });
  };
  for (const result of results) if (result.status === 'in-doubt') addTime(result.untilMs, 'a write in doubt');
  for (const { untilMs } of plan?.holds ?? []) addTime(untilMs, 'a write in doubt');
  for (const { untilMs } of waits)
    addTime(Math.min(untilMs, nowMs + CHECK_EVERY_MS), 'an install that is not ready yet');
  addTime(passed.nextRemovalMs, 'a removal that is due');
  const hasThresholds = (record.work.application.spec.health ?? []).length > 0;
  addTime(healthCheckMs, hasThresholds ? 'health after a change, by thresholds' : HEALTH_DUE);
  const { pause } = passed;
  if (pause?.type === 'region') addTime(nowMs + REGIONS_EVERY_MS, 'its region');
  if (pause !== null && 'untilMs' in pause) addTime(pause.untilMs, 'the end of a pause');
  if (isUnfinished(passed, plan)) addTime(nowMs + CHECK_EVERY_MS, 'new actions after the last pass');
  const [first] = times.sort((left, right) => left.atMs - right.atMs);
  return first === undefined ? { type: 'resync' } : requeueAt(Math.max(first.atMs, nowMs), first.because);
}

/** Returns the requeue for something that is due, with a margin, so that the pass does not come just before its time. */
export function requeueAt(atMs: EpochMs, because: string): Requeue {
  return { type: 'at', atMs: atMs + 50, because };
}

function isInterrupted(result: ActionResult): boolean {
  return result.status === 'skipped' && result.because.type === 'interrupted';
}

/**
 * Returns whether the plan has actions that the pass did not take up, such as those that depend on an action just done.
 */
function isUnfinished({ approval, outcome, pause }: Passed, plan: ScopePlan | undefined): boolean {
  if (pause !== null || plan === undefined || outcome.type !== 'ended' || approval !== null) return false;
  return plan.actions.some((action) => !action.prune);
}
