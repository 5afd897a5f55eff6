import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkSeed } from '../../src/sandbox/seed-check.ts';
import { recordedSeed } from '../../src/sandbox/seeds/recorded.ts';
import { plainTokenOf, type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { type Exchange, expected, recordedText, recording, Twins } from './recordings.ts';
import { startTestSandbox } from './support.ts';

/** Not yet. */
const owed = new Set([
  'list certificates',
  'components of 100 MiB',
  'ports of a component by way of an empty application',
  'tcp rules after open outer',
  'tcp rules after: the old one stays, as if it were open',
  'one component: addresses of both kinds',
  'the default rule of 8080',
  'delete the default rule',
  'regions of a team, no administrator',
  'all regions, no administrator',
  'query the metrics of a region over a range',
  'monitoring now',
  'install an unknown model',
  'install with a wrong key',
  'install with the right key afterwards: the first key is kept',
  'install while the store is unreachable',
  'install',
  'upgrades after the install',
  'upgrade',
  'components after the upgrade: the image is new',
  'build a component',
  'events of a component',
  'log of an event',
  'inner ports of a team',
]);

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
    if (!owed.has(name)) twins.learn(response.body, live);
    const actual = { status: answer.status, contentType: answer.headers.get('content-type'), body: live };
    const wanted = { ...response, body: expected(response.body, twins) };
    if (owed.has(name)) expect(actual).not.toEqual(wanted);
    else expect(actual).toEqual(wanted);
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
