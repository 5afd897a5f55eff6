import type { BuildEvent } from '../model/observed.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Redact, safeText } from './answer.ts';
import type { EventReads } from './client.ts';
import { Fields, isRecord, schemaDrift } from './fields.ts';
import { paths } from './operations.ts';
import type { Reader } from './reader.ts';
import { recordReader, shown } from './record-fields.ts';

/** Whoever waits for an install looks every two seconds: a build takes minutes, so it need not be asked as often. */
const GOOD_FOR_MS = 10_000;
const EVENTS_PER_PAGE = 10;
const LINES_SHOWN = 5;
const LINE_CHARACTERS_MAX = 200;

interface EventReadsOptions {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly redact: Redact | undefined;
  /** Whether the server speaks the extended dialect, as far as it is known; the documented one has no events. */
  readonly isExtended: () => boolean;
}

export function createEventReads({ reader, clock, redact, isExtended }: EventReadsOptions): EventReads {
  const recent = new Map<string, { readonly askedMs: MonotonicMs; readonly answer: Promise<unknown> }>();
  const once = <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    const nowMs = clock.monotonic();
    for (const [other, { askedMs }] of recent) if (nowMs - askedMs > GOOD_FOR_MS) recent.delete(other);
    const known = recent.get(key);
    if (known !== undefined) return known.answer as Promise<T>;
    const answer = ask();
    recent.set(key, { askedMs: nowMs, answer });
    return answer;
  };
  return {
    builds: async (app, serviceId) => {
      if (!isExtended()) return { readable: false };
      const path = paths.events(app, serviceId);
      const value = await once(path, () =>
        reader.read({
          operation: 'listEvents',
          path,
          query: { page: '1', page_size: String(EVENTS_PER_PAGE) },
          decode: decodeBuilds,
        }),
      );
      return { readable: true, value };
    },
    eventLog: (app, eventId) => {
      const path = paths.eventLog(app, eventId);
      return once(path, () =>
        reader.read({ operation: 'eventLog', path, decode: (json, where) => decodeLog(json, where, redact) }),
      );
    },
  };
}

const eventOf = recordReader<{
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly finalStatus: string;
  readonly startedAt: string;
  readonly message: string;
}>({
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
export function decodeLog(json: unknown, where: string, redact: Redact | undefined): readonly string[] {
  const logs = isRecord(json) ? json['logs'] : undefined;
  if (!Array.isArray(logs)) throw schemaDrift(where, 'logs', 'a list of lines', json);
  return logs
    .flatMap((line: unknown) => (isRecord(line) && typeof line['message'] === 'string' ? [line['message']] : []))
    .flatMap((text) => text.split('\n'))
    .filter((text) => text.trim() !== '')
    .slice(-LINES_SHOWN)
    .map((text) => safeText(withoutSecrets(redact === undefined ? text : redact(text))).slice(0, LINE_CHARACTERS_MAX));
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
