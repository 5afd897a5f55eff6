import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { addressOf, axeViolations, overflow, settled, visit } from './browsing.ts';
import { openWorld, TOKENS, type World } from './world.ts';

/** Chromium reports each refused request in its console. */
const REFUSED =
  /status of 401|status of 403|status of 429|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|ERR_NETWORK/;

let world: World;
let provider: OpenIdProvider;
beforeAll(async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  provider = await startOpenIdProvider({
    redirectUris: [`${url}/auth/callback`],
    signedOutUris: [`${url}/sign-in`],
    people: {
      ann: { email: 'ann@example.com', email_verified: true, groups: ['ops'] },
      bob: { email: 'bob@example.com', email_verified: true, groups: [] },
    },
  });
  world = await openWorld({
    listen: new URL(url).host,
    env: { OIDC_SECRET: CLIENT.secret },
    server: `    publicUrl: ${url}
    roles: [{ role: operator, groups: [ops] }]
    oidc:
      name: Example
      issuer: ${provider.issuer}
      clientId: ${CLIENT.id}
      clientSecret: { env: OIDC_SECRET }
      scopes: [profile, email, groups]`,
  });
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

/** Everything that a script of the page can find in the browser. */
const STORED = `(async () => JSON.stringify({
  cookie: document.cookie,
  local: { ...localStorage },
  session: { ...sessionStorage },
  databases: await indexedDB.databases(),
  caches: await caches.keys(),
  history: history.state,
  name: window.name,
  address: location.href,
  referrer: document.referrer,
  page: document.documentElement.outerHTML,
  fields: [...document.querySelectorAll('input')].map(({ value }) => value),
}))()`;

/** Nothing that a script of the page can reach, and no address that was requested, has one of the secrets. */
async function expectNoSecrets(page: Page, addresses: readonly string[], secrets: readonly string[]): Promise<void> {
  const stored = await page.evaluate<string>(STORED);
  expect(JSON.parse(stored)).toMatchObject({ cookie: '', session: {}, databases: [], caches: [] });
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(15);
    expect(stored).not.toContain(secret);
    expect(addresses.join('\n')).not.toContain(secret);
    expect(world.log()).not.toContain(secret);
  }
}

async function sessionCookie(page: Page): Promise<string> {
  const cookies = await page.context().cookies(world.url);
  return cookies.find(({ name }) => name.includes('session'))?.value ?? '';
}

