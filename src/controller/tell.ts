import { answerJson } from '../reconcile/apply/journal.ts';
import type { ActionResult } from '../plan/result.ts';
import type { ApplyEvent } from '../reconcile/apply/world.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { unreachable } from '../model/unreachable.ts';
import type { EventDraft } from './events.ts';

/** The first write of a pass is about to be sent. */
export function applyStarted(id: ResourceId, revision: string): EventDraft {
  return { type: 'apply.started', severity: 'info', message: `${id} is being made as ${revision} says` };
}

/** Of a pass that tried to change something. */
export function applyFinished(id: ResourceId, revision: string, outcome: Outcome): readonly EventDraft[] {
  if (outcome.type !== 'ended' || outcome.results.every(({ status }) => status === 'skipped')) return [];
  const count = (status: ActionResult['status']): number =>
    outcome.results.filter((result) => result.status === status).length;
  const counts = {
    done: count('done'),
    failed: count('failed'),
    inDoubt: count('in-doubt'),
    skipped: count('skipped'),
  };
  const isWell = counts.failed + counts.inDoubt === 0;
  const message = `${id}: ${counts.done} done, ${counts.failed} failed, ${counts.inDoubt} in doubt, ${counts.skipped} not begun (${revision})`;
  return [{ type: 'apply.finished', severity: isWell ? 'info' : 'warning', message, detail: counts }];
}

/** What happens while a plan is carried out, as events. */
export function eventsOf(event: ApplyEvent): readonly EventDraft[] {
  switch (event.type) {
    case 'started':
    case 'waiting':
      return [];
    case 'resolved':
      return [
        {
          type: 'intent.resolved',
          severity: 'info',
          resource: event.resource,
          scope: event.scope,
          message: `${event.resource}: intent ${event.intent} of an earlier write: ${event.how}`,
          detail: { intent: event.intent, how: event.how },
        },
      ];
    case 'finished':
      return finished(event);
    default:
      return unreachable(event);
  }
}

function finished({ action, scope, result }: Extract<ApplyEvent, { type: 'finished' }>): readonly EventDraft[] {
  if (result.status === 'skipped') return [];
  const { id, resource, cause, summary } = action;
  const name = `${resource}: ${summary}`;
  const about = { action: id, cause, summary, answer: answerJson(result.answer) };
  const facts = { type: `action.${result.status}`, resource, scope } as const;
  switch (result.status) {
    case 'done':
      return [{ ...facts, severity: 'info', message: name, detail: about }];
    case 'failed': {
      const { request, remedy, answer } = result;
      const message = `${name} failed: ${answer.message} ${remedy}`;
      return [{ ...facts, severity: 'error', message, detail: { ...about, request, remedy } }];
    }
    case 'in-doubt': {
      const { intent, untilMs, answer } = result;
      const message = `${name}: nobody knows yet whether it was carried out (${answer.message}); it is looked at again`;
      return [{ ...facts, severity: 'warning', message, detail: { ...about, intent, untilMs } }];
    }
    default:
      return unreachable(result);
  }
}
