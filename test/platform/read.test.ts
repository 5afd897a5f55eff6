import { expect, test } from 'vitest';
import type { Reading } from '../../src/model/reading.ts';
import { clientOf } from './client-support.ts';
import { jsonResponse } from './recorded.ts';

const app = { team: 'team-a', region: 'region-1', appId: 1 };

function echoed(of: Partial<Reading<string>>): Reading<string> {
  return {
    operation: 'getEcho',
    segments: ['echo'],
    decode: (json) => (json as { readonly echo: string }).echo,
    expected: { noun: 'an echo', fields: ['echo'] },
    goodForMs: 10_000,
    ...of,
  };
}

test('an answer that will do for a while is that of the same operation, address and query', async () => {
  const { client, sent } = clientOf(({ query }) => jsonResponse(200, { echo: JSON.stringify(query) }));
  const values = async (...readings: readonly Reading<string>[]) => {
    const answers = [];
    for (const reading of readings) answers.push(await client.read(reading, app));
    return answers.map((answer) => answer.readable && answer.value);
  };
  const second = echoed({ query: { page: '2' } });
  const counted = echoed({ operation: 'countEcho', decode: (json) => String(Object.keys(json as object).length) });
  expect(await values(echoed({}), second, counted, echoed({}), second)).toEqual([
    '{}',
    '{"page":"2"}',
    '1',
    '{}',
    '{"page":"2"}',
  ]);
  expect(sent).toHaveLength(3);
});

test.for([
  ['the number of its application', echoed({}), { team: 'team-a', region: 'region-1' }],
  ['its region', echoed({ below: 'region' }), { team: 'team-a', appId: 1 }],
  ['its team', echoed({ below: 'team' }), { region: 'region-1', appId: 1 }],
] as const)('a reading without %s is refused before anything is sent', async ([, reading, place]) => {
  const { client, sent } = clientOf(() => jsonResponse(200, { echo: '' }));
  const error: unknown = await client.read(reading, place).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'platform/invalid-request', disposition: 'invalid' });
  expect((error as Error).message).toContain('Nothing was sent');
  expect(sent).toEqual([]);
});
