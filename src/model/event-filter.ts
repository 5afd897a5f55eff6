import type { ControllerEvent, EventSeverity } from './status.ts';

/** Events that a reader wants. The server filters its lists and streams with it, the dashboard what its stream brings. */
export interface EventFilter {
  /** Name of an application. */
  readonly application?: string | undefined;
  /** The lowest severity. */
  readonly severity?: EventSeverity | undefined;
  /** Types (`drift.detected`) or groups of types (`drift`); any of them. */
  readonly type?: readonly string[] | undefined;
  /** The one event of this id. */
  readonly id?: string | undefined;
}

export const SEVERITIES: readonly EventSeverity[] = ['info', 'warning', 'error'];

/** Groups of types, in the order of the life of a change. */
export const EVENT_GROUPS = [
  'controller',
  'source',
  'apply',
  'action',
  'intent',
  'drift',
  'wait',
  'hold',
  'approval',
  'application',
  'health',
  'region',
  'circuit',
  'orphan',
] as const;

/** Returns a function that decides whether an event is wanted. */
export function eventFilter({
  application,
  severity = 'info',
  type,
  id,
}: EventFilter): (event: ControllerEvent) => boolean {
  const lowest = SEVERITIES.indexOf(severity);
  return (event) =>
    (application === undefined || event.application === `Application/${application}`) &&
    SEVERITIES.indexOf(event.severity) >= lowest &&
    (type === undefined || type.some((wanted) => event.type === wanted || event.type.startsWith(`${wanted}.`))) &&
    (id === undefined || event.id === id);
}
