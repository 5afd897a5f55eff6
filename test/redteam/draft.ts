import type { JsonObject } from '../../src/model/json.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { Route } from '../../src/server/route.ts';
import { routes } from '../../src/server/routes/table.ts';
import { MANIFEST } from './oddities.ts';

/** The tokens of the corpus, with their roles. `outsider`: an admin of applications that do not exist. */
export const HOLDERS = { viewer: 'viewer', operator: 'operator', admin: 'admin', outsider: 'admin' } as const;
export type Holder = keyof typeof HOLDERS;

/** Who a request claims to be. `stranger`: no token, or one that is not ours. */
export type Caller = Holder | 'stranger';

/** One request of the corpus, as bytes on a socket. */
export interface Attempt {
  /** What is wrong with it, for messages. */
  readonly what: string;
  /** The route that it was made from; what was changed may lead elsewhere. */
  readonly route: Route;
  readonly caller: Caller;
  /** The path is the route's, with a name in it. */
  readonly isPathOfRoute: boolean;
  readonly bytes: Buffer;
  /** The client ends its side when it has sent this: there is less than it announced. */
  readonly isCutShort: boolean;
  /** The client reads the first bytes of the answer, and leaves. */
  readonly isStream: boolean;
}

export interface Secrets {
  readonly tokens: Readonly<Record<Holder, string>>;
  readonly webhook: string;
}

/** Choices that are the same for the same seed. */
export class Dice {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }
}

const CALLERS: readonly Caller[] = [
  'viewer',
  'viewer',
  'viewer',
  'viewer',
  'operator',
  'operator',
  'admin',
  'outsider',
  'outsider',
  'outsider',
  'stranger',
];
export const NAMES = [
  'shop',
  'shop',
  'nothing',
  'Application',
  'constructor',
  '__proto__',
  'hasOwnProperty',
  'my-github',
  '0',
];

/** A well-formed request, of which each way of attacking changes something. */
export class Draft {
  readonly dice: Dice;
  readonly secrets: Secrets;
  readonly route: Route;
  readonly caller: Caller;
  method: string;
  path: string;
  isPathOfRoute = true;
  query: readonly string[];
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  isCutShort = false;
  /** In place of the length of the body. */
  framing: 'length' | 'chunks' | 'none' = 'length';

  constructor(dice: Dice, secrets: Secrets) {
    this.dice = dice;
    this.secrets = secrets;
    this.route = dice.pick(routes);
    this.caller = dice.pick(CALLERS);
    this.method = this.route.method;
    this.path = this.route.path.replaceAll(/\{\w+\}/g, () => dice.pick(NAMES));
    this.query = dice.chance(0.3) ? queryOf(this.route, dice) : [];
    this.headers = [
      ['Host', 'localhost'],
      ['Connection', 'close'],
    ];
    if (this.caller !== 'stranger') this.headers.push(['Authorization', `Bearer ${secrets.tokens[this.caller]}`]);
    const { body } = this.route;
    if (body?.type === 'json') this.json(validBody(this.route));
    if (body?.type === 'bytes') this.body = Buffer.from('{"ref":"refs/heads/main"}');
  }

  json(value: unknown): void {
    this.body = Buffer.from(JSON.stringify(value));
    this.header('Content-Type', 'application/json');
  }

  header(name: string, value: string): void {
    this.headers = [...this.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase()), [name, value]];
  }

  attempt(what: string): Attempt {
    const target = this.query.length === 0 ? this.path : `${this.path}?${this.query.join('&')}`;
    const body = this.body ?? Buffer.alloc(0);
    const headers = [...this.headers];
    if (this.framing === 'length' && this.body !== undefined && !this.has('content-length'))
      headers.push(['Content-Length', String(body.length)]);
    if (this.framing === 'chunks') headers.push(['Transfer-Encoding', 'chunked']);
    const lines = [`${this.method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
    const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
    const sent = this.framing === 'chunks' && body.length > 0 ? chunked : body;
    return this.raw(what, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), sent]));
  }

  raw(what: string, bytes: Buffer): Attempt {
    const { route, caller, isPathOfRoute, isCutShort } = this;
    return { what, route, caller, isPathOfRoute, bytes, isCutShort, isStream: route.operationId === 'streamEvents' };
  }

  has(header: string): boolean {
    return this.headers.some(([name]) => name.toLowerCase() === header);
  }
}

function queryOf({ query = {} }: Route, dice: Dice): readonly string[] {
  const names = Object.keys(query);
  return names.length === 0 ? ['x=1'] : [`${dice.pick(names)}=${dice.pick(['1', '100', 'shop', 'Ready', 'env=prod'])}`];
}

export function validBody({ operationId }: Route): JsonObject {
  if (operationId === 'planManifests') return { files: [{ path: 'a.yaml', content: MANIFEST }] };
  if (operationId === 'suspendApplication') return { reason: 'a test' };
  return { digest: 'abcdef0123456789' };
}
