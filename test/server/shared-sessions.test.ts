import { expect, onTestFinished, test } from 'vitest';
import { SharedSessionStore } from '../../src/server/sign-in/shared-sessions.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import { SharedWorld } from '../controller/replicas/shared-world.ts';
import { type Serving, serve, TOKENS } from './serving.ts';

const LEASE_MS = 15_000;
const settings = { idleMs: 600_000, lifetimeMs: 3_600_000, max: 30 };
const ops = { via: 'token', name: 'ops', fingerprint: 'f' } as const;
const open = new AbortController().signal;

/** The stores of two replicas over one database, in virtual time. */
function stores(changed: Partial<typeof settings> = {}) {
  const world = new SharedWorld();
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const store = (name: string, seed: number) =>
    new SharedSessionStore({
      shared: world.open(name),
      leaseMs: LEASE_MS,
      clock: world.clock,
      random: seededRandom(seed),
      settings: () => ({ ...settings, ...changed }),
      signal: end.signal,
    });
  return { world, one: store('one', 1), other: store('other', 2) };
}

test('a session of one replica counts at the other, until one of them ends it', async () => {
  const { world, one, other } = stores();
  const id = await one.start(ops);
  expect(await other.use(id)).toMatchObject({ user: ops, endsMs: world.clock.now() + settings.lifetimeMs });
  const ended = Promise.withResolvers<void>();
  one.whenEnded(id, open, ended.resolve);
  await other.end(id);
  await ended.promise;
  expect(await one.use(id)).toBeUndefined();
  expect(await other.use(id)).toBeUndefined();
  expect(JSON.stringify([...world.database.sessions])).not.toContain(id);
});

test('the end of a session is noticed without a signal, and by its age', async () => {
  const { world, one, other } = stores();
  world.hasSignals = false;
  const [first, second] = [await one.start(ops), await one.start(ops)];
  const told: string[] = [];
  other.whenEnded(first, open, () => told.push('first'));
  other.whenEnded(second, open, () => told.push('second'));
  await one.end(first);
  await world.clock.sleep(6_000);
  expect(told).toEqual(['first']);
  await world.clock.sleep(settings.idleMs);
  expect(told).toEqual(['first', 'second']);
  expect(await other.use(second)).toBeUndefined();
});

test('uses at any replica keep a session, and are written at most once a minute', async () => {
  const { world, one, other } = stores();
  const id = await one.start(ops);
  let statements = 0;
  world.cut.set('other', (operation) => void (operation === 'sessions' && (statements += 1)));
  const reads = 40;
  for (let at = 0; at < reads; at += 1) {
    await world.clock.sleep(30_000);
    expect(await other.use(id)).toBeDefined();
  }
  // Each use reads, and every second one is a minute after the last one that was written.
  expect(statements).toBeLessThanOrEqual(reads * 1.5 + 1);
  await world.clock.sleep(settings.lifetimeMs - reads * 30_000);
  expect(await one.use(id)).toBeUndefined();
});

test('one user has at most twenty sessions over all replicas, and all users together the maximum', async () => {
  const { world, one, other } = stores();
  const ids: string[] = [];
  for (let at = 0; at < 21; at += 1) {
    ids.push(await (at % 2 === 0 ? one : other).start(ops));
    await world.clock.sleep(1);
  }
  expect(await one.use(ids[0] ?? '')).toBeUndefined();
  expect(await one.use(ids[1] ?? '')).toBeDefined();
  for (let at = 0; at < 10; at += 1) await other.start({ ...ops, name: `user-${at}` });
  await expect(one.start({ ...ops, name: 'late' })).rejects.toMatchObject({
    details: { code: 'server/too-many-sessions' },
  });
  await world.clock.sleep(settings.idleMs);
  await one.start({ ...ops, name: 'late' });
});

test('while the database is away, a session that was seen counts for a lease, and nothing is started or ended', async () => {
  const { world, one, other } = stores();
  const [seen, unseen] = [await one.start(ops), await other.start(ops)];
  await one.use(seen);
  world.cut.set('one', 'before');
  const away = { details: { code: 'server/sessions-away', status: 503 } };
  expect(await one.use(seen)).toMatchObject({ user: ops });
  await expect(one.use(unseen)).rejects.toMatchObject(away);
  await expect(one.start(ops)).rejects.toMatchObject(away);
  await expect(one.end(seen)).rejects.toMatchObject(away);
  const told: string[] = [];
  one.whenEnded(seen, open, () => told.push('stream'));
  await world.clock.sleep(LEASE_MS);
  await expect(one.use(seen)).rejects.toMatchObject(away);
  await world.until(() => told.length === 1, 'streams end');
  world.cut.delete('one');
  await world.clock.sleep(2_000);
  expect(await one.use(unseen)).toMatchObject({ user: ops });
  expect(await one.use(seen)).toMatchObject({ user: ops });
});

const fromPage = (serving: Serving, cookie?: string) => ({
  origin: serving.url,
  'sec-fetch-site': 'same-origin',
  ...(cookie === undefined ? {} : { cookie }),
});

test('a browser signs in at one replica, uses the other, and is signed out everywhere', async () => {
  const world = new SharedWorld();
  const replica = (name: string) => serve({ replicas: { shared: world.open(name), leaseMs: LEASE_MS } });
  const [one, other] = [await replica('one'), await replica('other')];
  const post = (at: Serving, path: string, headers: Record<string, string>, body?: object) =>
    at.ask(path, {
      method: 'POST',
      role: null,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const signedIn = await post(one, '/api/v1/session', fromPage(one), { token: TOKENS.viewer });
  const [, id] = /=([0-9a-f]{64});/.exec(signedIn.headers.getSetCookie()[0] ?? '') ?? [];
  // A proxy in front of both would keep the address; here each has its own.
  const cookieAt = ({ url }: Serving) => `portolan-session-${new URL(url).port}=${id}`;
  const statusAt = (at: Serving) => at.ask('/api/v1/status', { role: null, headers: fromPage(at, cookieAt(at)) });
  expect((await statusAt(one)).status).toBe(200);
  expect((await statusAt(other)).status).toBe(200);
  expect((await post(other, '/api/v1/session/end', fromPage(other, cookieAt(other)))).status).toBe(200);
  for (const at of [one, other]) expect((await statusAt(at)).body).toMatchObject({ code: 'server/session-ended' });

  world.cut.set('one', 'before');
  const refused = await post(one, '/api/v1/session', fromPage(one), { token: TOKENS.viewer });
  expect(refused.body).toMatchObject({ status: 503, code: 'server/sessions-away' });
  // Tokens need no database.
  expect((await one.ask('/api/v1/status')).status).toBe(200);
});
