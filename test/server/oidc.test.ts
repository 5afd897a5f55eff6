import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '../platform/self-signed.ts';
import { CLIENT, startOpenIdProvider } from '../support/openid-provider.ts';
import {
  PEOPLE,
  scene,
  begin,
  throughProvider,
  comeBack,
  signIn,
  sync,
  problemIn,
  locationOf,
  fromPage,
} from './oidc-scene.ts';

describe('sign-in with OpenID Connect', () => {
  test('signs a user in, with the roles of the groups, and returns to the page', async () => {
    const serving = await scene();
    expect((await serving.ask('/api/v1/sign-in', { role: null })).body).toEqual({
      token: true,
      oidc: { name: 'Example' },
    });
    const { location, setCookie } = await begin(serving);
    const parameters = new URL(location).searchParams;
    expect(Object.fromEntries(parameters)).toMatchObject({
      client_id: CLIENT.id,
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${serving.url}/auth/callback`,
      scope: 'openid profile email groups',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(parameters.get(name)?.length).toBeGreaterThan(40);
    expect(setCookie).toMatch(/^portolan-sign-in-\d+=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const back = await signIn(serving, 'ann');
    expect(back).toMatchObject({ status: 303, location: `${serving.url}/applications?q=shop`, text: '' });
    expect(back.setCookie).toMatch(/^portolan-session-\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(back.cookies.filter((line) => /^portolan-sign-in-\d+=; .*Max-Age=0/.test(line))).toHaveLength(1);
    expect((await sync(serving, back.session)).status).toBe(202);
    expect(serving.api.asked.at(-1)).toBe('sync all by ann@example.com');
    expect(serving.said.join('\n')).toContain('server: signed in {"by":"ann@example.com","via":"oidc"}');
  });

  test('uses claims of the ID token, of the user info, and groups that are one text', async () => {
    const inToken = await scene({ provider: { configuration: { conformIdTokenClaims: false } } });
    expect((await signIn(inToken, 'ann')).session).toBeDefined();
    expect(inToken.provider.requests.filter((request) => request === 'GET /me')).toEqual([]);
    const inUserInfo = await scene({ provider: { configuration: { conformIdTokenClaims: true } } });
    expect((await signIn(inUserInfo, 'ann')).session).toBeDefined();
    expect(inUserInfo.provider.requests).toContain('GET /me');
    expect((await signIn(inUserInfo, 'one')).session).toBeDefined();
  });

  test('works without a client secret, and with one in the body', async () => {
    for (const method of ['none', 'client_secret_post'] as const) {
      const serving = await scene({
        isPublicClient: method === 'none',
        provider: {
          configuration: {
            clientAuthMethods: [method],
            clientDefaults: { token_endpoint_auth_method: method },
          },
        },
      });
      expect((await signIn(serving, 'ann')).session, method).toBeDefined();
    }
  });

  test('ends with the provider at a reload, with the roles when a binding is removed, and by a sign-out', async () => {
    const serving = await scene();
    const { session = '' } = await signIn(serving, 'ann');
    serving.reload({ ...serving.settings, roles: [] });
    expect((await sync(serving, session)).status).toBe(403);
    serving.reload(serving.settings);
    expect((await sync(serving, session)).status, 'the same provider: the session goes on').toBe(202);
    const end = { method: 'POST', role: null, headers: fromPage(serving, session) } as const;
    const ended = new URL(locationOf((await serving.ask('/api/v1/session/end', end)).body));
    expect(ended.href).toContain(`${serving.provider.issuer}/session/end?`);
    expect(Object.fromEntries(ended.searchParams)).toEqual({
      client_id: CLIENT.id,
      post_logout_redirect_uri: `${serving.url}/sign-in`,
    });
    expect((await sync(serving, session)).body).toMatchObject({ code: 'server/session-ended' });
    const { session: second } = await signIn(serving, 'ann');
    const { oidc: _, ...without } = serving.settings;
    serving.reload(without);
    expect((await sync(serving, second)).body).toMatchObject({ code: 'server/session-ended' });
    expect((await begin(serving)).body).toMatchObject({ status: 404, code: 'server/oidc-off' });
  });
});

describe('a sign-in that fails', () => {
  test.for<readonly [string, keyof typeof PEOPLE, string]>([
    ['nobody is in a group with a role', 'bob', 'no-role'],
    ['the email is not verified', 'eve', 'oidc-no-user'],
    ['there is no email', 'nameless', 'oidc-no-user'],
    ['the name has two lines', 'odd', 'oidc-no-user'],
    ['the name has half of a surrogate pair', 'half', 'oidc-no-user'],
  ])('says why: %s', async ([, user, code]) => {
    const serving = await scene();
    const back = await signIn(serving, user, '/activity?type=drift');
    expect(problemIn(back)).toBe(code);
    expect(new URL(back.location).searchParams.get('return')).toBe('/activity?type=drift');
  });

  test('says why: the user denies it. No text of the provider is in the address', async () => {
    const serving = await scene();
    serving.provider.next = { user: 'ann', answer: 'deny' };
    const { location, cookie } = await begin(serving);
    const back = await comeBack(await throughProvider(location, serving.provider), cookie);
    expect(problemIn(back)).toBe('oidc-denied');
    expect(decodeURIComponent(back.location)).not.toMatch(/<b>|denied it/);
  });

  test('says why: the provider does not answer, at the start and at the end; then it works without a restart', async () => {
    const { issuer } = await startOpenIdProvider({ redirectUris: ['http://127.0.0.1:1'], people: {} }).then(
      async (gone) => {
        await gone.close();
        return gone;
      },
    );
    const away = await scene({ oidc: { issuer } });
    expect((await begin(away)).body).toMatchObject({ status: 502, code: 'server/oidc-unreachable' });
    expect(away.said.join('\n')).toContain('ECONNREFUSED');
    away.reload({
      ...away.settings,
      ...(away.settings.oidc && { oidc: { ...away.settings.oidc, issuer: away.provider.issuer } }),
    });
    expect((await begin(away)).status).toBe(200);
    const serving = await scene();
    const { location, cookie } = await begin(serving);
    const address = await throughProvider(location, serving.provider);
    await serving.provider.close();
    expect(problemIn(await comeBack(address, cookie))).toBe('oidc-unreachable');
  });

  test('says why: another issuer answers, or the address is no provider', async () => {
    const other = await scene();
    const { issuer } = other.provider;
    other.reload({
      ...other.settings,
      ...(other.settings.oidc && { oidc: { ...other.settings.oidc, issuer: `${issuer}/x` } }),
    });
    expect((await begin(other)).body).toMatchObject({ status: 502, code: 'server/oidc-refused' });
    other.reload({
      ...other.settings,
      ...(other.settings.oidc && { oidc: { ...other.settings.oidc, issuer: other.url } }),
    });
    expect((await begin(other)).body).toMatchObject({ status: 502, code: 'server/oidc-refused' });
  });

  test('a certificate must be trusted: built in, or by a file', async () => {
    const tls = selfSigned();
    const serving = await scene({ provider: { tls } });
    expect((await begin(serving)).body).toMatchObject({ code: 'server/oidc-unreachable' });
    expect(serving.said.join('\n')).toMatch(/SELF_SIGNED|UNABLE_TO/);
    const caFile = join(mkdtempSync(join(tmpdir(), 'portolan-ca-')), 'ca.pem');
    writeFileSync(caFile, tls.certPem);
    const { oidc } = serving.settings;
    serving.reload({ ...serving.settings, ...(oidc && { oidc: { ...oidc, tls: { caFile } } }) });
    expect((await begin(serving)).status).toBe(200);
    writeFileSync(caFile, 'no certificate');
    expect(() => serving.reload({ ...serving.settings, ...(oidc && { oidc: { ...oidc, tls: { caFile } } }) })).toThrow(
      /no valid certificate/,
    );
  });

  test('failed sign-ins are limited; those who sign in well are not, nor are tokens in the header', async () => {
    const serving = await scene({ limits: { signInsOfAddress: 3, signInsOfAddressPerMinute: 1 } });
    for (let at = 0; at < 5; at += 1) expect((await signIn(serving, 'ann')).session).toBeDefined();
    for (let at = 0; at < 3; at += 1) expect(problemIn(await signIn(serving, 'bob'))).toBe('no-role');
    const { body, headers } = await begin(serving);
    expect(body).toMatchObject({ status: 429, code: 'server/too-many-sign-ins' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await serving.ask('/api/v1/status')).status).toBe(200);
    serving.clock.advance(60_000);
    expect((await begin(serving)).status).toBe(200);
  });

  test('nothing secret is in the log: no code, no token, no cookie, no client secret', async () => {
    const serving = await scene();
    serving.provider.next = { user: 'ann', answer: 'allow' };
    const { location, cookie } = await begin(serving);
    const address = await throughProvider(location, serving.provider);
    const { session = '' } = await comeBack(address, cookie);
    await comeBack(address, cookie);
    await serving.ask('/api/v1/session/end', { method: 'POST', role: null, headers: fromPage(serving, session) });
    const log = serving.said.join('\n');
    expect(log).toContain('oidc-expired');
    const secrets = [
      CLIENT.secret,
      cookie.split('=')[1],
      session.split('=')[1],
      new URL(address).searchParams.get('code'),
    ];
    for (const secret of secrets) {
      expect(secret?.length).toBeGreaterThan(20);
      expect(log).not.toContain(secret);
    }
    expect(log).not.toMatch(/eyJ/);
  });
});
