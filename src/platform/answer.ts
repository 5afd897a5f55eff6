import { isRecord } from './fields.ts';
import type { PlatformResponse } from './transport.ts';
import type { AnswerSummary } from './verdict.ts';

/** One answer, parsed once: what the classifier, the dialect probe and the error words look at. */
export interface Answer {
  readonly status: number;
  /** undefined: the body is not JSON, or empty. */
  readonly json: unknown;
  readonly isJson: boolean;
  readonly isEmpty: boolean;
  /** The business code, which often is not the HTTP status. */
  readonly code: number | undefined;
  /** `msg` where it is text, else `detail`; for matching, not for people. */
  readonly msg: string;
  /** `msg_show`; for matching, not for people. */
  readonly shown: string;
  /** `msg` is an object: the cluster behind the platform failed, and this is what it said. */
  readonly fromCluster: boolean;
  /** The platform's own message that the HTTP status is good but the operation failed. */
  readonly isSuccess: boolean;
  readonly summary: AnswerSummary;
}

/** Masks the secrets of this process in a text. Servers repeat tokens and keys in their messages. */
export type Redact = (text: string) => string;

export function parseAnswer(response: PlatformResponse, redact?: Redact): Answer {
  const parsed = parseJson(response.body);
  const { status } = response;
  const record = isRecord(parsed.json) ? parsed.json : {};
  const code = Number.isSafeInteger(record['code']) ? (record['code'] as number) : undefined;
  const fromCluster = isRecord(record['msg']);
  const inner = isRecord(record['msg']) ? record['msg'] : {};
  const msg = firstText(record['msg'], inner['msg'], record['detail']);
  const shown = firstText(record['msg_show']);
  let summary: AnswerSummary | undefined;
  const summarise = (): AnswerSummary => {
    const message = parsed.isJson ? wordsOf(status, msg, shown, record['err']) : notJson(response, parsed.isEmpty);
    return { status, ...(code === undefined ? {} : { code }), message: safeText(message, redact) };
  };
  return {
    status,
    json: parsed.json,
    isJson: parsed.isJson,
    isEmpty: parsed.isEmpty,
    code,
    msg: msg.trim(),
    shown: shown.trim(),
    fromCluster,
    isSuccess: status >= 200 && status < 300 && !saysFailed(record, code),
    // Nobody asks for the words of a read that went well, and most reads do.
    get summary() {
      return (summary ??= summarise());
    },
  };
}

/** A record of the API may have a `code` field of its own one day; only an envelope's says how the request went. */
function saysFailed(record: Readonly<Record<string, unknown>>, code = 200): boolean {
  const isEnvelope = 'msg' in record || 'msg_show' in record || 'error_type' in record;
  return isEnvelope && (code < 200 || code > 299);
}

function parseJson(body: string): { readonly json: unknown; readonly isJson: boolean; readonly isEmpty: boolean } {
  if (body.trim() === '') return { json: undefined, isJson: false, isEmpty: true };
  try {
    return { json: JSON.parse(body), isJson: true, isEmpty: false };
  } catch {
    return { json: undefined, isJson: false, isEmpty: false };
  }
}

function firstText(...candidates: readonly unknown[]): string {
  return candidates.find((candidate): candidate is string => typeof candidate === 'string' && candidate !== '') ?? '';
}

function notJson(response: PlatformResponse, isEmpty: boolean): string {
  if (isEmpty) return 'an answer without a body';
  return `an answer that is not JSON (${response.contentType ?? 'no content type'})`;
}

/** `msg`, then `msg_show` where it says more, then the fields that a validation names. Never a trace. */
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
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of someone else made fit for a log line and a terminal: a trace is cut off, anything like a key is removed,
 * control characters are escaped, and no more than 300 characters are left.
 * @param redact is applied before anything is shortened, so that no part of a secret stays.
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
