import { isRecord } from './fields.ts';
import type { PlatformResponse } from './transport.ts';
import type { AnswerSummary } from './verdict.ts';

/** Masks the secrets of this process in a text, because servers repeat tokens and keys in their messages. */
export type Redact = (text: string) => string;

export function parseAnswer(response: PlatformResponse, redact?: Redact): Answer {
  return new Answer(response, redact);
}

/** A parsed answer, for the classifier, the dialect and error messages. */
export class Answer {
  readonly status: number;
  /** undefined: the body is not JSON, or empty. */
  readonly json: unknown;
  readonly isJson: boolean;
  readonly isEmpty: boolean;
  /** The business code, which often differs from the HTTP status. */
  readonly code: number | undefined;
  /** `msg` if it is a text, else `detail`; for matching, not for display. */
  readonly msg: string;
  /** `msg_show`; for matching, not for display. */
  readonly shown: string;
  /** `msg` is an object: the cluster behind the platform failed, and this is its error. */
  readonly fromCluster: boolean;
  /** The body has the platform's form of an error: `code`, `msg` and `msg_show`. Answers of proxies do not have it. */
  readonly isOwnError: boolean;
  /** The status is 2xx and the body does not report a failure. */
  readonly isSuccess: boolean;
  readonly #response: PlatformResponse;
  readonly #redact: Redact | undefined;
  #summary: AnswerSummary | undefined;

  constructor(response: PlatformResponse, redact: Redact | undefined) {
    const { status } = response;
    const parsed = response.json === undefined ? parseJson(response.body) : parsedJson(response.json);
    const record = isRecord(parsed.json) ? parsed.json : {};
    this.#response = response;
    this.#redact = redact;
    this.status = status;
    this.json = parsed.json;
    this.isJson = parsed.isJson;
    this.isEmpty = parsed.isEmpty;
    this.code = Number.isSafeInteger(record['code']) ? (record['code'] as number) : undefined;
    this.fromCluster = isRecord(record['msg']);
    this.isOwnError = this.code !== undefined && 'msg' in record && typeof record['msg_show'] === 'string';
    this.msg = messageOf(record).trim();
    this.shown = textOf(record['msg_show']).trim();
    this.isSuccess = status >= 200 && status < 300 && !saysFailed(record, this.code);
  }

  /** Returns the summary, made on first use: successful reads, which are most, do not need it. */
  get summary(): AnswerSummary {
    return (this.#summary ??= this.#summarised());
  }

  /** Returns a text of the answer, safe to show. */
  safe(text: string): string {
    return safeText(text, this.#redact);
  }

  #summarised(): AnswerSummary {
    const { status, code, json } = this;
    const record = isRecord(json) ? json : {};
    const message = this.isJson
      ? wordsOf(status, messageOf(record), textOf(record['msg_show']), record['err'])
      : notJson(this.#response, this.isEmpty);
    return { status, ...(code === undefined ? {} : { code }), message: safeText(message, this.#redact) };
  }
}

/** Returns whether an envelope reports a failure. The `code` of an ordinary record has another meaning. */
function saysFailed(record: Readonly<Record<string, unknown>>, code = 200): boolean {
  const isEnvelope = 'msg' in record || 'msg_show' in record || 'error_type' in record;
  return isEnvelope && (code < 200 || code > 299);
}

type Parsed = Pick<Answer, 'json' | 'isJson' | 'isEmpty'>;

function parsedJson(json: unknown): Parsed {
  return { json, isJson: true, isEmpty: false };
}

function parseJson(body: string): Parsed {
  if (body.trim() === '') return { json: undefined, isJson: false, isEmpty: true };
  try {
    return parsedJson(JSON.parse(body));
  } catch {
    return { json: undefined, isJson: false, isEmpty: false };
  }
}

function messageOf(record: Readonly<Record<string, unknown>>): string {
  const { msg, detail } = record;
  return textOf(msg) || (isRecord(msg) ? textOf(msg['msg']) : '') || textOf(detail);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function notJson(response: PlatformResponse, isEmpty: boolean): string {
  if (isEmpty) return 'an answer without a body';
  return `an answer that is not JSON (${response.contentType ?? 'no content type'})`;
}

/** Returns `msg`, then `msg_show` if it differs, then the faults of fields. It never includes a stack trace. */
function wordsOf(status: number, msg: string, shown: string, fieldFaults: unknown): string {
  const isTrace = status >= 500 || shown.includes('\n') || /traceback|stack trace/i.test(shown);
  const parts = [msg, ...(isTrace || shown === msg ? [] : [shown]), ...faultsOf(fieldFaults)];
  return parts.filter((part) => part.trim() !== '').join('; ') || 'an answer without a message';
}

function faultsOf(fieldFaults: unknown): readonly string[] {
  if (!isRecord(fieldFaults)) return [];
  return Object.entries(fieldFaults).flatMap(([field, faults]) => {
    const words = Array.isArray(faults) ? faults.filter((fault) => typeof fault === 'string') : [];
    return words.length === 0 ? [] : [`${field}: ${words.join(' ')}`];
  });
}

const MESSAGE_CHARACTERS_MAX = 300;
// C0, DEL, C1, separators that break lines, and the marks that reorder text on a screen.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns a foreign text that is safe for logs and terminals: without stack trace and keys, with control characters escaped, and
 * with at most 300 characters.
 * @param redact is applied before the text is shortened, so that no part of a secret stays.
 */
export function safeText(text: string, redact: Redact = (words) => words): string {
  const head = redact(text).replace(/\n?Traceback \(most recent call last\)[^]*$/, '');
  const withoutKeys = head.includes('-----BEGIN') ? '[removed: it looks like a certificate or key]' : head;
  const escaped = withoutKeys
    .slice(0, 4 * MESSAGE_CHARACTERS_MAX)
    .toWellFormed()
    .trim()
    .replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped.length <= MESSAGE_CHARACTERS_MAX) return escaped;
  return `${escaped.slice(0, MESSAGE_CHARACTERS_MAX - 1).toWellFormed()}…`;
}
