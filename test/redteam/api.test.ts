import { expect, test } from 'vitest';
import { daemonUnderAttack, SECRETS } from './api.ts';
import { assault } from './assault.ts';

const SEED = 14;
/** The first of the 10,000 that `npm run test:long` sends. */
const REQUESTS = process.env['PORTOLAN_TEST_LONG'] === '1' ? 10_000 : 2_500;

test(`${REQUESTS} hostile requests (seed ${SEED}) neither break the API nor get anything from it`, async () => {
  const daemon = await daemonUnderAttack();
  const writes = daemon.sandbox.requests().filter(({ isWrite }) => isWrite).length;
  const { faults, statuses } = await assault(daemon.port, SEED, REQUESTS);
  expect([...faults.values()].join('\n\n')).toBe('');

  // How soon is measured by the whole corpus, which has the machine to itself.
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
  expect(daemon.sandbox.requests().filter(({ isWrite }) => isWrite).length).toBe(writes);
  expectOnlyOperatorsIn(await daemon.ask('/api/v1/history?limit=1000'));
  // The corpus is worth something only while most of it is heard, refused and allowed.
  for (const status of [200, 303, 400, 401, 403, 404])
    expect(statuses.get(status) ?? 0, `answers ${status}`).toBeGreaterThan(REQUESTS / 100);
  expect(statuses.get(0) ?? 0).toBeLessThan(REQUESTS / 20);

  daemon.child.kill('SIGTERM');
  const { code, err } = await daemon.ended;
  expect(code).toBe(0);
  for (const text of [...Object.values(SECRETS.tokens), SECRETS.webhook, SECRETS.oidc]) expect(err).not.toContain(text);
  const lines = err.trimEnd().split('\n');
  expect(lines.filter((line) => /"level":"error"|fault of Portolan/.test(line))).toEqual([]);
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
});

/** What was commanded was commanded by those who may. */
function expectOnlyOperatorsIn(history: unknown): void {
  const { items } = history as { items: readonly { event: string; detail: { by?: string } }[] };
  const commanded = items.filter(({ event }) => ['suspended', 'resumed', 'approved'].includes(event));
  expect(commanded.length).toBeGreaterThan(0);
  expect(commanded.filter(({ detail }) => !['my-operator', 'my-admin'].includes(detail.by ?? ''))).toEqual([]);
}
