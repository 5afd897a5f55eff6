import type { JsonObject } from '../../src/model/json.ts';
import { routes } from '../../src/server/routes/table.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import { type Attempt, Dice, Draft, NAMES, type Secrets, validBody } from './draft.ts';
import { browserWays } from './browser-requests.ts';
import { NOT_HTTP, ODD_HEADERS, ODD_MANIFESTS, ODD_VALUES, ODD_WORDS } from './oddities.ts';

/** The corpus of a seed: the same requests in the same order, each time. */
export function* attempts(seed: number, secrets: Secrets): Generator<Attempt, never, undefined> {
  const dice = new Dice(seededRandom(seed));
  for (;;) yield dice.pick(WAYS)(new Draft(dice, secrets));
}

type Way = (draft: Draft) => Attempt;

const WAYS: readonly Way[] = [
  (draft) => draft.attempt('nothing'),
  otherMethod,
  oddPath,
  oddPath,
  oddQuery,
  oddHeaders,
  oddAuthorization,
  forgedWebhook,
  forgedWebhook,
  brokenJson,
  wrongFields,
  wrongFields,
  wrongFields,
  oddPlan,
  oddPlan,
  oddFraming,
  oddFraming,
  notHttp,
  ...browserWays,
];

function otherMethod(draft: Draft): Attempt {
  draft.method = draft.dice.pick([
    'HEAD',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'POST',
    'GET',
    'get',
    'FOO',
    'PRI',
    'CONNECT',
    '',
  ]);
  draft.isPathOfRoute = false;
  return draft.attempt(`method ${draft.method}`);
}

