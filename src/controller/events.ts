import type { JsonObject } from '../model/json.ts';
import type { EventType } from '../model/event-types.ts';
import type { ControllerEvent } from '../model/status.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { EventStream } from './api.ts';

/** An event before it is published. */
export type EventDraft = Pick<ControllerEvent, 'type' | 'severity' | 'message'> &
  Partial<Omit<ControllerEvent, 'sequence' | 'id' | 'atMs'>>;

type Facts = Omit<EventDraft, 'type' | 'severity' | 'message'>;

/** Returns an event that requires no attention; `facts` are the members that only some events have. */
export function draftEvent(type: EventType, message: string, facts: Facts = {}): EventDraft {
  return { type, severity: 'info', message, ...facts };
}

/** Code and remedy of an event that requires attention. They become members of its detail. */
export interface EventProblem {
  readonly code: string;
  readonly remedy: string;
}

/** Returns an event that requires attention. The log shows the code and the remedy of each. */
export function draftProblem(
  type: EventType,
  severity: 'warning' | 'error',
  message: string,
  { code, remedy }: EventProblem,
  { detail, ...facts }: Omit<Facts, 'detail'> & { readonly detail?: JsonObject } = {},
): EventDraft {
  return { type, severity, message, ...facts, detail: { code, remedy, ...detail } };
}

export interface EventLog extends EventStream {
  publish(draft: EventDraft): ControllerEvent;
}

/** Events kept for later readers. The history in the ledger keeps the important ones longer. */
export const EVENTS_KEPT = 5000;

/** Returns the event of a draft. @param count the number of the event in this process, which makes its id unique. */
export function eventOf(
  draft: EventDraft,
  facts: Pick<ControllerEvent, 'sequence' | 'atMs'> & { readonly processId: string; readonly count: number },
): ControllerEvent {
  const { atMs, processId, count, sequence } = facts;
  return {
    sequence,
    id: `${atMs.toString(36)}-${processId}-${count}`,
    atMs,
    application: null,
    scope: null,
    resource: null,
    revision: null,
    labels: {},
    detail: null,
    ...draft,
  };
}

/** Creates the events of this process: the newest of them, and their subscribers. */
export function createEventLog(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  kept = EVENTS_KEPT,
): EventLog {
  const processId = random.hex(4);
  const listeners = new Set<(event: ControllerEvent) => void>();
  /** Ring buffer: the event with sequence n is at index n modulo the size. */
  const ring: ControllerEvent[] = [];
  let newest = 0;
  return {
    get newest() {
      return newest;
    },
    publish(draft) {
      newest += 1;
      const event = eventOf(draft, { atMs: clock.now(), processId, count: newest, sequence: newest });
      ring[newest % kept] = event;
      for (const listener of listeners) listener(event);
      return event;
    },
    since(sequence, limit) {
      const oldest = Math.max(1, newest - kept + 1);
      const from = Math.max(oldest, sequence + 1);
      const events: ControllerEvent[] = [];
      for (let at = from; at <= newest && events.length < limit; at += 1)
        events.push(ring[at % kept] as ControllerEvent);
      return { events, isComplete: sequence + 1 >= oldest, through: events.at(-1)?.sequence ?? sequence };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
