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

test('while the database hangs, a session that was seen is known within two seconds, and one statement waits for all', async () => {
  const { world, one } = stores();
  const [seen, other] = [await one.start(ops), await one.start(ops)];
  for (const id of [seen, other]) await one.use(id);
  let statements = 0;
  world.cut.set('one', (operation) => void (operation === 'sessions' && (statements += 1)));
  const hung = Promise.withResolvers<void>();
  world.hung.set('one', hung.promise);
  const fromMs = world.clock.monotonic();
  expect(await one.use(seen)).toMatchObject({ user: ops });
  expect(world.clock.monotonic() - fromMs).toBe(2_000);
  await world.clock.sleep(5_000);
  const againMs = world.clock.monotonic();
  expect(await one.use(other)).toMatchObject({ user: ops });
  const away = { details: { code: 'server/sessions-away', status: 503 } };
  await expect(one.start(ops)).rejects.toMatchObject(away);
  await expect(one.end(seen)).rejects.toMatchObject(away);
  expect(world.clock.monotonic(), 'it is known to hang').toBe(againMs);
  hung.resolve();
  world.hung.delete('one');
  await world.clock.sleep(2_000);
  expect(statements, 'the others were not sent').toBe(1);
  await one.end(seen);
  expect(await one.use(seen)).toBeUndefined();
  expect(await one.use(other)).toBeDefined();
});

test('while one of two statements still hangs, no other is sent', async () => {
  const { world, one } = stores();
  const id = await one.start(ops);
  await one.use(id);
  let statements = 0;
  world.cut.set('one', (operation) => void (operation === 'sessions' && (statements += 1)));
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.hung.set('one', first.promise);
  const uses = [one.use(id)];
  world.hung.set('one', second.promise);
  uses.push(one.use(id));
  await Promise.all(uses);
  first.resolve();
  await world.clock.sleep(3_000);
  await one.use(id);
  expect(statements).toBe(1);
  second.resolve();
  world.hung.delete('one');
  await world.clock.sleep(3_000);
  await one.use(id);
  expect(statements).toBe(3);
});

test('the database has nothing by which a token could be guessed, and a reload ends no session of a valid token', async () => {
  const { world, one, other } = stores();
  const user = { via: 'token', name: 'ops', fingerprint: 'fingerprint-of-a-token' } as const;
  const [id, second] = [await one.start(user), await one.start(user)];
  const rows = [...world.database.sessions.values()].map((row) => row.user as typeof user);
  expect(rows.map(({ name }) => name)).toEqual(['ops', 'ops']);
  expect(new Set(rows.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  expect(JSON.stringify(rows)).not.toContain(user.fingerprint);
  expect((await other.use(id))?.user).toEqual(user);
  const told: string[] = [];
  for (const [name, each] of [
    ['first', id],
    ['second', second],
  ] as const) {
    await other.use(each);
    other.whenEnded(each, open, () => told.push(name));
  }
  // Its checks read it, and do not have its id.
  await world.clock.sleep(6_000);
  other.keep((each) => each.via === 'token' && each.fingerprint === user.fingerprint);
  expect(told).toEqual([]);
  other.keep(() => false);
  expect(told).toEqual(['first', 'second']);
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
