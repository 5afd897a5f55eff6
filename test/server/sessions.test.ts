import { describe, expect, test } from 'vitest';
import { forwardClock } from './forward-clock.ts';
import { type Serving, serve, TOKENS } from './serving.ts';

/** The headers of a request from a page of the server itself, as Chromium sends them. */
function fromPage(serving: Serving, cookie?: string): Record<string, string> {
  return {
    origin: serving.url,
    'sec-fetch-site': 'same-origin',
    ...(cookie === undefined ? {} : { cookie }),
  };
}

const port = ({ url }: Serving): string => new URL(url).port;

/** Signs in as a page does. @returns the cookie for further requests. */
async function signIn(serving: Serving, token: string = TOKENS.admin, cookie?: string): Promise<string> {
  const answer = await serving.ask('/api/v1/session', {
    method: 'POST',
    role: null,
    headers: fromPage(serving, cookie),
    body: JSON.stringify({ token }),
  });
  expect(answer).toMatchObject({ status: 204, text: '' });
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const status = (serving: Serving, cookie: string, headers: Record<string, string> = {}) =>
  serving.ask('/api/v1/status', { role: null, headers: { ...fromPage(serving, cookie), ...headers } });

describe('a session with a token', () => {
  test('is a cookie that no script reads; its id is new each time and 256 bits long', async () => {
    const serving = await serve();
    const ids = new Set<string>();
    for (let at = 0; at < 5; at += 1) {
      const answer = await serving.ask('/api/v1/session', {
        method: 'POST',
        role: null,
        headers: fromPage(serving),
        body: JSON.stringify({ token: TOKENS.viewer }),
      });
      const [cookie = ''] = answer.headers.getSetCookie();
      const form = new RegExp(`^portolan-session-${port(serving)}=([0-9a-f]{64}); Path=/; HttpOnly; SameSite=Strict$`);
      ids.add(form.exec(cookie)?.[1] ?? '');
      expect(cookie).toMatch(form);
    }
    expect(ids.size).toBe(5);
  });

  test('lets its requests in as the token would, until it is ended', async () => {
    const serving = await serve();
    const cookie = await signIn(serving, TOKENS.viewer);
    expect((await status(serving, cookie)).status).toBe(200);
    const sync = { method: 'POST', role: null, headers: fromPage(serving, cookie) } as const;
    expect((await serving.ask('/api/v1/sync', sync)).body).toMatchObject({ code: 'server/wrong-role' });
    const ended = await serving.ask('/api/v1/session/end', sync);
    expect(ended).toMatchObject({ status: 200, body: { location: null } });
    expect(ended.headers.getSetCookie()[0]).toMatch(
      /^portolan-session-\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    );
    const after = await status(serving, cookie);
    expect(after.body).toMatchObject({ status: 401, code: 'server/session-ended' });
    expect(after.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a wrong token, an empty cookie, a made-up one and two of them start nothing', async () => {
    const serving = await serve();
    const post = (token: string) =>
      serving.ask('/api/v1/session', {
        method: 'POST',
        role: null,
        headers: fromPage(serving),
        body: JSON.stringify({ token }),
      });
    const wrong = await post(TOKENS.admin.slice(1));
    expect(wrong.body).toMatchObject({ status: 401, code: 'server/wrong-token' });
    expect(wrong.headers.getSetCookie()).toEqual([]);
    const name = `portolan-session-${port(serving)}`;
    const good = await signIn(serving);
    for (const cookie of [`${name}=`, `${name}=${'0'.repeat(64)}`, `${name}=__proto__`, good.slice(0, -1), `${good}0`])
      expect((await status(serving, cookie)).body, cookie).toMatchObject({ code: 'server/session-ended' });
    for (const cookie of [`${good}; ${name}=x`, `x${good}`, good.replace('portolan', '__Host-portolan'), ''])
      expect((await status(serving, cookie)).body, cookie).toMatchObject({ code: 'server/no-token' });
    expect((await status(serving, `a=b; ${good}; c=d`)).status).toBe(200);
  });

  test('a sign-in ends the former session of the same browser, and takes no id from outside', async () => {
    const serving = await serve();
    const first = await signIn(serving);
    const planted = `portolan-session-${port(serving)}=${'a'.repeat(64)}`;
    const second = await signIn(serving, TOKENS.admin, first);
    const third = await signIn(serving, TOKENS.admin, planted);
    expect(third).not.toBe(planted);
    expect((await status(serving, first)).status).toBe(401);
    expect((await status(serving, planted)).status).toBe(401);
    expect((await status(serving, second)).status).toBe(200);
  });

  test('a token that was removed, or replaced in its file, ends its sessions; one with another role changes them', async () => {
    const serving = await serve();
    const cookie = await signIn(serving, TOKENS.admin);
    const others = serving.settings.tokens.filter(({ name }) => name !== 'admin');
    serving.reload({
      ...serving.settings,
      tokens: [...others, { name: 'admin', role: 'viewer', value: { env: 'admin' } }],
    });
    const rebind = () =>
      serving.ask('/api/v1/sync', { method: 'POST', role: null, headers: fromPage(serving, cookie) });
    expect((await rebind()).status).toBe(403);
    serving.secrets.set('admin', 'rotated-rotated-rotated');
    expect((await status(serving, cookie)).body).toMatchObject({ code: 'server/session-ended' });
    serving.secrets.set('admin', TOKENS.admin);
    const again = await signIn(serving);
    serving.reload({ ...serving.settings, tokens: others });
    serving.reload(serving.settings);
    expect((await status(serving, again)).body, 'a reload has ended it').toMatchObject({
      code: 'server/session-ended',
    });
  });

  test('a token in the header counts, whatever the cookie is', async () => {
    const serving = await serve();
    const cookie = await signIn(serving, TOKENS.admin);
    const sync = (authorization: string) =>
      serving.ask('/api/v1/sync', { method: 'POST', headers: { cookie, authorization } });
    expect((await sync(`Bearer ${TOKENS.viewer}`)).status).toBe(403);
    expect((await sync('Bearer wrong-wrong-wrong-wrong')).status).toBe(401);
    expect((await sync(`Bearer ${TOKENS.operator}`)).status).toBe(202);
  });

  test('there are none where the dashboard is switched off', async () => {
    const serving = await serve();
    const cookie = await signIn(serving);
    serving.reload({ ...serving.settings, dashboard: false });
    expect((await status(serving, cookie)).body).toMatchObject({ code: 'server/no-token' });
    for (const path of ['/api/v1/session', '/api/v1/session/oidc', '/api/v1/session/end'])
      expect(
        (await serving.ask(path, { method: 'POST', role: null, headers: fromPage(serving, cookie) })).body,
        path,
      ).toMatchObject({ code: 'server/no-such-route' });
    expect((await serving.ask('/auth/callback', { role: null })).body).toMatchObject({ code: 'server/no-such-route' });
  });

  test('a restart ends it, and says so', async () => {
    const first = await serve();
    const cookie = await signIn(first);
    await first.close();
    const second = await serve({ settings: { listen: new URL(first.url).host } });
    expect((await status(second, cookie)).body).toMatchObject({ code: 'server/session-ended' });
  });
});

describe('time', () => {
  const settings = { sessions: { idleMs: 60_000, lifetimeMs: 150_000, max: 3 } };

  test('a session ends when it is idle, and in any case after its lifetime', async () => {
    const { clock, advance, jump } = forwardClock();
    const serving = await serve({ clock, settings });
    const cookie = await signIn(serving);
    const idle = await signIn(serving);
    for (const _ of [1, 2]) {
      advance(59_000);
      expect((await status(serving, cookie)).status).toBe(200);
    }
    jump(-3_600_000); // The wall clock does not count.
    expect((await status(serving, idle)).status).toBe(401);
    advance(32_000);
    expect((await status(serving, cookie)).status).toBe(401);
  });

  test('the number of sessions is limited, in total and for one user', async () => {
    const { clock, advance } = forwardClock();
    const serving = await serve({ clock, settings });
    const cookies = [await signIn(serving), await signIn(serving, TOKENS.viewer), await signIn(serving)];
    const fourth = () =>
      serving.ask('/api/v1/session', {
        method: 'POST',
        role: null,
        headers: fromPage(serving),
        body: JSON.stringify({ token: TOKENS.operator }),
      });
    const refused = await fourth();
    expect(refused.body).toMatchObject({ status: 503, code: 'server/too-many-sessions' });
    expect(refused.headers.get('retry-after')).toBe('60');
    for (const cookie of cookies) expect((await status(serving, cookie)).status).toBe(200);
    advance(60_000);
    expect((await fourth()).status).toBe(204);
    const many = await serve();
    const first = await signIn(many);
    for (let at = 0; at < 20; at += 1) await signIn(many);
    expect((await status(many, first)).status, 'the 21st of a user replaces the first').toBe(401);
  });

  test('an event stream ends with its session', async () => {
    const serving = await serve();
    const cookie = await signIn(serving);
    const response = await fetch(`${serving.url}/api/v1/events/stream`, { headers: fromPage(serving, cookie) });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await serving.ask('/api/v1/session/end', { method: 'POST', role: null, headers: fromPage(serving, cookie) });
    const rest = async () => {
      for (;;) if ((await reader?.read())?.done !== false) return;
    };
    await expect(rest()).rejects.toThrow();
  });
});

describe('the same origin', () => {
  const others: readonly (readonly [string, (serving: Serving) => Record<string, string>])[] = [
    ['another site', () => ({ origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' })],
    ['another port', () => ({ origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' })],
    ['another scheme', ({ url }) => ({ origin: url.replace('http:', 'https:'), 'sec-fetch-site': 'cross-site' })],
    ['the same machine by another name', ({ url }) => ({ origin: url.replace('127.0.0.1', 'localhost') })],
    ['a page without an origin', () => ({ origin: 'null', 'sec-fetch-site': 'cross-site' })],
    ['a form of the same site', ({ url }) => ({ origin: url, 'sec-fetch-site': 'same-site' })],
    ['a bookmark', () => ({ 'sec-fetch-site': 'none' })],
    ['an old browser, or a program', () => ({})],
    ['two origins', ({ url }) => ({ origin: `${url}, ${url}`, 'sec-fetch-site': 'same-origin' })],
    ['a contradiction', () => ({ origin: 'https://evil.example.com', 'sec-fetch-site': 'same-origin' })],
  ];

  test.for(others)('is required of requests with a cookie, reads and streams too: %s', async ([, headers]) => {
    const serving = await serve();
    const cookie = await signIn(serving);
    for (const path of ['/api/v1/status', '/api/v1/events/stream', '/metrics', '/api/v1/nothing'])
      expect(
        (await serving.ask(path, { role: null, headers: { ...headers(serving), cookie } })).body,
        path,
      ).toMatchObject({ status: 403, code: 'server/cross-site' });
    for (const path of ['/api/v1/sync', '/api/v1/session', '/api/v1/session/oidc', '/api/v1/session/end'])
      expect(
        (await serving.ask(path, { method: 'POST', role: null, headers: { ...headers(serving), cookie } })).body,
        path,
      ).toMatchObject({ status: 403, code: 'server/cross-site' });
    expect((await status(serving, cookie)).status, 'nothing was ended').toBe(200);
    expect(serving.api.asked).toEqual([]);
  });

  test('a request without an Origin needs Sec-Fetch-Site, and the other way round', async () => {
    const serving = await serve();
    const cookie = await signIn(serving);
    const get = async (headers: Record<string, string>) =>
      (await serving.ask('/api/v1/status', { role: null, headers: { cookie, ...headers } })).status;
    expect(await get({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await get({ origin: serving.url })).toBe(200);
  });
});
