import { answerJson } from '../reconcile/apply/journal.ts';
import type { ActionResult } from '../plan/result.ts';
import type { ApplyEvent } from '../reconcile/apply/world.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { unreachable } from '../model/unreachable.ts';
import { draftEvent, draftProblem, type EventDraft } from './events.ts';

/** Returns the event of a pass that is about to send its first write. */
export function startedEvent(id: ResourceId, revision: string): EventDraft {
  return draftEvent('apply.started', `${id}: applying ${revision}`);
}

/** Returns the event of a pass that tried to change something. */
export function finishedEvents(id: ResourceId, revision: string, outcome: Outcome): readonly EventDraft[] {
  if (outcome.type !== 'ended' || outcome.results.every(({ status }) => status === 'skipped')) return [];
  const count = (status: ActionResult['status']): number =>
    outcome.results.filter((result) => result.status === status).length;
  const [done, failed, inDoubt, skipped] = [count('done'), count('failed'), count('in-doubt'), count('skipped')];
  const message = `${id}: ${done} done, ${failed} failed, ${inDoubt} in doubt, ${skipped} skipped (${revision})`;
  const detail = { done, failed, inDoubt, skipped };
  return [
    failed + inDoubt === 0
      ? draftEvent('apply.finished', message, { detail })
      : draftProblem('apply.finished', 'warning', message, INCOMPLETE, { detail }),
  ];
}

const INCOMPLETE = {
  code: 'apply/incomplete',
  remedy: 'Portolan retries automatically. The events of its actions show the causes.',
};

/** Returns the events for a step of an apply. */
export function eventsOf(event: ApplyEvent): readonly EventDraft[] {
  switch (event.type) {
    case 'started':
    case 'waiting':
      return [];
    case 'resolved': {
      const { resource, scope, intent, how } = event;
      const message = `${resource}: intent ${intent} of an earlier write: ${how}`;
      return [draftEvent('intent.resolved', message, { resource, scope, detail: { intent, how } })];
    }
    case 'finished':
      return finished(event);
    default:
      return unreachable(event);
  }
}

const IN_DOUBT = {
  code: 'action/in-doubt',
  remedy:
    'Do nothing: Portolan observes the platform until the result is known. `portolan ledger list` shows the write.',
};

function finished({ action, scope, result }: Extract<ApplyEvent, { type: 'finished' }>): readonly EventDraft[] {
  if (result.status === 'skipped') return [];
  const { id, resource, cause, summary } = action;
  const name = `${resource}: ${summary}`;
  const about = { action: id, cause, summary, answer: answerJson(result.answer) };
  const facts = { resource, scope };
  switch (result.status) {
    case 'done':
      return [draftEvent('action.done', name, { ...facts, detail: about })];
    case 'failed': {
      const { request, remedy, answer } = result;
      const message = `${name} failed: ${answer.message} ${remedy}`;
      const problem = { code: `action/${result.reason.type}`, remedy };
      return [draftProblem('action.failed', 'error', message, problem, { ...facts, detail: { ...about, request } })];
    }
    case 'in-doubt': {
      const { intent, untilMs, answer } = result;
      const message = `${name}: in doubt, it may have been carried out (${answer.message}); it is checked again`;
      const detail = { ...about, intent, untilMs };
      return [draftProblem('action.in-doubt', 'warning', message, IN_DOUBT, { ...facts, detail })];
    }
    default:
      return unreachable(result);
  }
}
