import type { ActionResult } from '../plan/result.ts';
import type { LedgerOperation } from '../ledger/ledger.ts';
import type { PortolanError } from '../model/errors.ts';
import { type ResourceId, scopeKey } from '../model/ids.ts';
import type { Hold, ScopePlan, Wait } from '../model/plan.ts';
import type { ApplicationStatus, Condition, Drift, PendingWork, ResourceStatus, StatusError } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { planDigest } from '../plan/digest.ts';
import {
  applicationConditions,
  type Findings,
  resourceStatuses,
  type ConditionState,
  withSince,
} from './conditions.ts';
import { driftDetail, followDrift } from './drift.ts';
import type { EventDraft } from './events.ts';
import { REGIONS_EVERY_MS } from './gates.ts';
import { healthDetail } from './health.ts';
import { line, type AppRecord } from './ledger-records.ts';
import type { Passed } from './daemon-policy.ts';

/** When an application is looked at again. */
export type Requeue =
  | { readonly type: 'now'; readonly because: string }
  | { readonly type: 'at'; readonly atMs: EpochMs; readonly because: string }
  /** After its backoff, because it failed. */
  | { readonly type: 'retry' }
  | { readonly type: 'resync' };

interface AftermathInput {
  readonly record: AppRecord;
  readonly passed: Passed;
  /** Drift as the pass first saw it: what was told already. */
  readonly seen: readonly ResourceStatus[];
  readonly health: ConditionState;
  /** When its health is known better, if that is worth waiting for. */
  readonly healthLookMs: EpochMs | undefined;
  readonly revision: string;
  readonly nowMs: EpochMs;
  /** How long an install that must come to run is left alone between two looks. */
  readonly lookEveryMs: number;
}

/**
 * Judges a pass: puts the application's new status into its record.
 * @returns the events, the lines for the history in the ledger, and when the application is looked at again.
 */
export function judgePass(input: AftermathInput) {
  const { record, passed, revision, nowMs } = input;
  const { outcome, pause } = passed;
  const former = record.status;
  const plan = outcome.type === 'unobserved' ? undefined : outcome.plan;
  const results = outcome.type === 'ended' ? outcome.results : [];
  const error = outcome.type === 'refused' ? undefined : outcome.error;
  const drift =
    plan === undefined ? { drifts: new Map<ResourceId, Drift>(), news: [] } : followDrift(input.seen, plan, nowMs);
  const findings: Findings = {
    work: record.work,
    plan,
    waits: outcome.type === 'ended' ? outcome.waits : [],
    drifts: drift.drifts,
    error,
    failed: new Map(
      results.flatMap((result) => (result.status === 'failed' ? [[result.action.resource, failureText(result)]] : [])),
    ),
    inDoubt: new Set(results.flatMap((result) => (result.status === 'in-doubt' ? [result.action.resource] : []))),
    pause,
    approval: passed.approval,
    health: input.health,
  };
  // A region that takes nothing is no failure of the application.
  const failure = pause?.type === 'region' ? undefined : failureOf(error, results, passed, nowMs);
  const states = applicationConditions(findings);
  const isReady = states.Ready.status === 'True';
  const resources = resourceStatuses(findings, former.resources, revision, nowMs);
  record.status = {
    ...former,
    scope: plan === undefined ? former.scope : scopeKey(plan.scope),
    conditions: withSince(states, former.conditions, revision, nowMs),
    pause,
    approval: passed.approval,
    pending: plan === undefined ? former.pending : pendingOf(findings),
    lastAttemptedRevision: revision,
    lastAppliedRevision: isReady ? revision : former.lastAppliedRevision,
    lastAttemptMs: nowMs,
    lastSuccessMs: isReady ? nowMs : former.lastSuccessMs,
    failures: failure === undefined ? 0 : former.failures + 1,
    lastError: failure ?? (isReady ? null : former.lastError),
    resources,
  };
  const events: EventDraft[] = [];
  const lines: LedgerOperation[] = [];
  tellDrift(input, drift.news, results, events, lines);
  if (plan !== undefined) tellHolds(former.resources, plan.holds, events);
  tellWaits(former.pending?.waits ?? [], findings.waits, events);
  events.push(...turns(record.id, former, record.status, failure));
  return { events, lines, failed: failure !== undefined, next: nextOf(input, findings, results, failure) };
}

