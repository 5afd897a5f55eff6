import { readFileSync } from 'node:fs';
import type { HttpMethod, PlatformResponse } from '../../src/platform/transport.ts';

export interface RecordedExchange {
  readonly name: string;
  readonly request: { readonly method: HttpMethod; readonly path: string; readonly body?: Record<string, unknown> };
  readonly response: { readonly status: number; readonly contentType: string; readonly body: unknown };
}

function recorded(file: string): readonly RecordedExchange[] {
  const text = readFileSync(new URL(`../recorded/${file}`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedExchange);
}

/** Exchanges with a real server, in order. */
export const recordedExchanges = recorded('console-ae3f1618.jsonl');
/** The second recording, of another day and another seed. */
export const secondExchanges = recorded('console-2.jsonl');

export function recordedExchange(name: string): RecordedExchange {
  return named(name, recordedExchanges);
}

export function recordedSecond(name: string): RecordedExchange {
  return named(name, secondExchanges);
}

function named(name: string, exchanges: readonly RecordedExchange[]): RecordedExchange {
  const found = exchanges.find((exchange) => exchange.name === name);
  if (found === undefined) throw new Error(`no recorded exchange is called ${name}`);
  return found;
}

/** The recorded answer of either recording; no name is in both. */
export function recordedResponse(name: string): PlatformResponse {
  const { status, contentType, body } = named(name, [...recordedExchanges, ...secondExchanges]).response;
  const page = (body as { readonly __text__?: string }).__text__;
  return { status, contentType, retryAfter: null, body: page ?? JSON.stringify(body) };
}

export function jsonResponse(status: number, body: unknown, retryAfter: string | null = null): PlatformResponse {
  return { status, contentType: 'application/json', retryAfter, body: JSON.stringify(body) };
}
