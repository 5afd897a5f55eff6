import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkSeed } from '../../src/sandbox/seed-check.ts';
import { recordedSeed } from '../../src/sandbox/seeds/recorded.ts';
import { plainTokenOf, type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { type Exchange, expected, recordedText, recording, Twins } from './recordings.ts';
import { startTestSandbox } from './support.ts';

describe.each([
  { file: 'console-ae3f1618.jsonl', seed: recordedSeed, count: 56 },
  { file: 'console-2.jsonl', seed: checkSeed(JSON.parse(recordedText('console-2.seed.json'))), count: 59 },
])('$file', ({ file, seed, count }) => {
  const exchanges = recording(file);
  const twins = new Twins(JSON.stringify(seed));
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startTestSandbox({ seed });
  });
  afterAll(() => sandbox.close());

  test('the recording is complete', () => {
    expect(exchanges).toHaveLength(count);
  });

  // In order: each exchange builds on those before it.
  test.for(exchanges)('answers as the real server did: $name', async ({ name, request, response }) => {
    const body = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    const answer = await fetch(sandbox.url + twins.translate(request.path), {
      method: request.method,
      headers: headersOf(name, request),
      ...(body === undefined ? {} : { body: twins.translate(body) }),
    });
    const live = await bodyOf(answer);
    twins.learn(response.body, live);
    expect({ status: answer.status, contentType: answer.headers.get('content-type'), body: live }).toEqual({
      ...response,
      body: expected(response.body, twins),
    });
  });
});

/** A body that is no JSON stands in the recording as `__text__`. */
async function bodyOf(answer: Response): Promise<unknown> {
  const isJson = answer.headers.get('content-type') === 'application/json';
  return isJson ? answer.json() : { __text__: await answer.text() };
}

function headersOf(name: string, request: Exchange['request']): Record<string, string> {
  const headers = { 'content-type': 'application/json', ...request.headers };
  if (name === 'regions without a token') return headers;
  if (name === 'regions with a bearer token') return { ...headers, authorization: `Bearer ${SANDBOX_TOKEN}` };
  return { ...headers, authorization: request.token === 'plain' ? plainTokenOf(SANDBOX_TOKEN) : SANDBOX_TOKEN };
}
