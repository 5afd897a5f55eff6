import { systemClock } from '../../src/runtime/clock.ts';
import { routes } from '../../src/server/routes/table.ts';
import type { Attempt, Draft } from './draft.ts';
import { ODD_VALUES, ODD_WORDS } from './oddities.ts';

/** Where browsers see the daemon under attack. Its provider does not answer. */
export const PUBLIC_URL = 'http://localhost';

const RANDOM = 'a'.repeat(64);

/** Requests like those of a browser: sessions, sign-ins, and answers of a provider, all forged. No session comes of them. */
export const browserWays: readonly ((draft: Draft) => Attempt)[] = [oddSession, oddSignIn, oddCallback, oddCallback];

function fromBrowser(draft: Draft, what: string): Attempt {
  draft.headers = draft.headers.filter(([name]) => name !== 'Authorization');
  return { ...draft.attempt(what), caller: 'stranger' };
}

/** Origin and Sec-Fetch-Site, of the own page or not. */
function oddOrigin(draft: Draft): void {
  const { dice } = draft;
  const origins = [
    'null',
    '',
    'http://localhost.evil.example.com',
    'https://localhost',
    'http://localhost:80',
    '*',
    '\u00e9',
  ];
  if (dice.chance(0.7)) draft.header('Origin', dice.chance(0.7) ? PUBLIC_URL : dice.pick(origins));
  const sites = ['same-site', 'cross-site', 'none', 'same-origin, same-origin', 'SAME-ORIGIN', ''];
  if (dice.chance(0.7)) draft.header('Sec-Fetch-Site', dice.chance(0.7) ? 'same-origin' : dice.pick(sites));
  if (dice.chance(0.1)) draft.header('X-Forwarded-Proto', 'https');
  if (dice.chance(0.1)) draft.header('X-Forwarded-For', dice.pick(['127.0.0.1', '::1', 'x, y', ','.repeat(1_000)]));
}

function oddSession(draft: Draft): Attempt {
  const { dice, secrets } = draft;
  const value = dice.pick([
    '',
    RANDOM,
    RANDOM.slice(1),
    '"' + RANDOM + '"',
    '__proto__',
    'constructor',
    secrets.tokens.admin,
    'x'.repeat(8_000),
    '\u00e9\u00ff',
    '%00',
    'a=b=c',
    ...ODD_WORDS,
  ]);
  const name = dice.pick([
    'portolan-session-80',
    'portolan-session-80',
    '__Host-portolan-session',
    'Portolan-Session-80',
  ]);
  const cookie = `${name}=${value}`;
  draft.header('Cookie', dice.pick([cookie, cookie, `a=b;${cookie}`, `${cookie}; ${cookie}`, `;${cookie};;=;`, name]));
  if (dice.chance(0.1)) draft.headers.push(['Cookie', cookie]);
  oddOrigin(draft);
  return fromBrowser(draft, 'session cookie');
}

function oddSignIn(draft: Draft): Attempt {
  const { dice, secrets } = draft;
  const route = routes.find(({ operationId }) => operationId === dice.pick(['startSession', 'startOidcSession']));
  if (route === undefined) return oddSession(draft);
  const { admin } = secrets.tokens;
  const token = dice.pick<unknown>([admin.slice(1), ` ${admin}`, `${admin}\u0000`, admin.toUpperCase(), ...ODD_VALUES]);
  const returnTo = dice.pick<unknown>([
    '//evil.example.com',
    'javascript:1',
    '/\\evil',
    '/\r\nX-Injected: yes',
    ...ODD_VALUES,
  ]);
  draft.method = 'POST';
  draft.path = route.path;
  draft.query = [];
  draft.json(route.operationId === 'startSession' ? { token } : { returnTo });
  oddOrigin(draft);
  return { ...fromBrowser(draft, 'sign-in'), route, isStream: false };
}

function oddCallback(draft: Draft): Attempt {
  const { dice } = draft;
  const route = routes.find(({ access }) => access === 'callback');
  if (route === undefined) throw new Error('there is a route for the answer of a provider');
  const startedMs = dice.pick<unknown>([systemClock.now(), systemClock.now(), 0, -1, 1e300, null, 'x']);
  const returnTo = dice.pick<unknown>([
    '/',
    '//evil.example.com',
    'https://evil.example.com',
    '/\r\nX-Injected: yes',
    ...ODD_VALUES,
  ]);
  const pending = dice.pick<unknown>([
    { state: RANDOM, nonce: RANDOM, verifier: RANDOM, provider: 'http://127.0.0.1:9 portolan', returnTo, startedMs },
    {
      state: RANDOM,
      nonce: RANDOM,
      verifier: RANDOM,
      provider: 'http://127.0.0.1:9 portolan',
      returnTo,
      startedMs,
      __proto__x: 1,
    },
    {
      state: dice.pick(ODD_VALUES),
      nonce: RANDOM,
      verifier: RANDOM,
      provider: 'http://127.0.0.1:9 portolan',
      returnTo,
      startedMs,
    },
    ...ODD_VALUES,
  ]);
  const encoded = Buffer.from(JSON.stringify(pending) ?? '').toString('base64url');
  const value = dice.chance(0.8) ? encoded : dice.pick([`${encoded}=`, encoded.slice(1), '%', 'x'.repeat(5_000), '']);
  draft.method = 'GET';
  draft.path = route.path;
  draft.body = undefined;
  draft.header('Cookie', `portolan-sign-in-80=${value}`);
  const word = (): string => dice.pick([...ODD_WORDS, RANDOM, 'x', '']);
  draft.query = [
    `state=${dice.chance(0.7) ? RANDOM : word()}`,
    ...(dice.chance(0.8) ? [`code=${word()}`] : []),
    ...(dice.chance(0.3) ? [`iss=${dice.pick(['http://127.0.0.1:9', 'https://evil.example.com', word()])}`] : []),
    ...(dice.chance(0.3) ? [`error=${dice.pick(['access_denied', 'server_error', word()])}`] : []),
    ...(dice.chance(0.2) ? [`error_description=${word()}`, `state=${word()}`, 'id_token=x', 'response=x'] : []),
  ];
  draft.header('Sec-Fetch-Site', 'cross-site');
  return { ...fromBrowser(draft, 'callback'), route, isStream: false };
}