/** What turned since the last pass: an approval that is needed, a failure, a recovery, the health. */
function turns(
  id: ResourceId,
  former: ApplicationStatus,
  now: ApplicationStatus,
  failure: StatusError | undefined,
): readonly EventDraft[] {
  const events: EventDraft[] = [];
  const { approval } = now;
  if (approval !== null && approval.digest !== former.approval?.digest)
    events.push({
      type: 'approval.needed',
      severity: 'warning',
      message: `${id}: ${approval.refusals.map(({ message, override }) => `${message} (${override})`).join('; ')}`,
      detail: { digest: approval.digest, refusals: approval.refusals.map(({ code }) => code) },
    });
  if (failure !== undefined && (former.failures === 0 || former.lastError?.code !== failure.code))
    events.push({
      type: 'application.failed',
      severity: 'error',
      message: `${id}: ${failure.message} ${failure.remedy}`,
      detail: { code: failure.code, remedy: failure.remedy },
    });
  if (conditionOf(now, 'Ready')?.status === 'True' && former.failures > 0)
    events.push({
      type: 'application.recovered',
      severity: 'info',
      message: `${id} is as the source says again, after ${former.failures} failed attempts`,
      detail: { failures: former.failures },
    });
  const before = conditionOf(former, 'Healthy');
  const health = conditionOf(now, 'Healthy');
  if (health !== undefined && before?.status !== health.status && health.status !== 'Unknown')
    events.push({
      type: 'health.changed',
      severity: health.status === 'True' ? 'info' : 'warning',
      message: `${id} is ${health.status === 'True' ? 'healthy' : 'not healthy'}: ${health.message}`,
      detail: healthDetail(before, health),
    });
  return events;
}

function conditionOf({ conditions }: ApplicationStatus, type: Condition['type']): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function failureText({ answer, remedy }: Extract<ActionResult, { status: 'failed' }>): string {
  return `${answer.message}${remedy === '' ? '' : ` ${remedy}`}`;
}

/** What did not go well and is tried again by itself. A guard that asks for a person is no failure. */
function failureOf(
  error: PortolanError | undefined,
  results: readonly ActionResult[],
  { outcome, approval }: Passed,
  atMs: EpochMs,
): StatusError | undefined {
  if (error !== undefined) return { code: error.code, message: error.message, remedy: error.remedy, atMs };
  for (const result of results) {
    if (result.status !== 'failed') continue;
    const { action, request, reason, remedy, answer } = result;
    return {
      code: `action/${reason.type}`,
      message: `${action.resource}: "${action.summary}" failed: ${request}: ${answer.message}`,
      remedy,
      atMs,
    };
  }
  if (outcome.type === 'refused' && approval === null) {
    const [refusal] = outcome.refusals;
    if (refusal !== undefined) return { code: refusal.code, message: refusal.message, remedy: refusal.override, atMs };
  }
  return undefined;
}

function pendingOf({ plan, waits }: Findings): PendingWork | null {
  if (plan === undefined || plan.actions.length + plan.deferred.length + waits.length === 0) return null;
  return {
    digest: planDigest([plan]),
    actions: plan.actions.map(({ id, resource, summary }) => ({ id, resource, summary })),
    deferred: plan.deferred,
    waits,
  };
}

function tellDrift(
  { nowMs }: AftermathInput,
  news: ReturnType<typeof followDrift>['news'],
  results: readonly ActionResult[],
  events: EventDraft[],
  lines: LedgerOperation[],
): void {
  const touched = new Set(results.flatMap(({ status, action }) => (status === 'done' ? [action.resource] : [])));
  for (const { type, resource, drift } of news) {
    const facts = { resource, detail: driftDetail(drift, nowMs) };
    const fields = drift.changes.map(({ path }) => path).join(', ');
    if (type === 'detected') {
      events.push(driftDetected(resource, drift, nowMs));
      lines.push(line('drift', { resource, ...(facts.detail as object) }));
    } else if (touched.has(resource)) {
      events.push({ ...facts, type: 'drift.healed', severity: 'info', message: `${resource}: ${fields} put right` });
      lines.push(line('drift-healed', { resource, ...(facts.detail as object) }));
    } else {
      const message = `${resource}: ${fields} as applied again, without our doing`;
      events.push({ ...facts, type: 'drift.gone', severity: 'info', message });
    }
  }
}