function oddPath(draft: Draft): Attempt {
  const { dice } = draft;
  const word = dice.pick(ODD_WORDS);
  const segments = draft.path.split('/');
  const at = dice.below(segments.length);
  const ways: readonly (() => string)[] = [
    () => segments.with(at, word).join('/'),
    () => segments.with(at, `${segments[at]}${word}`).join('/'),
    () => segments.toSpliced(at, 0, word).join('/'),
    () => `${draft.path}/`,
    () => draft.path.replaceAll('/', '//'),
    () => draft.path.toUpperCase(),
    () => `http://localhost${draft.path}`,
    () => `http://other.example.com${draft.path}`,
    () => draft.path.replaceAll(/[^/]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    () => `${draft.path}#x`,
    () => `${draft.path}\u0000`,
    () => '*',
  ];
  draft.path = dice.pick(ways)();
  draft.isPathOfRoute = false;
  return draft.attempt('path');
}

function oddQuery(draft: Draft): Attempt {
  const { dice, secrets } = draft;
  const names = [
    ...Object.keys(draft.route.query ?? {}),
    'x',
    '__proto__',
    'constructor[prototype]',
    secrets.tokens.admin,
    'limit',
    'cursor',
  ];
  const value = (): string =>
    dice.pick([...ODD_WORDS, '1e9', '0', '99999999999999999999', 'a=b=c', '[]', secrets.webhook]);
  draft.query = Array.from({ length: dice.pick([1, 1, 2, 3, 50, 400]) }, () => `${dice.pick(names)}=${value()}`);
  return draft.attempt('query');
}

function oddHeaders(draft: Draft): Attempt {
  const { dice } = draft;
  const [name, value] = dice.pick(ODD_HEADERS);
  if (dice.chance(0.3)) draft.headers.push([name, value]);
  else draft.header(name, value);
  if (dice.chance(0.1)) for (let count = 0; count < 300; count += 1) draft.headers.push([`X-${count}`, 'x']);
  if (dice.chance(0.1)) draft.headers.push(['Host', 'localhost']);
  return draft.attempt(`header ${name}`);
}

/** No form but `Bearer <token>`, once, is a token. */
function oddAuthorization(draft: Draft): Attempt {
  const { dice, secrets } = draft;
  const { admin, viewer } = secrets.tokens;
  const value = dice.pick([
    'Bearer',
    'Bearer ',
    'Bearer undefined',
    'Bearer null',
    'Bearer *',
    admin,
    `Basic ${Buffer.from(`admin:${admin}`).toString('base64')}`,
    `Token ${admin}`,
    `Bearer ${admin}x`,
    `Bearer ${admin.slice(0, -1)}`,
    `Bearer ${admin.toUpperCase()}`,
    `Bearer ${viewer}, Bearer ${admin}`,
    `Bearer ${'x'.repeat(10_000)}`,
    `Bearer ${admin}\u0000`,
    `Bearer "${admin}"`,
    `Digest ${admin}`,
    `Bearer ${admin} ${viewer}`,
    `Bearer ${Buffer.from(admin).toString('base64')}`,
  ]);
  draft.header('Authorization', value);
  const attempt = draft.attempt('authorization');
  return { ...attempt, caller: 'stranger' };
}

function forgedWebhook(draft: Draft): Attempt {
  const { dice, secrets } = draft;
  const route = routes.find(({ access }) => access === 'signature');
  if (route === undefined) throw new Error('there is a route for webhooks');
  draft.method = 'POST';
  draft.path = `/webhooks/${dice.pick(['my-github', 'my-gitlab', 'my-gitea', 'my-generic', 'none', '__proto__', '%2e%2e'])}`;
  draft.body = Buffer.from(dice.pick(['', '{}', 'x'.repeat(10_000), '{"ref":"refs/heads/main"}', '\u0000']));
  const signature = dice.pick([
    '',
    'sha256=',
    `sha256=${'0'.repeat(64)}`,
    `sha1=${'0'.repeat(40)}`,
    secrets.webhook.slice(1),
    `sha256=${secrets.webhook}`,
    'x'.repeat(9_000),
  ]);
  const name = dice.pick([
    'X-Hub-Signature-256',
    'X-Hub-Signature',
    'X-Gitea-Signature',
    'X-Gitlab-Token',
    'X-Portolan-Signature',
  ]);
  draft.header(name, signature);
  if (dice.chance(0.2)) draft.headers.push([name, signature]);
  return { ...draft.attempt('forged webhook'), route, caller: 'stranger' };
}

function brokenJson(draft: Draft): Attempt {
  const { dice } = draft;
  const text = draft.body?.toString() ?? '{}';
  const deep = dice.pick([50, 5_000]);
  draft.body = Buffer.from(
    dice.pick([
      text.slice(0, dice.below(text.length)),
      `${text}${text}`,
      `[${text}`,
      '',
      'null',
      '[]',
      '"a"',
      '0',
      '\ufeff{}',
      '{"a":1,"a":2}',
      `{"__proto__":{"role":"admin"}}`,
      `{"constructor":{"prototype":{"role":"admin"}}}`,
      `{"files":[],"__proto__":[]}`,
      '['.repeat(deep) + ']'.repeat(deep),
      '{"a":'.repeat(deep) + '1' + '}'.repeat(deep),
      `{"reason":${'9'.repeat(5_000)}}`,
      '{"reason":"\\uD800"}',
      '{"reason":NaN}',
      "{'reason':'x'}",
      text.replace('{', '{"\\u0000":1,'),
      '{"reason":"\u0000"}',
    ]),
  );
  draft.header('Content-Type', 'application/json');
  return draft.attempt('broken JSON');
}

/** A body of the route with a field of another type, one too many, or one too few. */
function wrongFields(draft: Draft): Attempt {
  const { dice } = draft;
  const withBody = routes.filter(({ body }) => body?.type === 'json');
  const route = dice.pick(withBody);
  const body: Record<string, unknown> = { ...validBody(route) };
  const { properties = {} } = (route.body?.type === 'json' ? route.body.schema : {}) as { properties?: JsonObject };
  const field = dice.pick([...Object.keys(properties), '__proto__', 'constructor', 'toString', 'x']);
  const value = dice.pick(ODD_VALUES);
  if (dice.chance(0.2)) delete body[field];
  else if (dice.chance(0.3) && field === 'files')
    body['files'] = [dice.pick([value, { path: value, content: 'a' }, { path: 'a', content: value }])];
  else Object.defineProperty(body, field, { value, enumerable: true, configurable: true, writable: true });
  draft.method = route.method;
  draft.path = route.path.replaceAll(/\{\w+\}/g, () => dice.pick(NAMES));
  draft.query = [];
  draft.json(body);
  return { ...draft.attempt(`field ${field}`), route, isStream: false };
}

function oddPlan(draft: Draft): Attempt {
  const { dice } = draft;
  const route = routes.find(({ operationId }) => operationId === 'planManifests');
  if (route === undefined) throw new Error('there is a route for plans');
  const path = dice.pick([
    'a.yaml',
    '../../etc/passwd',
    '/etc/passwd',
    '\u202Egpj.yaml',
    'a\nb',
    'x'.repeat(4_096),
    '\u0000',
    'C:\\a',
    '__proto__',
  ]);
  draft.method = 'POST';
  draft.path = route.path;
  draft.query = [];
  draft.json({
    files: Array.from({ length: dice.pick([1, 1, 2, 20]) }, () => ({ path, content: dice.pick(ODD_MANIFESTS) })),
    ...(dice.chance(0.3) ? { adopt: dice.pick<unknown>(['all', ['Component/x'], [], ['a']]) } : {}),
    ...(dice.chance(0.3) ? { prune: true } : {}),
    ...(dice.chance(0.3) ? { targets: dice.pick<unknown>([['Component/x'], ['Application/shop'], [], ['x']]) } : {}),
    ...(dice.chance(0.3)
      ? {
          variables: dice.pick<unknown>([
            { SECRET: '${SECRET}' },
            { __proto__x: 'a' },
            { 'a b': 'c' },
            { A: 'x'.repeat(9_000) },
          ]),
        }
      : {}),
  });
  return { ...draft.attempt('plan'), route, isStream: false };
}

/** Lengths and chunks that contradict the body, or each other: what a proxy and a server read differently. */
function oddFraming(draft: Draft): Attempt {
  const { dice } = draft;
  draft.body ??= Buffer.from('{}');
  const length = draft.body.length;
  const way = dice.pick([
    'longer',
    'shorter',
    'odd length',
    'two lengths',
    'both',
    'chunks',
    'odd chunks',
    'odd encoding',
    'cut',
    'bare LF',
    'second request',
  ]);
  switch (way) {
    case 'longer':
      draft.isCutShort = true;
      draft.header('Content-Length', String(length + 1 + dice.below(1_000_000)));
      break;
    case 'shorter':
      draft.header('Content-Length', String(dice.below(length)));
      break;
    case 'odd length':
      draft.header('Content-Length', dice.pick(['-1', '+5', '0x10', '1e3', '99999999999999999999', '5, 5', ' ', 'a']));
      break;
    case 'two lengths':
      draft.headers.push(['Content-Length', String(length)], ['Content-Length', '0']);
      break;
    case 'both':
      draft.headers.push(['Content-Length', String(length)]);
      draft.framing = 'chunks';
      break;
    case 'chunks':
      draft.framing = 'chunks';
      break;
    case 'odd chunks':
      draft.headers.push(['Transfer-Encoding', 'chunked']);
      draft.framing = 'none';
      draft.body = Buffer.from(
        dice.pick([
          'zz\r\nabc\r\n',
          '-1\r\n\r\n',
          'ffffffffffffffffff\r\n',
          '3;ext="\r\nabc\r\n0\r\n\r\n',
          '0\r\nX: y\r\n\r\n',
          '3\r\nabcdef\r\n0\r\n\r\n',
          '5\r\nab',
        ]),
      );
      draft.isCutShort = true;
      break;
    case 'odd encoding':
      draft.headers.push([
        'Transfer-Encoding',
        dice.pick(['gzip', 'chunked, chunked', 'identity', 'xchunked', 'chunked, gzip', '\u000bchunked']),
      ]);
      draft.framing = 'none';
      draft.isCutShort = true;
      break;
    default:
      return oddBytes(draft, way);
  }
  return draft.attempt(`framing: ${way}`);
}

function oddBytes(draft: Draft, way: string): Attempt {
  const whole = draft.attempt(`framing: ${way}`);
  const text = whole.bytes;
  if (way === 'cut') return { ...whole, isCutShort: true, bytes: text.subarray(0, draft.dice.below(text.length)) };
  if (way === 'bare LF')
    return {
      ...whole,
      isCutShort: true,
      bytes: Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
    };
  const { admin } = draft.secrets.tokens;
  const smuggled = `POST /api/v1/sync HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${admin}x\r\n\r\n`;
  return { ...whole, bytes: Buffer.concat([text, Buffer.from(smuggled)]) };
}

function notHttp(draft: Draft): Attempt {
  const { dice } = draft;
  draft.isCutShort = true;
  draft.isPathOfRoute = false;
  const text = dice.pick(NOT_HTTP);
  return { ...draft.raw('not HTTP', Buffer.from(text, 'latin1')), isStream: false };
}
