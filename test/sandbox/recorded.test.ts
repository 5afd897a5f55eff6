import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordedSeed } from '../../src/sandbox/seeds/recorded.ts';
import { type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { startTestSandbox } from './support.ts';

interface Exchange {
  readonly name: string;
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown; readonly raw?: string };
  readonly response: { readonly status: number; readonly contentType: string; readonly body: unknown };
}

const exchanges = readFileSync(new URL('../recorded/console-ae3f1618.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Exchange => JSON.parse(line));

/** Recorded `http_rule_id` → the id the sandbox gave to the same rule. */
const ruleIds = new Map<string, string>();
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startTestSandbox({ seed: recordedSeed });
});
afterAll(() => sandbox.close());

test('the recording is complete', () => {
  expect(exchanges).toHaveLength(56);
});

// In order: each exchange builds on those before it.
test.for(exchanges)('answers as the real server did: $name', async ({ name, request, response }) => {
  const path = request.path.replace(/[0-9a-f]{32}$/, (id) => ruleIds.get(id) ?? id);
  const answer = await fetch(sandbox.url + path, {
    method: request.method,
    headers: headersOf(name),
    ...(request.raw === undefined && request.body === undefined
      ? {}
      : { body: request.raw ?? JSON.stringify(request.body) }),
  });
  const body: unknown = await answer.json();
  learnRuleIds(response.body, body);
  expect({ status: answer.status, contentType: answer.headers.get('content-type'), body }).toEqual({
    ...response,
    body: withLiveIds(response.body),
  });
});

function headersOf(name: string): Record<string, string> {
  const type = { 'content-type': 'application/json' };
  if (name === 'regions without a token') return type;
  return { ...type, authorization: name === 'regions with a bearer token' ? `Bearer ${SANDBOX_TOKEN}` : SANDBOX_TOKEN };
}

function learnRuleIds(recorded: unknown, live: unknown): void {
  if (Array.isArray(recorded) && Array.isArray(live)) {
    for (const [index, item] of recorded.entries()) learnRuleIds(item, live[index]);
    return;
  }
  if (!isObject(recorded) || !isObject(live)) return;
  const [from, to] = [recorded['http_rule_id'], live['http_rule_id']];
  if (typeof from === 'string' && typeof to === 'string' && from !== '' && !ruleIds.has(from)) {
    expect(to).toMatch(/^[0-9a-f]{32}$/);
    ruleIds.set(from, to);
  }
}

/** The recorded body, every value of it, but for ids of rules and what the sandbox does not measure. */
function withLiveIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLiveIds);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    if (key === 'http_rule_id' && typeof item === 'string') return [key, ruleIds.get(item) ?? item];
    if (key === 'used_cpu') return [key, expect.any(Number)];
    return [key, withLiveIds(item)];
  });
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
