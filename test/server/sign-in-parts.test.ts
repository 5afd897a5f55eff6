import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../src/server/limits.ts';
import { RequestProblem } from '../../src/server/problem.ts';
import { clientAddress, trustedProxies } from '../../src/server/proxies.ts';
import { createAttempts } from '../../src/server/sign-in/attempts.ts';
import { cookieName, cookieValue, setCookie } from '../../src/server/sign-in/cookies.ts';
import { SIGN_IN_PROBLEMS } from '../../src/server/sign-in/problems.ts';
import { allowedUrl } from '../../src/server/sign-in/provider-fetch.ts';
import { Sessions } from '../../src/server/sign-in/sessions.ts';
import { requireSameOrigin, siteOf } from '../../src/server/sign-in/sites.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';

/** What a call is refused with, and after how many seconds to try again. */
function refused(call: () => unknown): readonly [string, number | undefined] | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    return [error.details.code, error.retryAfter];
  }
}

describe('the address of a client', () => {
  const isProxy = trustedProxies(['10.0.0.0/8', 'fd00::/8']);
  test.for<readonly [string, string | undefined, string]>([
    ['192.0.2.1', undefined, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1, x', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['fd00::1', '2001:db8::1', '2001:db8::1'],
  ])('%s, X-Forwarded-For %s: %s', ([peer, forwarded, client]) => {
    expect(clientAddress(peer, forwarded, isProxy)).toBe(client);
  });
});

describe('failed sign-ins', () => {
  const limits = {
    ...defaultLimits,
    signInsOfAddress: 2,
    signInsOfAddressPerMinute: 6,
    signIns: 4,
    signInsPerMinute: 60,
  };

  test('are limited for an address, and for the network of an IPv6 address', () => {
    const clock = new VirtualClock();
    const attempts = createAttempts(clock, limits);
    for (const _ of [1, 2]) attempts.begin('192.0.2.1');
    expect(refused(() => attempts.begin('192.0.2.1'))).toEqual(['server/too-many-sign-ins', 10]);
    expect(
      refused(() => attempts.begin('::ffff:192.0.2.1')),
      'the same address',
    ).toBeDefined();
    attempts.begin('2001:db8:0:1::1');
    attempts.begin('2001:db8:0:1:ffff::2');
    clock.advance(4_000);
    expect(refused(() => attempts.begin('2001:db8::1:9:9:9:9'))?.[0]).toBe('server/too-many-sign-ins');
    expect(refused(() => attempts.begin('2001:db8:0:2::1'))).toBeUndefined();
    clock.advance(10_000);
    expect(refused(() => attempts.begin('192.0.2.1'))).toBeUndefined();
  });

  test('are limited in total; those that succeed, and those that were refused, do not count', () => {
    const attempts = createAttempts(new VirtualClock(), limits);
    for (let at = 0; at < 50; at += 1) attempts.begin('192.0.2.1')();
    for (let at = 0; at < 50; at += 1) refused(() => attempts.begin('192.0.2.2'));
    for (const _ of [1, 2]) attempts.begin('192.0.2.3');
    expect(refused(() => attempts.begin('192.0.2.4'))).toEqual(['server/too-many-sign-ins', 1]);
  });

  test('from a million addresses do not fill memory, and do not refill the limit of one', () => {
    const clock = new VirtualClock();
    const attempts = createAttempts(clock, { ...limits, signIns: 1e9, signInsPerMinute: 1e9 });
    for (const _ of [1, 2]) attempts.begin('192.0.2.1');
    for (let at = 0; at < 5_000; at += 1) attempts.begin(`10.0.${at >> 8}.${at & 255}`)();
    expect(refused(() => attempts.begin('192.0.2.1'))?.[0]).toBe('server/too-many-sign-ins');
  });
});

describe('a site', () => {
  const proxied = { publicUrl: 'https://p.example.com/portolan', isTls: false };
  test.for<readonly [string, Parameters<typeof siteOf>[1], string | undefined]>([
    ['127.0.0.1:7780', { publicUrl: undefined, isTls: false }, 'http://127.0.0.1:7780'],
    ['localhost', { publicUrl: undefined, isTls: false }, 'http://localhost'],
    ['[::1]:7780', { publicUrl: undefined, isTls: false }, 'http://[::1]:7780'],
    ['10.0.0.1:7780', { publicUrl: undefined, isTls: false }, undefined],
    ['p.example.com', { publicUrl: undefined, isTls: false }, undefined],
    ['10.0.0.1:7780', { publicUrl: undefined, isTls: true }, 'https://10.0.0.1:7780'],
    ['p.example.com', proxied, 'https://p.example.com'],
    ['p.example.com:443', proxied, 'https://p.example.com'],
    ['p.example.com:8443', proxied, undefined],
    ['127.0.0.1:7780', proxied, 'http://127.0.0.1:7780'],
    ['p.example.com.evil.example', proxied, undefined],
    ['', proxied, undefined],
    ['a b', proxied, undefined],
  ])('of the host %s', ([host, own, origin]) => {
    expect(siteOf({ host }, own)?.origin).toBe(origin);
  });

  test('is that of the page only if both headers say so, or one of them', () => {
    const own = { publicUrl: 'https://p.example.com', isTls: false };
    const host = 'p.example.com';
    const of = (headers: Record<string, string>) => refused(() => requireSameOrigin({ host, ...headers }, own))?.[0];
    expect(of({ origin: 'https://p.example.com' })).toBeUndefined();
    expect(of({ 'sec-fetch-site': 'same-origin' })).toBeUndefined();
    expect(of({ origin: 'http://p.example.com', 'sec-fetch-site': 'same-origin' })).toBe('server/cross-site');
    expect(of({ origin: 'https://p.example.com:8443' })).toBe('server/cross-site');
    expect(of({})).toBe('server/cross-site');
    expect(refused(() => requireSameOrigin({ host: '10.0.0.1', origin: 'http://10.0.0.1' }, own))?.[0]).toBe(
      'server/insecure-address',
    );
  });
});

test('a cookie is Secure and bound to the host on https; on loopback its name has the port', () => {
  const secure = { origin: 'https://p.example.com', isSecure: true };
  const local = { origin: 'http://localhost:7780', isSecure: false };
  expect(cookieName('session', { origin: 'http://localhost', isSecure: false })).toBe('portolan-session-80');
  expect(setCookie('session', secure, 'x', { sameSite: 'Strict' })).toBe(
    '__Host-portolan-session=x; Path=/; HttpOnly; Secure; SameSite=Strict',
  );
  expect(setCookie('sign-in', local, 'x', { sameSite: 'Lax', maxAgeS: 600 })).toBe(
    'portolan-sign-in-7780=x; Path=/; Max-Age=600; HttpOnly; SameSite=Lax',
  );
  expect(cookieValue('a=1; b=2;c=3', 'b')).toBe('2');
  expect(cookieValue('b=1; b=2', 'b')).toBeUndefined();
  expect(cookieValue('ab=1; B=2', 'b')).toBeUndefined();
  expect(cookieValue(undefined, 'b')).toBeUndefined();
});

describe('the end of a session', () => {
  const settings = { idleMs: 60_000, lifetimeMs: 150_000, max: 10 };
  const user = { via: 'token', name: 'ops', fingerprint: 'f' } as const;

  test('is told to a stream when time has passed, as long as nothing used it', async () => {
    const clock = new VirtualClock();
    const sessions = new Sessions(clock, seededRandom(1), () => settings);
    const id = await sessions.start(user);
    const beganMs = clock.monotonic();
    await clock.sleep(50_000);
    await sessions.use(id);
    const endedMs = await new Promise<number>((resolve) => {
      sessions.whenEnded(id, new AbortController().signal, () => resolve(clock.monotonic() - beganMs));
    });
    expect(endedMs).toBe(110_000);
    expect(await sessions.use(id)).toBeUndefined();
  });

  test('is told at once when somebody ends it, and to nobody who has left', async () => {
    const sessions = new Sessions(new VirtualClock(), seededRandom(2), () => settings);
    const id = await sessions.start(user);
    const gone = new AbortController();
    const told: string[] = [];
    sessions.whenEnded(id, new AbortController().signal, () => told.push('open'));
    sessions.whenEnded(id, gone.signal, () => told.push('gone'));
    gone.abort();
    sessions.keep(() => false);
    expect(told).toEqual(['open']);
    sessions.whenEnded(id, new AbortController().signal, () => told.push('late'));
    expect(told).toEqual(['open', 'late']);
  });
});

test('a provider is asked only at addresses that a receiver may have', () => {
  for (const address of ['https://login.example.com/token', 'http://127.0.0.1:1/token', 'http://localhost/x'])
    expect(allowedUrl(address).href).toBe(address);
  for (const address of [
    'http://login.example.com/token',
    'https://169.254.169.254/token',
    'https://[fe80::1]/token',
    'https://metadata.google.internal/token',
    'https://user:password@login.example.com/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'x',
  ])
    expect(() => allowedUrl(address), address).toThrow(/must not be used/);
});

test('every problem of a sign-in says what happened and what to do', () => {
  for (const [code, { status, detail, remedy }] of Object.entries(SIGN_IN_PROBLEMS)) {
    expect(code).toMatch(/^[a-z-]+$/);
    expect(status).toBeGreaterThanOrEqual(400);
    for (const text of [detail, remedy]) expect(text).toMatch(/^[A-Z].*\.$/);
  }
});
