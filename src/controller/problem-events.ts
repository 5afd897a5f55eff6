import type { ResourceId } from '../model/ids.ts';
import type { Hold } from '../model/plan.ts';
import type { ApprovalNeeded } from '../model/status.ts';
import { withRemedy } from '../plan/words.ts';
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
