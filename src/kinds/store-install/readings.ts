import { type BuildEvent, decodeInstalled, type InstalledModel } from './wire.ts';
import type { Reading } from '../../model/reading.ts';
import { listComponents } from '../../platform/readings.ts';
import { safeText } from '../../platform/answer.ts';
import { Fields, isRecord, schemaDrift } from '../../platform/fields.ts';
import { recordReader, shown } from '../../platform/record-fields.ts';

/** The models that are installed in the application, one entry for each copy. */
export const listInstalled: Reading<readonly InstalledModel[]> = {
  operation: 'listInstalled',
  segments: ['upgrade'],
  decode: decodeInstalled,
  expected: { noun: 'a list of installed models', fields: ['app_model_id', 'app_model_name'] },
  isExtended: true,
  asksStore: true,
};

/** Whoever waits for an install looks every two seconds: a build takes minutes, so it need not be asked as often. */
const GOOD_FOR_MS = 10_000;
const LINES_SHOWN = 5;
const LINE_CHARACTERS_MAX = 200;

/** The builds of a component, latest first. People read them, and no decision depends on them. */
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

/** The last lines that an event has printed, each fit for a terminal and without secrets. */
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

/** An event without an id cannot be asked for, and one that is no build is of no interest. */
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

/** The last lines of a log. */
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

// What programs print of their own secrets: this process does not know them, so only their names tell.
const NAMED_SECRET =
  /((?:pass(?:word|wd|phrase)?|pwd|token|secret|credentials?|(?:access|api|private)[_-]?key|authorization)["']?\s*[:=]\s*)(?:(?:bearer|basic)\s+)?("[^"]*"|'[^']*'|[^\s,;&]+)/gi;
const ADDRESS_WITH_SECRET = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;

/** Masks what looks like a secret. */
function withoutSecrets(text: string): string {
  return text
    .slice(0, 4 * LINE_CHARACTERS_MAX)
    .replace(ADDRESS_WITH_SECRET, '$1[redacted]@')
    .replace(NAMED_SECRET, '$1[redacted]')
    .replace(BEARER, '$1 [redacted]');
}
