import { describe, expect, test } from 'vitest';
import { scene, begin, throughProvider, comeBack, signIn, problemIn } from './oidc-scene.ts';

describe('attacks on a sign-in', () => {
  const changed = (address: string, changes: Readonly<Record<string, string | undefined>>): string => {
    const url = new URL(address);
    for (const [name, value] of Object.entries(changes))
      if (value === undefined) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    return url.href;
  };

  test.for<readonly [string, Readonly<Record<string, string | undefined>>, string]>([
    ['another nonce', { nonce: 'n'.repeat(64) }, 'oidc-refused'],
    ['another state', { state: 's'.repeat(64) }, 'oidc-expired'],
    ['no state', { state: undefined }, 'oidc-expired'],
    ['another challenge', { code_challenge: 'c'.repeat(43) }, 'oidc-expired'],
  ])('what the browser asks the provider is bound to its cookie: %s', async ([, changes, code]) => {
    const serving = await scene();
    const { location, cookie } = await begin(serving);
    const back = await comeBack(await throughProvider(changed(location, changes), serving.provider), cookie);
    expect(problemIn(back)).toBe(code);
  });

  test.for<readonly [string, Readonly<Record<string, string | undefined>>, string]>([
    ['another state', { state: '0'.repeat(64) }, 'oidc-expired'],
    ['a state of other characters', { state: '\u00e9'.repeat(64) }, 'oidc-expired'],
    ['no state', { state: undefined }, 'oidc-expired'],
    ['another issuer (mix-up)', { iss: 'https://evil.example.com' }, 'oidc-refused'],
    ['no issuer, although the provider sends one', { iss: undefined }, 'oidc-refused'],
    ['another code', { code: 'x'.repeat(43) }, 'oidc-expired'],
    ['no code', { code: undefined }, 'oidc-refused'],
    ['a code and an error', { error: 'access_denied' }, 'oidc-denied'],
  ])('what comes back is checked: %s', async ([, changes, code]) => {
    const serving = await scene();
    const { location, cookie } = await begin(serving);
    const address = changed(await throughProvider(location, serving.provider), changes);
    expect(problemIn(await comeBack(address, cookie))).toBe(code);
  });

  test('the answer of one provider is not sent to another one (mix-up)', async () => {
    const serving = await scene();
    const { location, cookie } = await begin(serving);
    const address = await throughProvider(location, serving.provider);
    const { oidc } = serving.settings;
    serving.reload({ ...serving.settings, ...(oidc && { oidc: { ...oidc, clientId: 'another' } }) });
    expect(problemIn(await comeBack(address, cookie))).toBe('oidc-expired');
    expect(serving.provider.requests).not.toContain('POST /token');
  });

  test('an ID token that another key has signed is refused', async () => {
    const serving = await scene();
    serving.provider.hasForeignKeys = true;
    const { location, cookie } = await begin(serving);
    expect(problemIn(await comeBack(await throughProvider(location, serving.provider), cookie))).toBe('oidc-refused');
    expect(serving.provider.requests).toContain('GET /jwks');
  });

  test('a parameter that occurs twice is refused, and unknown ones are ignored', async () => {
    const serving = await scene();
    const { location, cookie } = await begin(serving);
    const address = await throughProvider(location, serving.provider);
    expect(problemIn(await comeBack(`${address}&code=x`, cookie))).toBe('oidc-refused');
    expect((await comeBack(`${address}&session_state=x&id_token=x&response=x`, cookie)).session).toBeDefined();
  });

  test('a code counts once, for the browser that began, and for ten minutes', async () => {
    const serving = await scene();
    const victim = await begin(serving);
    const attacker = await begin(serving);
    const address = await throughProvider(attacker.location, serving.provider);
    expect(problemIn(await comeBack(address, victim.cookie)), 'login CSRF').toBe('oidc-expired');
    expect(problemIn(await comeBack(address, '')), 'without the cookie').toBe('oidc-expired');
    const state = new URL(victim.location).searchParams.get('state') ?? '';
    expect(problemIn(await comeBack(changed(address, { state }), victim.cookie)), 'a stolen code').toBe('oidc-expired');
    const again = await begin(serving);
    const good = await throughProvider(again.location, serving.provider);
    expect((await comeBack(good, again.cookie)).session).toBeDefined();
    expect(problemIn(await comeBack(good, again.cookie)), 'replayed').toBe('oidc-expired');
    const elsewhere = await begin(serving);
    const address2 = await throughProvider(elsewhere.location, serving.provider);
    serving.clock.jump(-2_000);
    expect((await comeBack(address2, elsewhere.cookie)).session, 'at a replica whose clock is behind').toBeDefined();
    serving.clock.jump(2_000);
    const late = await begin(serving);
    const address3 = await throughProvider(late.location, serving.provider);
    serving.clock.advance(600_001);
    expect(problemIn(await comeBack(address3, late.cookie))).toBe('oidc-expired');
    serving.clock.jump(-7_200_000);
    expect(problemIn(await comeBack(address3, late.cookie)), 'a cookie of the future').toBe('oidc-expired');
  });

  test.for<readonly [string, string]>([
    ['https://evil.example.com/', '/'],
    ['//evil.example.com/', '/'],
    ['/\\evil.example.com', '/'],
    ['/%09/evil.example.com', '/%09/evil.example.com'],
    ['/\t/evil.example.com', '/'],
    ['/..//evil.example.com', '/'],
    ['/a/../..//evil.example.com', '/'],
    ['javascript:alert(1)', '/'],
    ['', '/'],
    ['/\u00e9', '/'],
    ['/a\r\nset-cookie: a=b', '/'],
    ['/api/v1/status', '/'],
    ['/auth/callback?code=a', '/'],
    ['/sign-in?return=/', '/'],
    [`/${'a'.repeat(3_000)}`, '/'],
    ['/applications/shop?q=a%20b#top', '/applications/shop?q=a%20b#top'],
  ])('the way back stays on the server: %j', async ([wanted, path]) => {
    const serving = await scene();
    const back = await signIn(serving, 'ann', wanted);
    expect(back.location).toBe(serving.url + path);
  });

  test('a sign-in cookie of another form counts as none', async () => {
    const serving = await scene();
    const { location, cookie } = await begin(serving);
    const address = await throughProvider(location, serving.provider);
    const [name = '', value = ''] = cookie.split('=');
    const content = JSON.parse(Buffer.from(value, 'base64url').toString()) as Record<string, unknown>;
    const encoded = (changes: object): string =>
      Buffer.from(JSON.stringify({ ...content, ...changes })).toString('base64url');
    const odd = ['', 'null', '=', 'e30', '%00', '[]', encoded({ state: ['x'] }), encoded({ verifier: 'x' })];
    for (const text of [...odd, encoded({ startedMs: '1e99' }), encoded({ nonce: null }), 'x'.repeat(4_500)])
      expect(problemIn(await comeBack(address, `${name}=${text}`)), text).toBe('oidc-expired');
    const elsewhere = encoded({ returnTo: '//evil.example.com' });
    expect((await comeBack(address, `${name}=${elsewhere}`)).location).toBe(`${serving.url}/`);
  });

  test('it begins and ends only at the public address, and only from a page of the server', async () => {
    const serving = await scene();
    const other = serving.url.replace('127.0.0.1', 'localhost');
    const headers = { 'content-type': 'application/json', origin: other, 'sec-fetch-site': 'same-origin' };
    const body = JSON.stringify({ returnTo: '/' });
    const there = await fetch(`${other}/api/v1/session/oidc`, { method: 'POST', headers, body });
    expect(await there.json()).toMatchObject({ status: 403, code: 'server/oidc-other-address' });
    expect((await comeBack(`${other}/auth/callback?code=a&state=b`, '')).status).toBe(403);
    const cross = { ...headers, origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' };
    const refused = await fetch(`${serving.url}/api/v1/session/oidc`, { method: 'POST', headers: cross, body });
    expect(await refused.json()).toMatchObject({ status: 403, code: 'server/cross-site' });
    expect(serving.provider.requests).toEqual([]);
  });
});
