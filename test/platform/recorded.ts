import { readFileSync } from 'node:fs';
import type { HttpMethod, PlatformResponse } from '../../src/platform/transport.ts';

export interface RecordedExchange {
  readonly name: string;
  readonly request: { readonly method: HttpMethod; readonly path: string; readonly body?: Record<string, unknown> };
  readonly response: { readonly status: number; readonly contentType: string; readonly body: unknown };
}

const text = readFileSync(new URL('../recorded/console-ae3f1618.jsonl', import.meta.url), 'utf8');

/** Exchanges with a real server, in order. */
export const recordedExchanges: readonly RecordedExchange[] = text
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as RecordedExchange);

export function recordedExchange(name: string): RecordedExchange {
  const found = recordedExchanges.find((exchange) => exchange.name === name);
  if (found === undefined) throw new Error(`no recorded exchange is called ${name}`);
  return found;
}

export function recordedResponse(name: string): PlatformResponse {
  const { status, contentType, body } = recordedExchange(name).response;
  return { status, contentType, retryAfter: null, body: JSON.stringify(body) };
}

export function jsonResponse(status: number, body: unknown, retryAfter: string | null = null): PlatformResponse {
  return { status, contentType: 'application/json', retryAfter, body: JSON.stringify(body) };
}
