import type { ResourceId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Hold } from '../model/plan.ts';
import type { ApprovalNeeded, Condition, Drift, StatusError } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { withRemedy } from '../plan/words.ts';
import { driftDetail } from './drift.ts';
import { draftProblem, type EventDraft } from './events.ts';
import type { AppRecord, Kept } from './ledger-records.ts';

/** Returns the event of a plan that a guard holds. */
export function approvalNeeded(id: ResourceId, { digest, refusals: guards }: ApprovalNeeded): EventDraft {
  const refusals = guards.map(({ code }) => code);
  const [code = 'guard/approval'] = refusals;
  const message = guards.map((guard) => `${guard.message} (${guard.override})`).join('; ');
  const remedy = `Run portolan approve ${nameOf(id)}: it shows the plan ${digest} and asks.`;
  return draftProblem(
    'approval.needed',
    'warning',
    `${id}: ${message}`,
    { code, remedy },
    { detail: { digest, refusals } },
  );
}

/** Returns the event of a hold. */
export function holdAdded({ resource, code, message, remedy }: Hold): EventDraft {
  const text = `${resource} is held: ${withRemedy({ message, remedy })}`;
  return draftProblem('hold.added', 'warning', text, { code, remedy }, { resource });
}

/** Returns the event of drift. */
export function driftDetected(resource: ResourceId, drift: Drift, nowMs: EpochMs): EventDraft {
  const fields = drift.changes.map(
    ({ path, before, after }) =>
      `${path} is ${JSON.stringify(before ?? null)}, should be ${JSON.stringify(after ?? null)}`,
  );
  const message = `${resource} was changed on the platform: ${fields.join('; ')}`;
  return draftProblem('drift.detected', 'warning', message, DRIFT, { resource, detail: driftDetail(drift, nowMs) });
}

const DRIFT = {
  code: 'drift/detected',
  remedy:
    'Make such changes in git. Portolan corrects the drift, unless the resource is only reported or its application is paused.',
};

/** Returns the event of a failure that the next pass retries. */
export function applicationFailed(id: ResourceId, failure: StatusError): EventDraft {
  const { message, remedy } = failure;
  return draftProblem(
    'application.failed',
    'error',
    `${id}: ${message.replace(/(?<![.!?])$/, '.')} ${remedy}`,
    failure,
  );
}

/** Returns the event of an application that does not run as it should. */
export function notHealthy(id: ResourceId, { message }: Pick<Condition, 'message'>, detail: JsonObject): EventDraft {
  const problem = {
    code: 'application/not-healthy',
    remedy: `Check its components: portolan monitor ${nameOf(id)}.`,
  };
  return draftProblem('health.changed', 'warning', `${id} is not healthy: ${message}`, problem, { detail });
}

/** Returns the event of a suspension by an operator. */
export function applicationSuspended(
  id: ResourceId,
  { by, reason }: Pick<NonNullable<Kept['suspended']>, 'by' | 'reason'>,
): EventDraft {
  const message = `${id} was suspended by ${by}${reason === '' ? '' : `: ${reason}`}; nothing is changed for it until it is resumed`;
  const problem = { code: 'application/suspended', remedy: `To resume it: portolan resume ${nameOf(id)}.` };
  return draftProblem('application.suspended', 'warning', message, problem, { detail: { by, reason } });
}

/** Returns the events that an earlier process published for the problems of an application that still exist. */
export function standingProblems({ id, kept, status }: AppRecord): readonly EventDraft[] {
  return [
    ...(kept.suspended === null ? [] : [applicationSuspended(id, kept.suspended)]),
    ...(status.approval === null ? [] : [approvalNeeded(id, status.approval)]),
    ...status.resources.flatMap(({ holds }) => holds.map(holdAdded)),
  ];
}

function nameOf(id: ResourceId): string {
  return id.slice(id.indexOf('/') + 1);
}
