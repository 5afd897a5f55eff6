import type { ServerWebhook, WebhookType } from '../configuration/settings/server-spec.ts';
import type { Secret } from '../model/secret.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ServerLimits } from './limits.ts';
import { problem, RequestProblem } from './problem.ts';
import { isSecret, isSigned } from './secrets.ts';
import { openedSecret, type OpenSecret } from './tokens.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Whoever may say that the source has changed. What they say besides is not read: it is only a hint to look. */
export interface Webhooks {
  /**
   * Before the body is read. Closes the delivery that has waited longest for its body where too many wait.
   * @param close ends the connection of this delivery.
   * @returns a function to call when the body is there, or will not come.
   */
  admit(close: () => void): () => void;
  /**
   * Forged deliveries have a rate limit of their own, so that they never use up that of a genuine sender.
   * @throws RequestProblem 401, always the same, for whatever is not signed by the one that has this name; 429 over a limit.
   */
  deliver(name: string, headers: Headers, bytes: Uint8Array): void;
  /** @throws PortolanError `invalid` for a secret that is missing or too short; the former ones then stay. */
  reload(settings: readonly ServerWebhook[]): void;
}

interface Sender {
  readonly type: WebhookType;
  readonly secret: () => Secret;
}

interface Around {
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly openSecret: OpenSecret;
  readonly signal: AbortSignal;
  /** The source may have changed. */
  readonly poke: (because: string) => void;
}

export function createWebhooks(settings: readonly ServerWebhook[], around: Around): Webhooks {
  let senders = open(settings, around);
  const poker = new Poker(around);
  const genuine = new Map<string, Bucket>();
  const forgeries = new Bucket(around);
  /** Deliveries whose body is on its way, oldest first: how to close each. */
  const unread = new Set<() => void>();
  return {
    admit: (close) => {
      const [oldest] = unread;
      if (oldest !== undefined && unread.size >= around.limits.webhooksUnread) {
        unread.delete(oldest);
        oldest();
      }
      unread.add(close);
      return () => void unread.delete(close);
    },
    deliver: (name, headers, bytes) => {
      const sender = senders.get(name);
      if (sender === undefined || !isGenuine(sender, headers, bytes)) throw forgeries.take() ? forged() : tooMany();
      const bucket = genuine.get(name) ?? new Bucket(around);
      genuine.set(name, bucket);
      if (!bucket.take()) throw tooMany();
      poker.poke(`webhook ${name}`);
    },
    reload: (next) => {
      senders = open(next, around);
    },
  };
}

function open(settings: readonly ServerWebhook[], { openSecret }: Around): ReadonlyMap<string, Sender> {
  return new Map(
    settings.map(({ name, type, secret }) => {
      const where = `Settings spec.server.webhooks "${name}"`;
      return [name, { type, secret: openedSecret(secret, where, openSecret) }];
    }),
  );
}

/** Nothing but HMAC-SHA256 counts, except at GitLab, which sends its secret as it is. */
function isGenuine({ type, secret }: Sender, headers: Headers, bytes: Uint8Array): boolean {
  const signed = (header: string, prefix: string): boolean => {
    const value = headers[header];
    if (typeof value !== 'string' || !value.startsWith(prefix)) return false;
    return isSigned(secret(), bytes, value.slice(prefix.length));
  };
  switch (type) {
    case 'github':
      return signed('x-hub-signature-256', 'sha256=');
    case 'gitea':
      return signed('x-gitea-signature', '');
    case 'generic':
      return signed('x-portolan-signature', 'sha256=');
    case 'gitlab': {
      const token = headers['x-gitlab-token'];
      return typeof token === 'string' && isSecret(secret(), token);
    }
    default:
      return unreachable(type);
  }
}

/** Passes hints on at once, but no more often than may be; what comes in between is one hint at the end. */
class Poker {
  readonly #around: Around;
  #isResting = false;
  #waiting: string | undefined;

  constructor(around: Around) {
    this.#around = around;
  }

  poke(because: string): void {
    if (this.#isResting) {
      this.#waiting ??= because;
      return;
    }
    this.#isResting = true;
    this.#around.poke(because);
    const { clock, limits, signal } = this.#around;
    clock.sleep(limits.pokeMs, signal).then(
      () => this.#rested(),
      () => {}, // It closes.
    );
  }

  #rested(): void {
    this.#isResting = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.poke(waiting);
  }
}

/** So many at once, and so many a second in the long run. */
class Bucket {
  readonly #around: Around;
  #left: number;
  #atMs: number;

  constructor(around: Around) {
    this.#around = around;
    this.#left = around.limits.webhookBurst;
    this.#atMs = around.clock.monotonic();
  }

  take(): boolean {
    const { clock, limits } = this.#around;
    const nowMs = clock.monotonic();
    const refill = ((nowMs - this.#atMs) / 1_000) * limits.webhookPerSecond;
    this.#left = Math.min(limits.webhookBurst, this.#left + refill);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

function forged(): RequestProblem {
  return new RequestProblem(
    problem(401, {
      code: 'server/webhook-refused',
      detail: 'The delivery is not accepted.',
      remedy: 'Compare the name in the address, the type and the secret of the webhook on both sides.',
    }),
  );
}

function tooMany(): RequestProblem {
  const details = problem(429, {
    code: 'server/too-many-deliveries',
    detail: 'Too many deliveries arrived in a short time, so this one was ignored.',
    remedy: 'Do nothing: Portolan also polls the source.',
  });
  return new RequestProblem(details, 10);
}
