import { expect, test } from 'vitest';
import type { SlowRead } from '../../src/platform/reader.ts';
import { type PlatformRequest, TransportError } from '../../src/platform/transport.ts';
import { clientOf } from './client-support.ts';
import { jsonResponse, recordedExchange } from './recorded.ts';

const app = { team: 'team-a', region: 'rainbond', appId: 1 };
const STATUS_MS = 10_000;

/** Hangs until the time of the request is up, as the transport has it. */
function hanging(clock: { sleep(ms: number): Promise<void> }) {
  return async (request: PlatformRequest): Promise<never> => {
    await clock.sleep(request.timeoutMs);
    throw new TransportError('ambiguous', 'ETIMEDOUT', `timed out after ${request.timeoutMs} ms`);
  };
}

test('the status of an application has a short deadline of its own, is asked for once, and is told of while it hangs', async () => {
  const slow: SlowRead[] = [];
  const sent: PlatformRequest[] = [];
  const { client, clock } = clientOf(() => new Error('not used'), {
    onSlow: (one) => slow.push(one),
    transport: async (request) => {
      sent.push(request);
      return await hanging(clock)(request);
    },
  });
  const startedMs = clock.monotonic();
  const error = await clock.run(client.application(app).catch((thrown: unknown) => thrown));
  expect(error).toMatchObject({
    code: 'platform/unreachable',
    message: expect.stringContaining('timed out after 10000 ms'),
  });
  expect(sent).toHaveLength(1);
  expect(clock.monotonic() - startedMs).toBe(STATUS_MS);
  expect(slow).toEqual([
    {
      operation: 'getApplication',
      path: '/openapi/v1/teams/team-a/regions/rainbond/apps/1',
      deadlineMs: STATUS_MS - 3_000,
    },
  ]);
});

test('a status that is answered in time is not told of', async () => {
  const slow: SlowRead[] = [];
  const { client, clock } = clientOf(() => new Error('not used'), {
    onSlow: (one) => slow.push(one),
    transport: async () => {
      await clock.sleep(2_900);
      return jsonResponse(200, recordedExchange('application detail').response.body);
    },
  });
  expect(await clock.run(client.application(app))).toMatchObject({ appId: 1 });
  await clock.run(clock.sleep(60_000));
  expect(slow).toEqual([]);
});

test('the operator may allow less than that, and other reads take what the operator allows', async () => {
  const sent: PlatformRequest[] = [];
  const options = {
    transport: async (request: PlatformRequest) => {
      sent.push(request);
      return jsonResponse(400, { msg: 'no' });
    },
  };
  for (const timeoutMs of [1_000, 30_000]) {
    const { client } = clientOf(() => new Error('not used'), { ...options, limits: { timeoutMs } });
    await client.application(app).catch(() => {});
    await client.regions().catch(() => {});
  }
  expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([1_000, 1_000, 10_000, 30_000]);
});
