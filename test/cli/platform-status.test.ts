import { expect, test } from 'vitest';
import { serve, TOKENS } from '../server/serving.ts';
import { collectingTerminal, runHere } from './running.ts';

const env = { PORTOLAN_SERVER_TOKEN: TOKENS.viewer };

test('regions --server shows regions, requests and faults of a running controller', async () => {
  const { url, api } = await serve();
  const { regions } = api.backing;
  api.state = { ...api.state, source: { ...api.state.source, error: null } };
  const healthy = await runHere(['regions', '--server', url], { env });
  expect(healthy.code, healthy.err).toBe(0);
  expect(healthy.out).toMatch(/^REGION +PLATFORM +STATE +SINCE +NEXT ATTEMPT +APPLICATIONS\n/);
  expect(healthy.out).toMatch(/^region-1 +default +accepts changes +- +- +2$/m);
  expect(healthy.out).toMatch(/^default +0 +0 +- +- +1 \(0 waiting\) +8 of 16$/m);
  expect(healthy.out).toMatch(/\nNo fault in the platform, the source or the controller\.\n$/);
  const now = Date.now();
  const open = { state: 'circuit-open', message: '5 failures in a row', sinceMs: now - 65_000, untilMs: now + 30_500 };
  api.backing = { ...api.backing, regions: regions.map((region) => ({ ...region, ...open, state: 'circuit-open' })) };
  const failing = await runHere(['regions', '--server', url], { env });
  expect(failing.out).toMatch(/^region-1 +default +circuit breaker open +1m5s ago +in 30s +2$/m);
  expect(failing.out).toContain(
    'error (platform): Region region-1 is paused (circuit breaker open): 5 failures in a row.\n  → Ask the team',
  );
});

test('regions --server fits a narrow terminal, and -o json is the answer of the API', async () => {
  const { url, ask } = await serve();
  const { terminal, text } = collectingTerminal({ isTerminal: true, columns: 60 });
  await runHere(['regions', '--server', url], { terminal, env });
  expect(Math.max(...text.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
  const { out } = await runHere(['regions', '--server', url, '-o', 'json'], { env });
  const shown = JSON.parse(out) as Record<string, unknown>;
  const { body } = await ask('/api/v1/platform');
  expect(Object.keys(shown)).toEqual(Object.keys(body as object));
});
