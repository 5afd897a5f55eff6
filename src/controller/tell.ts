import { answerJson } from '../apply/journal.ts';
import type { ApplyEvent } from '../apply/world.ts';
import { unreachable } from '../model/unreachable.ts';
import type { EventDraft } from './events.ts';

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
  const facts = { resource: action.resource, scope };
  const name = `${action.resource}: ${action.summary}`;
  const about = { action: action.id, cause: action.cause, summary: action.summary };
  switch (result.status) {
    case 'done':
      return [
        {
          ...facts,
          type: 'action.done',
          severity: 'info',
          message: name,
          detail: { ...about, answer: answerJson(result.answer) },
        },
      ];
    case 'failed':
      return [
        {
          ...facts,
          type: 'action.failed',
          severity: 'error',
          message: `${name} failed: ${result.answer.message} ${result.remedy}`,
          detail: { ...about, answer: answerJson(result.answer), request: result.request, remedy: result.remedy },
        },
      ];
    case 'in-doubt':
      return [
        {
          ...facts,
          type: 'action.in-doubt',
          severity: 'warning',
          message: `${name}: nobody knows yet whether it was carried out (${result.answer.message}); it is looked at again`,
          detail: { ...about, answer: answerJson(result.answer), intent: result.intent, untilMs: result.untilMs },
        },
      ];
    case 'skipped':
      return [];
    default:
      return unreachable(result);
  }
}