/** Opens the panel with the name of the user, with the keyboard. */
async function openAccount(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Account ${name}` }).focus();
  await page.keyboard.press('Enter');
  await page.getByText(/The session ends in \d+ hours/).waitFor();
  expect(await axeViolations(page)).toEqual([]);
}

describe('with a token', () => {
  test('a visitor sees only the sign-in page, enters the token, and is on the page that was wanted', async () => {
    const page = await visit(world.url, '/activity?type=drift', { as: null, expects: REFUSED });
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.waitForURL(/\/sign-in\?/);
    await settled(page);
    expect(await page.getByRole('heading').allTextContents()).toEqual(['Sign in']);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    const token = page.getByLabel('Token');
    await token.fill('wrong-wrong-wrong-wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The token is not valid.').waitFor();
    expect(await token.inputValue()).toBe('');
    await token.fill(TOKENS.operator);
    await page.getByRole('button', { name: 'Sign in with a token' }).click();
    await page.waitForURL(/\/activity\?type=drift$/);
    await settled(page);
    await expectNoSecrets(page, addresses, [TOKENS.operator, await sessionCookie(page)]);
  });

  test('the cookie is for this server alone, and no script can read it', async () => {
    const page = await visit(world.url, '/', { as: 'viewer' });
    await settled(page);
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([
      {
        name: `portolan-session-${new URL(world.url).port}`,
        domain: '127.0.0.1',
        path: '/',
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: 'Strict',
      },
    ]);
    expect(cookies[0]?.value).toMatch(/^[0-9a-f]{64}$/);
  });

  test('a sign-out shows the sign-in page, here and in the other tabs, and leaves no session', async () => {
    const page = await visit(world.url, '/activity', { expects: REFUSED });
    await settled(page);
    const other = await page.context().newPage();
    await other.goto('/');
    await settled(other);
    const cookie = await sessionCookie(page);
    await openAccount(page, 'admin');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(await sessionCookie(page)).toBe('');
    await other.waitForURL(/\/sign-in\?.*expired/);
    await other.getByText('Your session has ended').waitFor();
    const name = `portolan-session-${new URL(world.url).port}`;
    const headers = { cookie: `${name}=${cookie}`, 'sec-fetch-site': 'same-origin' };
    expect((await fetch(`${world.url}/api/v1/status`, { headers })).status).toBe(401);
  });

  test('a restart under an open page ends the session: the page says so, and is back after the sign-in', async () => {
    const page = await visit(world.url, '/activity?type=drift', { expects: REFUSED });
    await settled(page);
    await page.getByText('Live', { exact: true }).waitFor();
    await world.stop();
    await page.getByText('Offline').waitFor();
    await world.start();
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('Token').fill(TOKENS.admin);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/activity\?type=drift$/);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('it is usable at 360 pixels, in the dark, and with the keyboard alone', async () => {
    const page = await visit(world.url, '/sign-in', { as: null, width: 360, theme: 'dark', expects: REFUSED });
    await settled(page);
    expect(await overflow(page)).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in with Example' }).waitFor();
    const reached: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate<string>('document.activeElement.name || document.activeElement.textContent'));
    }
    expect(reached).toEqual(['Skip to the content', 'Sign in with Example', 'token', 'Sign in with a token']);
  });
});

describe('with OpenID Connect', () => {
  /** Goes to the page of the provider, from a page that needs a session. */
  async function atProvider(user: string, path = '/activity?type=drift') {
    provider.next = { user, answer: 'ask' };
    const page = await visit(world.url, path, { as: null, expects: REFUSED });
    const addresses: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(world.url)) addresses.push(request.url());
    });
    await page.getByRole('button', { name: 'Sign in with Example' }).click();
    await page.getByRole('link', { name: 'Allow' }).waitFor();
    return { page, addresses };
  }

  test('a user signs in at the provider, is on the page that was wanted, and signs out of both', async () => {
    const { page, addresses } = await atProvider('ann');
    const [pending] = await page.context().cookies(world.url);
    expect(pending).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
    await page.getByRole('link', { name: 'Allow' }).click();
    await page.waitForURL(`${world.url}/activity?type=drift`);
    await settled(page);
    const cookies = await page.context().cookies(world.url);
    expect(cookies).toMatchObject([{ name: `portolan-session-${new URL(world.url).port}`, sameSite: 'Strict' }]);
    await expectNoSecrets(page, addresses, [await sessionCookie(page), CLIENT.secret]);
    await openAccount(page, 'ann@example.com');
    await page.getByText('operator for everything').waitFor();
    await page.getByText('Groups: ops').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${provider.issuer}/session/end**`);
    expect((await addressOf(page)).searchParams.has('id_token_hint')).toBe(false);
    expect(await sessionCookie(page)).toBe('');
    await page.getByRole('button', { name: 'Sign out there' }).click();
    await page.waitForURL(`${world.url}/sign-in**`);
    await page.getByLabel('Token').waitFor();
  });

  test('a user who denies it, and one without a role, read why, and stay signed out', async () => {
    const denied = await atProvider('ann');
    await denied.page.getByRole('link', { name: 'Deny' }).click();
    await denied.page.getByText('The sign-in was cancelled or denied').waitFor();
    expect(await axeViolations(denied.page)).toEqual([]);
    const { page } = await atProvider('bob');
    await page.getByRole('link', { name: 'Allow' }).click();
    await page.getByText('no role is bound to you').waitFor();
    expect(await sessionCookie(page)).toBe('');
  });

  test('an address of the sign-in page shows only texts of the dashboard', async () => {
    const attack = new URLSearchParams({ problem: '<b>Call 0900</b>', return: 'javascript:alert(1)' });
    const page = await visit(world.url, `/sign-in?${attack}`, { as: null, expects: REFUSED });
    await settled(page);
    await page.getByLabel('Token').waitFor();
    expect(await page.getByText('0900').count()).toBe(0);
    await page.getByLabel('Token').fill(TOKENS.viewer);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.url}/`);
  });
});

// The last test: it uses up the sign-ins of this address.
test('after too many failures, the page says when to retry, and a program with a token still gets in', async () => {
  const page = await visit(world.url, '/sign-in', { as: null, expects: REFUSED });
  const headers = { origin: world.url, 'sec-fetch-site': 'same-origin' };
  const alert = page.getByRole('alert');
  // One sign-in becomes possible every few seconds, so the page tries until it is one too many.
  const attempt = async (): Promise<string> => {
    const data = { token: 'wrong' };
    for (let at = 0; at < 12; at += 1) await page.context().request.post('/api/v1/session', { headers, data });
    const answered = page.waitForResponse('**/api/v1/session');
    await page.getByLabel('Token').fill('wrong-wrong-wrong-wrong');
    await page.keyboard.press('Enter');
    await answered;
    return (await alert.textContent()) ?? '';
  };
  await expect.poll(attempt).toContain('Too many sign-ins failed');
  await page.getByText(/Retry in \d+ s\./).waitFor();
  expect((await world.api<{ phase: string }>('/api/v1/status')).phase).toBe('running');
});
