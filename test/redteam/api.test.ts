import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { covers, roleFor } from '../../src/server/access.ts';
import { daemonUnderAttack, SECRETS } from './api.ts';
import { type Answered, exchange } from './exchange.ts';
import type { Attempt } from './draft.ts';
import { attempts } from './requests.ts';

const SEED = 14;
const REQUESTS = 10_000;
const AT_ONCE = 16;
/** A probe of liveness fails after this. */
const HEALTHY_MS = 1_000;

/** Answers of the server itself that are no fault: it has enough to do, or the reason is in the body. */
const NOT_NOW = new Set(['server/busy', 'server/too-many-streams']);

/** What an answer must not be. @returns undefined where nothing is wrong with it. */
function fault(attempt: Attempt, { status, headers, body, raw }: Answered): string | undefined {
  const secret = Object.values({ ...SECRETS.tokens, webhook: SECRETS.webhook, platform: SECRETS.platform }).find(
    (text) => raw.includes(text),
  );
  if (secret !== undefined) return 'a secret is in the answer';
  if (/\n\s+at |node_modules|\.[jt]s:\d+/.test(raw)) return 'the answer shows the program';
  if (/x-injected/i.test(raw.slice(0, raw.indexOf('\r\n\r\n')))) return 'a header was injected';
  if (status >= 200 && status < 400) return mayDo(attempt) ? undefined : 'the role does not allow it';
  if (status === 0 || attempt.bytes.subarray(0, 5).toString() === 'HEAD ') return undefined;
  const type = headers.get('content-type') ?? '';
  if (status === 503 && attempt.route.operationId === 'getReadiness') return undefined;
  if (!type.startsWith('application/problem+json')) return `${status} is no problem document: ${type}`;
  const {
    code,
    remedy,
    detail,
    title,
    type: urn,
    status: said,
  } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  if (said !== status || urn !== `urn:portolan:problem:${String(code)}`) return 'the problem is not about this answer';
  if ([code, remedy, detail, title].some((text) => typeof text !== 'string' || text.length < 3))
    return 'the problem lacks words';
  if (status >= 500 && !NOT_NOW.has(String(code))) return `${status} ${String(code)}`;
  return undefined;
}

/** Whether the caller may have a success for this: what was changed about a path may lead to another route, but to none that changes anything. */
function mayDo({ route, caller, isPathOfRoute, bytes }: Attempt): boolean {
  const wanted = roleFor(route.access, false);
  const isAllowed = wanted === undefined || (caller !== 'stranger' && covers(caller, wanted));
  if (isAllowed) return true;
  return !isPathOfRoute && caller !== 'stranger' && /^(GET|HEAD) /i.test(bytes.subarray(0, 5).toString());
}

test(`${REQUESTS} hostile requests (seed ${SEED}) neither break the API nor get anything from it`, async () => {
  const daemon = await daemonUnderAttack();
  const writes = daemon.sandbox.requests().filter(({ isWrite }) => isWrite).length;
  const corpus = attempts(SEED, SECRETS);
  const statuses = new Map<number, number>();
  /** One example of each kind. */
  const faults = new Map<string, string>();
  let sent = 0;
  const attack = async (): Promise<void> => {
    while (sent < REQUESTS) {
      sent += 1;
      const number = sent;
      const attempt = corpus.next().value;
      const answered = await exchange(daemon.port, attempt);
      statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1);
      const wrong = fault(attempt, answered);
      if (wrong === undefined) continue;
      const request = JSON.stringify(attempt.bytes.toString('latin1').slice(0, 400));
      faults.set(
        `${attempt.what}: ${wrong}`,
        `request ${number} of seed ${SEED} (${attempt.what}, ${attempt.caller}): ${wrong}\n${request}\n${answered.raw.slice(0, 600)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, attack));
  expect([...faults.values()].join('\n\n')).toBe('');

  const probes: number[] = [];
  for (let probe = 0; probe < 5; probe += 1) {
    const beganMs = systemClock.monotonic();
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    probes.push(systemClock.monotonic() - beganMs);
  }
  expect(Math.min(...probes)).toBeLessThan(HEALTHY_MS);
  expect(daemon.sandbox.requests().filter(({ isWrite }) => isWrite).length).toBe(writes);
  expectOnlyOperatorsIn(await daemon.ask('/api/v1/history?limit=1000'));
  // The corpus is worth something only while most of it is heard, refused and allowed.
  for (const status of [200, 400, 401, 403, 404])
    expect(statuses.get(status) ?? 0, `answers ${status}`).toBeGreaterThan(100);
  expect(statuses.get(0) ?? 0).toBeLessThan(REQUESTS / 20);

  daemon.child.kill('SIGTERM');
  const { code, err } = await daemon.ended;
  expect(code).toBe(0);
  for (const text of [...Object.values(SECRETS.tokens), SECRETS.webhook]) expect(err).not.toContain(text);
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
