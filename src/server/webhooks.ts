import type { ServerWebhook } from '../configuration/settings/server-spec.ts';
import type { Secret } from '../model/secret.ts';
import { Allowance } from '../runtime/allowance.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { ServerLimits } from './limits.ts';
import { type RequestProblem, refusal } from './problem.ts';
import { isSecret, isSigned } from './secrets.ts';
import { openStrongSecret, type OpenSecret } from './tokens.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

type Sender = Pick<ServerWebhook, 'type'> & { readonly secret: () => Secret };

interface Around {
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly openSecret: OpenSecret;
  readonly signal: AbortSignal;
  /** Requests a read of the source, which may have changed. */
  readonly poke: (because: string) => void;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Creates the webhooks. A delivery only causes a read of the source; its content is checked for its signature and not used. */
export function createWebhooks(settings: readonly ServerWebhook[], around: Around) {
  let senders = openSenders(settings, around);
  const poke = createPoker(around);
  const genuine = new Map<string, Allowance>();
  const { clock, limits } = around;
  const allowance = (): Allowance => new Allowance(clock, limits.webhookBurst, limits.webhookPerSecond / 1_000);
  const forgeries = allowance();
  /** Functions that close deliveries whose body is still arriving, oldest first. */
  const unread = new Set<() => void>();
  return {
    /**
     * Admits a delivery before its body is read. Closes the oldest one if too many are waiting for their body.
     * @param close closes the connection of this delivery.
     * @returns a function to call when the body has arrived, or will not arrive.
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
     * Handles a delivery. Forged deliveries have their own rate limit, so that they cannot use up that of a genuine sender.
     * @throws RequestProblem 401, always the same, when the signature does not belong to this webhook; 429 above a limit.
     */
    deliver: (name: string, headers: Headers, bytes: Uint8Array): void => {
      const sender = senders.get(name);
      if (sender === undefined || !isGenuine(sender, headers, bytes)) throw take(forgeries) ? forged() : tooMany();
      const bucket = genuine.get(name) ?? allowance();
      genuine.set(name, bucket);
      if (!take(bucket)) throw tooMany();
      poke(`webhook ${name}`);
    },
    /** Replaces the webhooks. @throws PortolanError `invalid` when a secret is missing or too short; nothing is replaced then. */
    reload: (next: readonly ServerWebhook[]): void => {
      senders = openSenders(next, around);
    },
  };
}

function take(allowance: Allowance): boolean {
  if (allowance.left < 1) return false;
  allowance.use(1);
  return true;
}

function openSenders(settings: readonly ServerWebhook[], { openSecret }: Around): ReadonlyMap<string, Sender> {
  return new Map(
    settings.map(({ name, type, secret }) => {
      const where = `Settings spec.server.webhooks "${name}"`;
      return [name, { type, secret: openStrongSecret(secret, where, openSecret) }];
    }),
  );
}

/** Checks the HMAC-SHA256 of a delivery. GitLab sends its secret instead, which is compared. */
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

/** Returns a function that requests a read of the source at once, at most once in `limits.pokeMs`. Later requests become one. */
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
    detail: 'The delivery was rejected.',
    remedy: 'Compare the name in the address, the type and the secret of the webhook with those in Settings.',
  });

const tooMany = (): RequestProblem =>
  refusal(429, 'server/too-many-deliveries', {
    detail: 'Too many deliveries arrived in a short time, so this one was ignored.',
    remedy: 'Do nothing: Portolan also polls the source.',
    retryAfter: 10,
  });
