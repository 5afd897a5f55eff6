import type { ControllerEvent, RegionGate, ResourceStatus, SourceStatus } from '../../model/status.ts';
import type { EpochMs } from '../../model/time.ts';
import { withRemedy } from '../../plan/words.ts';
import type { Standing } from '../api.ts';
import { conditionOf } from '../application-state.ts';
import { draftProblem, type EventDraft, eventOf } from '../events.ts';
import { applicationFailed, approvalNeeded, driftDetected, holdAdded, notHealthy } from '../problem-events.ts';
import type { AlertSubject } from './alert.ts';

/** An event that would start an alert, and since when it is so. */
type Shown = readonly [EventDraft, EpochMs];

/** Returns the events that start the alerts which the status of an application shows. Most applications have none. */
export function standingEvents(standing: Standing, nowMs: EpochMs): readonly ControllerEvent[] {
  const { id, status } = standing;
  const shown = [...ofApplication(standing), ...status.resources.flatMap((one) => ofResource(one, nowMs))];
  return shown.map(([draft, sinceMs]) => {
    const { scope, labels, lastAttemptedRevision: revision } = status;
    const facts = { atMs: sinceMs, processId: '', count: 0, sequence: 0 };
    return eventOf({ application: id, scope, labels, revision, ...draft }, facts);
  });
}

const NONE: readonly Shown[] = [];

function ofApplication(standing: Standing): readonly Shown[] {
  const { id, kept, status } = standing;
  const { approval, lastError } = status;
  const health = conditionOf(status, 'Healthy');
  const isUnhealthy = health?.status === 'False';
  if (approval === null && lastError === null && kept.remindedMs === null && !isUnhealthy) return NONE;
  const shown: Shown[] = [];
  if (needsApproval(standing) && approval !== null) shown.push([approvalNeeded(id, approval), approval.sinceMs]);
  if (lastError !== null) shown.push([applicationFailed(id, lastError), lastError.atMs]);
  if (isUnhealthy) shown.push([notHealthy(id, health, {}), health.sinceMs]);
  if (kept.remindedMs !== null) {
    const problem = { code: 'application/suspended', remedy: 'Resume it, or remove it from the source.' };
    const message = `${id} has been suspended for a long time. ${problem.remedy}`;
    shown.push([draftProblem('application.suspended-long', 'warning', message, problem), kept.remindedMs]);
  }
  return shown;
}

/** Returns whether a plan waits for a person. An approval counts at once, although the next pass uses it. */
function needsApproval({ kept, status: { approval } }: Standing): boolean {
  return approval !== null && kept.approved?.digest !== approval.digest;
}

function ofResource(resource: ResourceStatus, nowMs: EpochMs): readonly Shown[] {
  const { id, drift, holds } = resource;
  const ready = conditionOf(resource, 'Ready');
  const isOfWrite = ready?.reason === 'Failing' || ready?.reason === 'InDoubt';
  if (drift === null && holds.length === 0 && !isOfWrite) return NONE;
  const shown: Shown[] = [];
  const sinceMs = ready?.sinceMs ?? nowMs;
  if (drift !== null) shown.push([driftDetected(id, drift, nowMs), drift.sinceMs]);
  for (const hold of holds) {
    shown.push([holdAdded(hold), sinceMs]);
    if (isOfDoubt(hold.code)) shown.push([inDoubt(resource, withRemedy(hold)), sinceMs]);
  }
  if (ready?.reason === 'InDoubt') shown.push([inDoubt(resource, ready.message), sinceMs]);
  // The message has the remedy.
  if (ready?.reason === 'Failing') {
    const message = `${id}: ${ready.message}`;
    shown.push([{ type: 'action.failed', severity: 'error', message, resource: id }, sinceMs]);
  }
  return shown;
}

function inDoubt({ id }: ResourceStatus, message: string): EventDraft {
  const problem = { code: 'action/in-doubt', remedy: '`portolan ledger list` shows the write.' };
  const text = `${id}: a write is in doubt, it may have been carried out. ${message}`.trimEnd();
  return draftProblem('action.in-doubt', 'warning', text, problem, { resource: id });
}

/** Returns whether a hold is because of a write of its resource. Others wait for that write. */
function isOfDoubt(code: string): boolean {
  return code.startsWith('intent/') && code !== 'intent/scope-waits';
}

/**
 * Returns whether the status of an application still shows an alert; undefined: it does not say it.
 * @param notedMs when the event was published that started it. The pass that published it may not have ended.
 */
export function standsFor(subject: AlertSubject, standing: Standing, notedMs: EpochMs): boolean | undefined {
  const stands = standsNow(subject, standing);
  const { lastAttemptMs } = standing.status;
  const isJudged = lastAttemptMs !== null && lastAttemptMs >= notedMs;
  return stands === false && !isJudged ? undefined : stands;
}

function standsNow({ alert, resource, details }: AlertSubject, standing: Standing): boolean | undefined {
  const { kept, status } = standing;
  const found = status.resources.find(({ id }) => id === resource);
  const isReady = conditionOf(status, 'Ready')?.status === 'True';
  const reason = found && conditionOf(found, 'Ready')?.reason;
  // A resource that git does not name has no status. If anything of it were left, the application would not be in sync.
  const unlessReady = isReady ? false : undefined;
  switch (alert.starts) {
    case 'drift.detected':
      return found?.drift !== null && found !== undefined;
    case 'hold.added':
      return found === undefined ? unlessReady : found.holds.some(({ code }) => code === details['code']);
    case 'action.in-doubt':
      if (found === undefined) return unlessReady;
      return reason === 'InDoubt' || found.holds.some(({ code }) => isOfDoubt(code));
    case 'action.failed':
      // While something else prevents another attempt, it is not known whether it would succeed.
      return reason === 'Failing' ? true : isReady || reason === 'InSync' ? false : undefined;
    case 'approval.needed':
      return needsApproval(standing);
    case 'application.failed':
      return status.lastError !== null;
    case 'application.suspended-long':
      return kept.remindedMs !== null;
    case 'health.changed': {
      const health = conditionOf(status, 'Healthy')?.status;
      return health === 'Unknown' || health === undefined ? undefined : health === 'False';
    }
    default:
      return undefined;
  }
}

/** Returns the same for an alert about the source. */
export function standsForSource({ error }: SourceStatus): boolean {
  return error !== null;
}

/**
 * Returns the same for an alert about a region. A process that has just begun to lead it shows it as open before it has checked it, so
 * only an event ends the alert, unless no application is in the region any more.
 */
export function standsForRegion({ details }: AlertSubject, regions: readonly RegionGate[]): boolean | undefined {
  const found = regions.find(
    ({ platform, region }) => platform === details['platform'] && region === details['region'],
  );
  if (found === undefined) return false;
  return found.state === 'open' ? undefined : true;
}
