import type { Json, JsonObject } from '../model/json.ts';
import type { ControllerEvent } from '../model/status.ts';
import type { Log, LogFields } from '../runtime/log.ts';
import type { EventStream } from './api.ts';
import type { AppRecord } from './ledger-records.ts';
import { standingProblems } from './problem-events.ts';

type LineFacts = Pick<ControllerEvent, 'type' | 'application' | 'revision' | 'message' | 'detail'>;

const LEVELS = { info: 'info', warning: 'warn', error: 'error' } as const;

/** Writes every event to the log, one line each. A problem that each retry repeats is logged once. */
export function logEvents(events: EventStream, log: Log): void {
  const isNews = createNews();
  events.subscribe((event) => {
    if (isNews(event)) log[LEVELS[event.severity]](...lineOf(event));
  }, 'own');
}

/** Logs the problems that an earlier process reported and that still exist: their events are not published again. */
export function logStanding(log: Log, record: AppRecord): void {
  for (const draft of standingProblems(record)) {
    const { id: application, status } = record;
    const line = lineOf({ application, revision: status.lastAttemptedRevision, detail: null, ...draft });
    log.warn(`since before the start: ${line[0]}`, line[1]);
  }
}

/** Returns the message and the fields of a line. A remedy is a field, so the message does not repeat it. */
function lineOf({ type, application, revision, message, detail }: LineFacts): [string, LogFields] {
  const { code, remedy } = problemOf(detail);
  const fields = {
    ...(application === null ? {} : { application: application.slice(application.indexOf('/') + 1) }),
    ...(revision === null ? {} : { revision }),
    event: type,
    ...(code === undefined ? {} : { code }),
    ...(remedy === undefined ? {} : { remedy }),
  };
  const isRepeated = remedy !== undefined && message.endsWith(remedy);
  return [isRepeated ? message.slice(0, -remedy.length).trimEnd() : message, fields];
}

/** Returns the code and the remedy in the detail of an event. */
function problemOf(detail: Json): { readonly code?: string; readonly remedy?: string } {
  const { code, remedy } = typeof detail === 'object' && detail !== null ? (detail as JsonObject) : {};
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof remedy === 'string' && remedy !== '' ? { remedy } : {}),
  };
}

/**
 * Returns a predicate for events that are news. An apply that fails like the one before it, and its start, are
 * not. Any event without a problem in the same area ends the repetition.
 */
function createNews(): (event: ControllerEvent) => boolean {
  const last = new Map<string, { readonly revision: string | null; readonly text: string }>();
  return ({ type, severity, application, resource, revision, message, detail }) => {
    const [area] = type.split('.');
    const about = JSON.stringify([area, application, resource]);
    const known = last.get(about);
    const isSameRevision = known !== undefined && known.revision === revision;
    if (type === 'apply.started') return !isSameRevision;
    if (severity === 'info') return last.delete(about) || true;
    const text = JSON.stringify([message, problemOf(detail)]);
    last.set(about, { revision, text });
    return !isSameRevision || known.text !== text;
  };
}