/** The event of drift that was found. */
export function driftDetected(resource: ResourceId, drift: Drift, nowMs: EpochMs): EventDraft {
  const fields = drift.changes.map(
    ({ path, before, after }) =>
      `${path} is ${JSON.stringify(before ?? null)}, wanted ${JSON.stringify(after ?? null)}`,
  );
  return {
    type: 'drift.detected',
    severity: 'warning',
    resource,
    detail: driftDetail(drift, nowMs),
    message: `${resource} was changed on the platform: ${fields.join('; ')}`,
  };
}

/** Progress of an install that is waited for: the status of its application, and its builds. */
function tellWaits(former: readonly Wait[], waits: readonly Wait[], events: EventDraft[]): void {
  for (const { resource, message, untilMs } of waits) {
    if (former.some((earlier) => earlier.resource === resource && earlier.message === message)) continue;
    events.push({ type: 'wait.progress', severity: 'info', resource, message, detail: { untilMs } });
  }
}

function tellHolds(former: readonly ResourceStatus[], holds: readonly Hold[], events: EventDraft[]): void {
  const key = ({ resource, code }: Hold): string => `${resource} ${code}`;
  const before = new Map(former.flatMap((status) => status.holds.map((hold) => [key(hold), hold] as const)));
  const now = new Map(holds.map((hold) => [key(hold), hold] as const));
  for (const [name, { resource, code, message, remedy }] of now) {
    if (before.has(name)) continue;
    events.push({
      type: 'hold.added',
      severity: 'warning',
      resource,
      message: `${resource} is held: ${message} ${remedy}`,
      detail: { code, remedy },
    });
  }
  for (const [name, { resource, code }] of before) {
    if (now.has(name)) continue;
    events.push({
      type: 'hold.released',
      severity: 'info',
      resource,
      message: `${resource} is not held any more (${code})`,
      detail: { code },
    });
  }
}

/** When to look again: the earliest of what is waited for. */
function nextOf(
  { record, passed, revision, nowMs, lookEveryMs, healthLookMs }: AftermathInput,
  { plan, waits }: Findings,
  results: readonly ActionResult[],
  failure: StatusError | undefined,
): Requeue {
  if (record.revision !== revision && results.some(isInterrupted)) return { type: 'now', because: 'git' };
  const throttled = results.find((result) => result.status === 'failed' && result.reason.type === 'throttled');
  if (throttled?.status === 'failed' && throttled.reason.type === 'throttled')
    return throttled.reason.retryAfterMs === null
      ? { type: 'retry' }
      : { type: 'at', atMs: nowMs + throttled.reason.retryAfterMs, because: 'the platform asked to slow down' };
  if (failure !== undefined) return { type: 'retry' };
  const times: { readonly atMs: EpochMs; readonly because: string }[] = [];
  for (const result of results) {
    if (result.status === 'in-doubt') times.push({ atMs: result.untilMs, because: 'a write in doubt' });
  }
  for (const { untilMs } of plan?.holds ?? [])
    if (untilMs !== undefined) times.push({ atMs: untilMs, because: 'a write in doubt' });
  for (const { untilMs } of waits)
    times.push({ atMs: Math.min(untilMs, nowMs + lookEveryMs), because: 'an install that must come to run' });
  if (passed.ripeMs !== undefined) times.push({ atMs: passed.ripeMs, because: 'a removal whose time has come' });
  if (healthLookMs !== undefined) times.push({ atMs: healthLookMs, because: 'health after a change' });
  const { pause } = passed;
  if (pause?.type === 'region') times.push({ atMs: nowMs + REGIONS_EVERY_MS, because: 'its region' });
  if (pause !== null && 'untilMs' in pause && pause.untilMs !== null)
    times.push({ atMs: pause.untilMs, because: 'the end of a pause' });
  if (isUnfinished(passed, plan))
    times.push({ atMs: nowMs + lookEveryMs, because: 'what came up during the last pass' });
  const [first] = times.sort((left, right) => left.atMs - right.atMs);
  // A little later than the moment itself: whoever is early looks twice.
  return first === undefined
    ? { type: 'resync' }
    : { type: 'at', atMs: Math.max(first.atMs, nowMs) + 50, because: first.because };
}

function isInterrupted(result: ActionResult): boolean {
  return result.status === 'skipped' && result.because.type === 'interrupted';
}

/** Something could be done that the pass did not do: a platform that moves, or a follower of something just done. */
function isUnfinished({ approval, outcome, pause }: Passed, plan: ScopePlan | undefined): boolean {
  if (pause !== null || plan === undefined || outcome.type !== 'ended' || approval !== null) return false;
  return plan.actions.some((action) => !action.prune);
}
