import { type BuildEvent, decodeInstalled, type InstalledModel } from './wire.ts';
import type { Reading } from '../../model/reading.ts';
import { listComponents } from '../../platform/readings.ts';
import { safeText } from '../../platform/answer.ts';
import { Fields, isRecord, schemaDrift } from '../../platform/fields.ts';
import { recordReader, shown } from '../../platform/record-fields.ts';

/** Lists the installed models of the application, one entry for each copy. */
export const listInstalled: Reading<readonly InstalledModel[]> = {
  operation: 'listInstalled',
  segments: ['upgrade'],
  decode: decodeInstalled,
  expected: { noun: 'a list of installed models', fields: ['app_model_id', 'app_model_name'] },
  isExtended: true,
  asksStore: true,
};

/** A wait for an install observes every two seconds. Builds take minutes, so they are read less often. */
const GOOD_FOR_MS = 10_000;
const LINES_SHOWN = 5;
const LINE_CHARACTERS_MAX = 200;

/** Lists the builds of a component, latest first. They are only shown; no decision depends on them. */
export function listBuilds(serviceId: string): Reading<readonly BuildEvent[]> {
  return {
    operation: 'listEvents',
    segments: ['services', serviceId, 'events'],
    query: { page: '1', page_size: '10' },
    decode: decodeBuilds,
    expected: { noun: 'a page of events', fields: ['events', 'total', 'event_id'] },
    isRecord: true,
    // The documented dialect has no events.
    needs: { listing: listComponents, isKnown: true },
    otherwise: () => undefined,
    goodForMs: GOOD_FOR_MS,
  };
}

/** Reads the last lines of an event's log, safe for a terminal and without secrets. */
export function eventLog(eventId: string): Reading<readonly string[]> {
  return {
    operation: 'eventLog',
    below: 'region',
    segments: ['events', eventId, 'logs'],
    decode: decodeLog,
    expected: { noun: 'a log', fields: ['logs', 'message'] },
    isRecord: true,
    otherwise: () => undefined,
    goodForMs: GOOD_FOR_MS,
  };
}

const eventOf = recordReader({
  id: shown('event_id', 'text', ''),
  type: shown('opt_type', 'text', ''),
  status: shown('status', 'text', ''),
  finalStatus: shown('final_status', 'text', ''),
  startedAt: shown('start_time', 'text', ''),
  message: shown('message', 'text', ''),
});

/** Decodes events, without those that have no id or are not builds. */
export function decodeBuilds(json: unknown, where: string): readonly BuildEvent[] {
  if (!isRecord(json) || !Array.isArray(json['events'])) throw schemaDrift(where, 'events', 'a list of events', json);
  return json['events'].flatMap((item: unknown, index): BuildEvent[] => {
    const { id, type, status, finalStatus, startedAt, message } = eventOf(new Fields(item, where, `events[${index}]`));
    if (!/^[\w-]{1,64}$/.test(id) || !type.startsWith('build')) return [];
    const startedMs = Date.parse(startedAt);
    return [
      {
        id,
        state: stateOf(status, finalStatus),
        startedMs: Number.isFinite(startedMs) ? startedMs : null,
        message: safeText(message),
      },
    ];
  });
}

function stateOf(status: string, finalStatus: string): BuildEvent['state'] {
  if (status === 'success') return 'done';
  return status === 'failure' || status === 'timeout' || finalStatus === 'timeout' ? 'failed' : 'running';
}

/** Decodes the last lines of a log. */
export function decodeLog(json: unknown, where: string, redact: (text: string) => string): readonly string[] {
  const logs = isRecord(json) ? json['logs'] : undefined;
  if (!Array.isArray(logs)) throw schemaDrift(where, 'logs', 'a list of lines', json);
  return logs
    .flatMap((line: unknown) => (isRecord(line) && typeof line['message'] === 'string' ? [line['message']] : []))
    .flatMap((text) => text.split('\n'))
    .filter((text) => text.trim() !== '')
    .slice(-LINES_SHOWN)
    .map((text) => safeText(withoutSecrets(redact(text))).slice(0, LINE_CHARACTERS_MAX));
}

// Secrets in the output of programs are unknown to this process, so they are recognized by their names.
const NAMED_SECRET =
  /((?:pass(?:word|wd|phrase)?|pwd|token|secret|credentials?|(?:access|api|private)[_-]?key|authorization)["']?\s*[:=]\s*)(?:(?:bearer|basic)\s+)?("[^"]*"|'[^']*'|[^\s,;&]+)/gi;
const ADDRESS_WITH_SECRET = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;

/** Masks texts that look like secrets. */
function withoutSecrets(text: string): string {
  return text
    .slice(0, 4 * LINE_CHARACTERS_MAX)
    .replace(ADDRESS_WITH_SECRET, '$1[redacted]@')
    .replace(NAMED_SECRET, '$1[redacted]')
    .replace(BEARER, '$1 [redacted]');
}
