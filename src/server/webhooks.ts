import type { ServerWebhook } from '../configuration/settings/server-spec.ts';
import type { Secret } from '../model/secret.ts';
import { Allowance } from '../runtime/allowance.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { ServerLimits } from './limits.ts';
import { type RequestProblem, refusal } from './problem.ts';
import { isSecret, isSigned } from './secrets.ts';
import { openedSecret, type OpenSecret } from './tokens.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Sender {
  readonly type: ServerWebhook['type'];
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

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Whoever may say that the source has changed. What they say besides is not read: it is only a hint to look. */
export function createWebhooks(settings: readonly ServerWebhook[], around: Around) {
  let senders = open(settings, around);
  const poke = createPoker(around);
  const genuine = new Map<string, Allowance>();
  const { clock, limits } = around;
  const allowance = (): Allowance => new Allowance(clock, limits.webhookBurst, limits.webhookPerSecond / 1_000);
  const forgeries = allowance();
  /** Deliveries whose body is on its way, oldest first: how to close each. */
  const unread = new Set<() => void>();
  return {
    /**
     * Before the body is read. Closes the delivery that has waited longest for its body where too many wait.
     * @param close ends the connection of this delivery.
     * @returns a function to call when the body is there, or will not come.
     */
    admit: (close: () => void) => {
      const [oldest] = unread;
      if (oldest !== undefined && unread.size >= limits.webhooksUnread) {
        unread.delete(oldest);
        oldest();
      }
      unread.add(close);
      return (): void => void unread.delete(close);
    },
    /**
     * Forged deliveries have a rate limit of their own, so that they never use up that of a genuine sender.
     * @throws RequestProblem 401, always the same, for whatever is not signed by the one that has this name; 429 over a limit.
     */
    deliver: (name: string, headers: Headers, bytes: Uint8Array): void => {
      const sender = senders.get(name);
      if (sender === undefined || !isGenuine(sender, headers, bytes)) throw take(forgeries) ? forged() : tooMany();
      const bucket = genuine.get(name) ?? allowance();
      genuine.set(name, bucket);
      if (!take(bucket)) throw tooMany();
      poke(`webhook ${name}`);
    },
    /** @throws PortolanError `invalid` for a secret that is missing or too short; the former ones then stay. */
    reload: (next: readonly ServerWebhook[]): void => {
      senders = open(next, around);
    },
  };
}

function take(allowance: Allowance): boolean {
  if (allowance.left < 1) return false;
  allowance.use(1);
  return true;
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
  const { header, prefix } = SIGNATURES[type];
  const value = headers[header];
  if (typeof value !== 'string' || !value.startsWith(prefix)) return false;
  const said = value.slice(prefix.length);
  return type === 'gitlab' ? isSecret(secret(), said) : isSigned(secret(), bytes, said);
}

const SIGNATURES: Readonly<Record<ServerWebhook['type'], { readonly header: string; readonly prefix: string }>> = {
  github: { header: 'x-hub-signature-256', prefix: 'sha256=' },
  gitea: { header: 'x-gitea-signature', prefix: '' },
  generic: { header: 'x-portolan-signature', prefix: 'sha256=' },
  gitlab: { header: 'x-gitlab-token', prefix: '' },
};

/** Passes hints on at once, but no more often than may be; what comes in between is one hint at the end. */
function createPoker({ clock, limits, signal, poke }: Around): (because: string) => void {
  let isResting = false;
  let waiting: string | undefined;
  return function hint(because) {
    if (isResting) {
      waiting ??= because;
      return;
    }
    isResting = true;
    poke(because);
    after(clock, limits.pokeMs, signal, () => {
      isResting = false;
      const next = waiting;
      waiting = undefined;
      if (next !== undefined) hint(next);
    });
  };
}

const forged = (): RequestProblem =>
  refusal(401, 'server/webhook-refused', {
    detail: 'The delivery is not accepted.',
    remedy: 'Compare the name in the address, the type and the secret of the webhook on both sides.',
  });

const tooMany = (): RequestProblem =>
  refusal(429, 'server/too-many-deliveries', {
    detail: 'Too many deliveries arrived in a short time, so this one was ignored.',
    remedy: 'Do nothing: Portolan also polls the source.',
    retryAfter: 10,
  });
