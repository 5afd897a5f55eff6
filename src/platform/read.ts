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
  /** As the operator set it. */
  readonly setting: DialectSetting;
  readonly clock: Clock;
  readonly redact: Redact | undefined;
}

/** A server that never comes to the end of its list is not believed. */
const PAGES_MAX = 100;
const UNREADABLE = { readable: false } as const;

/** Reads what readings declare. Capabilities, pages and answers that are still good are looked after here. */
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

/** Answers that will do for a while. */
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

/** @param decode of one page, where there are pages. */
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
      // Only a reading of one record gives such an answer a value, and that has no pages.
      return meant === undefined ? undefined : { value: meant as Readable<Decoded> };
    },
  });
}

/** Only a denial of the address disproves a capability; undefined: the answer is an error. */
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
  // Another server has no such endpoint either: that says nothing of the platform, and would be remembered of it.
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
    // A page that brings nothing new is the end, whatever the total says: it may be counted while others delete.
    if (found.size >= answer.value.total || found.size === before) break;
  }
  return { readable: true, value: [...found.values()] as T };
}

function refusalOf(answer: Answer): Refusal {
  const { status, isJson, code, msg, summary } = answer;
  return { status, isJson, code, msg, summary, isDenial: deniesEndpoint(answer) };
}
