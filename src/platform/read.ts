import { keyOf, type Readable, type Reading, type Refusal } from '../model/reading.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import { addressOf } from './address.ts';
import type { Answer, Redact } from './answer.ts';
import type { PlatformClient } from './client.ts';
import { type DialectKnowledge, type DialectSetting, deniesEndpoint } from './dialect.ts';
import { missingCapability, storeFailure } from './failures.ts';
import { isRecord } from './fields.ts';
import { isForeignRefusal } from './foreign.ts';
import { NO_QUERY, type Reader } from './reader.ts';
import { LIST_BYTES_MAX, RECORD_BYTES_MAX } from './transport.ts';

interface ReadWorld {
  readonly url: string;
  readonly reader: Reader;
  readonly dialect: DialectKnowledge;
  /** The setting of the operator. */
  readonly setting: DialectSetting;
  readonly clock: Clock;
  readonly redact: Redact | undefined;
}

/** Maximum number of pages of a list. */
const PAGES_MAX = 100;
const UNREADABLE = { readable: false } as const;

/** Returns the read of declared readings, with their capabilities, pages and reusable answers. */
export function createRead(world: ReadWorld): PlatformClient['read'] {
  const { dialect, redact = (text: string) => text } = world;
  const recently = rememberAnswers(world.clock);
  return async (reading, place) => {
    const { needs, goodForMs, pages, query = NO_QUERY } = reading;
    const state = dialect.state(needs?.listing ?? reading);
    if (state === 'no' || (needs?.isKnown === true && state !== 'yes')) return UNREADABLE;
    const path = addressOf(place, reading.below, reading.segments);
    const request = { world, reading, path, query };
    const decode = (json: unknown, where: string) => reading.decode(json, where, redact);
    if (pages !== undefined) return await allPages(request, decode, pages);
    const once = () => ask(request, decode);
    return await (goodForMs === undefined ? once() : recently(goodForMs, `${keyOf(reading)} ${path}`, once));
  };
}

/** Returns a cache of answers that may be reused for a time. */
function rememberAnswers(clock: Clock): <T>(goodForMs: number, key: string, ask: () => Promise<T>) => Promise<T> {
  const recent = new Map<string, { readonly askedMs: MonotonicMs; readonly answer: Promise<unknown> }>();
  return <T>(goodForMs: number, key: string, ask: () => Promise<T>) => {
    const nowMs = clock.monotonic();
    for (const [other, { askedMs }] of recent) if (nowMs - askedMs > goodForMs) recent.delete(other);
    const known = recent.get(key);
    if (known !== undefined) return known.answer as Promise<T>;
    const answer = ask();
    recent.set(key, { askedMs: nowMs, answer });
    return answer;
  };
}

interface ReadRequest<T> {
  readonly world: ReadWorld;
  readonly reading: Reading<T>;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** Requests a reading. @param decode decodes one page, if there are pages. */
function ask<T, Decoded>(
  { world, reading, path, query }: ReadRequest<T>,
  decode: (json: unknown, where: string) => Decoded,
): Promise<Readable<Decoded>> {
  const { operation, needs, timeoutMs, expected, isRecord: isOne } = reading;
  const { dialect } = world;
  return world.reader.read<Readable<Decoded>>({
    operation,
    path,
    query,
    timeoutMs,
    expected,
    answerBytesMax: isOne === true ? RECORD_BYTES_MAX : LIST_BYTES_MAX,
    decode: (json, where) => {
      const value = decode(json, where);
      dialect.found(reading, 'yes');
      return { readable: true, value };
    },
    otherwise: (answer) => {
      const isProved = needs !== undefined && dialect.state(needs.listing) === 'yes';
      const meant =
        reading.otherwise === undefined
          ? unlisted(world, reading, answer, `GET ${world.url}${path}`)
          : reading.otherwise(refusalOf(answer), isProved);
      // Only readings of one record, which has no pages, give such an answer a value.
      return meant === undefined ? undefined : { value: meant as Readable<Decoded> };
    },
  });
}

/** Returns the meaning of an unsuccessful answer to a listing; undefined: it is an error. Only a denial disproves a capability. */
function unlisted(
  { reader, dialect, setting }: ReadWorld,
  reading: Reading<unknown>,
  answer: Answer,
  where: string,
): Readable<never> | undefined {
  const because = reading.asksStore === true ? storeFailure(where, answer) : undefined;
  if (because !== undefined) {
    dialect.found(reading, 'yes');
    return { readable: false, because };
  }
  if (!deniesEndpoint(answer)) return undefined;
  if (reading.isExtended !== true) return UNREADABLE;
  // Another server lacks the endpoint too: that proves nothing about the platform, and must not be stored.
  if (isForeignRefusal(answer) && !reader.isProven()) return undefined;
  if (setting === 'extended') throw missingCapability(where, answer);
  dialect.found(reading, 'no');
  return UNREADABLE;
}

async function allPages<T>(
  request: ReadRequest<T>,
  decode: (json: unknown, where: string) => T,
  { size, idOf }: NonNullable<Reading<T>['pages']>,
): Promise<Readable<T>> {
  const found = new Map<unknown, unknown>();
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const query = { page: String(page), page_size: String(size) };
    const answer = await ask({ ...request, query }, (json, where) => {
      const records = decode(json, where) as readonly unknown[];
      const total = isRecord(json) && typeof json['total'] === 'number' ? json['total'] : records.length;
      return { records, total };
    });
    if (!answer.readable) return answer;
    const before = found.size;
    for (const record of answer.value.records) found.set(idOf(record as never), record);
    // A page without new records is the end, whatever the total says: records may be deleted meanwhile.
    if (found.size >= answer.value.total || found.size === before) break;
  }
  return { readable: true, value: [...found.values()] as T };
}

function refusalOf(answer: Answer): Refusal {
  const { status, isJson, code, msg, summary } = answer;
  return { status, isJson, code, msg, summary, isDenial: deniesEndpoint(answer) };
}
