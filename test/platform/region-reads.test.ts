import { expect, test } from 'vitest';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import { clientOf } from './client-support.ts';
import { jsonResponse, recordedExchange, recordedSecond } from './recorded.ts';

/** A secret of a region, as a listing of a team has it. */
const CANARY = 'canary-of-a-region-token';

function recordedBody(name: string): PlatformResponse {
  const { status, body } = recordedSecond(name).response;
  return jsonResponse(status, body);
}

function row(number: number): Record<string, unknown> {
  return { region_id: `id-${number}`, region_name: `region-${number}`, status: '1', token: CANARY };
}

/** A server whose token lacks enterprise rights, and that pages as a real one does. */
function plainServer(count: number, pageSizeMax = 100): (request: PlatformRequest) => PlatformResponse {
  return ({ path, query }) => {
    if (path === '/openapi/v1/regions') return recordedBody('all regions, no administrator');
    expect(path).toBe('/openapi/v1/teams/team-a/regions');
    const size = Math.min(pageSizeMax, Number(query?.['page_size'] ?? 10));
    const page = Number(query?.['page'] ?? 1);
    const rows = Array.from({ length: count }, (_, index) => row(index + 1));
    return jsonResponse(200, { total: count, regions: rows.slice((page - 1) * size, page * size) });
  };
}

test('a token without enterprise rights gets the regions of the team, as recorded, without the secret in them', async () => {
  const { client } = clientOf(({ path }) =>
    recordedBody(
      path === '/openapi/v1/regions' ? 'all regions, no administrator' : 'regions of a team, no administrator',
    ),
  );
  const regions = await client.regions({ team: 'team-a' });
  expect(regions.map(({ name, status, httpDomain }) => ({ name, status, httpDomain }))).toEqual([
    { name: 'rainbond', status: '1', httpDomain: 'rainbond.example.com' },
    { name: 'region-maint', status: '3', httpDomain: expect.any(String) },
  ]);
  expect(regions[0]).not.toHaveProperty('token');
});

test('a token with enterprise rights gets all regions in one request', async () => {
  const { body } = recordedExchange('list regions').response;
  const { client, sent } = clientOf(() => jsonResponse(200, body));
  expect((await client.regions({ team: 'team-a' })).length).toBeGreaterThan(0);
  expect(sent.map(({ path }) => path)).toEqual(['/openapi/v1/regions']);
});

test.for([
  ['in one page', 100, 1],
  ['as a server that caps the size of a page sends them', 10, 3],
] as const)('all regions of a team are read %s', async ([, pageSizeMax, pages]) => {
  const { client, sent } = clientOf(plainServer(23, pageSizeMax));
  // The second page starts where the first ended, whatever size the server made it.
  const regions = await client.regions({ team: 'team-a' });
  expect(regions.map(({ name }) => name)).toEqual(Array.from({ length: 23 }, (_, index) => `region-${index + 1}`));
  expect(sent).toHaveLength(1 + pages);
});

test('the refusal of all regions is asked for once, and one answer serves a team while it is young enough', async () => {
  const { client, clock, sent } = clientOf(plainServer(2));
  const question = { team: 'team-a', maxAgeMs: 30_000 };
  await Promise.all([client.regions(question), client.regions(question), client.regions(question)]);
  await client.regions(question);
  expect(sent.map(({ operation }) => operation)).toEqual(['listRegions', 'listTeamRegions']);
  clock.advance(30_001);
  await client.regions(question);
  expect(sent.map(({ operation }) => operation).slice(2)).toEqual(['listTeamRegions']);
});

test('without a team, the refusal says what to do', async () => {
  const { client } = clientOf(plainServer(1));
  await expect(client.regions()).rejects.toMatchObject({
    code: 'platform/regions-need-team',
    disposition: 'invalid',
    message: expect.stringContaining('HTTP 403'),
    remedy: 'Name a team: portolan regions --team TEAM.',
  });
});

test.for([
  ['a page of a proxy', { status: 403, contentType: 'text/html', retryAfter: null, body: '<h1>Forbidden</h1>' }],
  ['JSON of somebody else', jsonResponse(403, { error: 'forbidden' })],
  ['a refusal of another kind', jsonResponse(403, { code: 10_402, msg: 'no permission' })],
] as const)('%s is a failure, and no reason to ask otherwise', async ([, answer]) => {
  const { client, sent } = clientOf(() => answer);
  await expect(client.regions({ team: 'team-a' })).rejects.toMatchObject({ code: 'platform/forbidden' });
  expect(sent).toHaveLength(1);
});

test('a server that lists no regions of a team leaves the refusal as it was', async () => {
  const { client } = clientOf(({ path }) =>
    path === '/openapi/v1/regions'
      ? recordedBody('all regions, no administrator')
      : jsonResponse(404, { detail: 'Not found.', code: 404, msg: 'Not found.' }),
  );
  await expect(client.regions({ team: 'team-a' })).rejects.toMatchObject({
    code: 'platform/forbidden',
    message: expect.stringContaining('/openapi/v1/regions: HTTP 403'),
  });
});

test('a list that stops before its total is not taken for the whole', async () => {
  const { client } = clientOf(({ path }) =>
    path === '/openapi/v1/regions'
      ? recordedBody('all regions, no administrator')
      : jsonResponse(200, { total: 12, regions: [row(1)] }),
  );
  const error = await client.regions({ team: 'team-a' }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'platform/schema-drift' });
  expect(JSON.stringify(error) + String(error)).not.toContain(CANARY);
});
