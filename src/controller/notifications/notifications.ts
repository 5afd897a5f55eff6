import type {
  NotificationRule,
  NotificationsSettings,
  ReceiverSettings,
} from '../../configuration/settings/notifications-spec.ts';
import type { Secret } from '../../model/secret.ts';
import type { ControllerEvent } from '../../model/status.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { ControllerApi } from '../api.ts';
import { Delivery, type SenderOptions } from '../delivery.ts';
import { createOutbound, type OutboundMessage, type Post } from '../outbound.ts';
import {
  commitOf,
  type CommitVerdict,
  commitVerdict,
  isSetAlready,
  refusal,
  statusMessage,
  superseded,
} from './commit-status.ts';
import { cloudEvent, redacted, slackMessage, type Told } from './payload.ts';
import { matchesRule, createRepeats } from './rules.ts';

export interface NotificationsOptions extends SenderOptions {
  readonly api: Pick<ControllerApi, 'events' | 'status' | 'applications'>;
  readonly settings: NotificationsSettings;
  /** Name of the source of manifests. */
  readonly source: string;
}

/** Messages that may wait for one receiver; then the oldest are dropped. */
const WAITING_MAX = 200;
/** A commit's status whose state stays the same is told again with other words only after this. */
const PROGRESS_MS = 60_000;
/** Commits whose last status is remembered. */
const COMMITS_MAX = 50;

/** One receiver: hears every event, and takes what its rules mean. */
interface Receiver {
  /** @param told gives the event without secrets. */
  hear(event: ControllerEvent, told: () => ControllerEvent): void;
  close(graceMs: number): Promise<void>;
}

/**
 * Tells receivers what happens. Hearing an event only puts it into the queue of each receiver that it goes to; whatever
 * a receiver does or does not do, neither the controller nor another receiver waits for it.
 * @throws PortolanError `secret/missing` when a reference of a receiver leads nowhere.
 */
export function startNotifications(options: NotificationsOptions) {
  const { settings, api, clock, redact } = options;
  const outbound = createOutbound(clock);
  const receivers = settings.receivers.flatMap((spec) => {
    const rules = settings.rules.filter((rule) => rule.receivers.includes(spec.name));
    return rules.length === 0 ? [] : [openReceiver(spec, rules, options, outbound.post)];
  });
  const unsubscribe =
    receivers.length === 0
      ? () => {}
      : api.events.subscribe((event) => {
          let safe: ControllerEvent | undefined;
          // Made when the first one wants it: most events are for nobody, and the controller waits for this call.
          const told = (): ControllerEvent => (safe ??= redacted(event, redact));
          for (const receiver of receivers) receiver.hear(event, told);
        });
  return {
    /** Hears no more events, tells what waits as long as `graceMs` lasts, and lets go of the rest. */
    async close(graceMs: number): Promise<void> {
      unsubscribe();
      await Promise.all(receivers.map((receiver) => receiver.close(graceMs)));
      await outbound.close();
    },
  };
}

function openReceiver(
  spec: ReceiverSettings,
  rules: readonly NotificationRule[],
  options: NotificationsOptions,
  post: Post,
): Receiver {
  const { type } = spec;
  const secret = (field: 'urlFrom' | 'secret' | 'token'): (() => Secret) | undefined => {
    const reference = spec[field];
    return reference && options.openSecret(reference, `Settings notifications receiver ${spec.name} ${field}`);
  };
  switch (type) {
    case 'webhook': {
      const [address, key, token] = [secret('urlFrom'), secret('secret'), secret('token')];
      return eventReceiver(spec, rules, options, post, (told) => ({
        url: address?.() ?? spec.url ?? '',
        headers: {
          'content-type': 'application/cloudevents+json; charset=utf-8',
          ...(token === undefined ? {} : { authorization: { prefix: 'Bearer ', value: token() } }),
        },
        body: JSON.stringify(cloudEvent(told, options.source)),
        ...(key === undefined ? {} : { signature: { header: 'x-portolan-signature', key: key() } }),
      }));
    }
    case 'slack': {
      const address = secret('urlFrom');
      return eventReceiver(spec, rules, options, post, (told) => ({
        url: address?.() ?? '',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(slackMessage(told)),
      }));
    }
    case 'github':
    case 'gitlab':
    case 'gitea': {
      const token = secret('token');
      if (token === undefined) throw new Error(`the checks let receiver ${spec.name} pass without a token`);
      return statusReceiver(spec, rules, options, post, (verdict) => statusMessage(type, spec, verdict, token()));
    }
    default:
      return unreachable(type);
  }
}

/** What all queues have in common. */
function queueOf({ name, ratePerMinute, timeoutMs }: ReceiverSettings, options: NotificationsOptions, post: Post) {
  return { ...options, receiver: name, capacity: WAITING_MAX, ratePerMinute, timeoutMs, post };
}

function eventReceiver(
  spec: ReceiverSettings,
  rules: readonly NotificationRule[],
  options: NotificationsOptions,
  post: Post,
  write: (told: Told) => OutboundMessage,
): Receiver {
  const repeatsOf = createRepeats(spec.repeatAfterMs, options.clock);
  const queue = new Delivery<Told>({ ...queueOf(spec, options, post), write });
  return {
    hear(event, told) {
      if (!rules.some((rule) => matchesRule(rule, event))) return;
      const safe = told();
      const repeats = repeatsOf(safe);
      if (repeats === undefined) options.counts.collapsed(spec.name);
      else queue.push(event.id, { event: safe, repeats });
    },
    close: (graceMs) => queue.close(graceMs),
  };
}

/** `now`: of the accepted commit, as it stands when it is told. */
type StatusItem = { readonly type: 'now' } | { readonly type: 'fixed'; readonly verdict: CommitVerdict };

/** What was told of the last commits, and what there is to tell. */
function createToldStatuses({ api, clock }: NotificationsOptions, labels: Readonly<Record<string, string>>) {
  // By commit: one that was refused is told of in between, and does not make the accepted one news again.
  const toldOf = new Map<string, { readonly verdict: CommitVerdict; readonly atMs: number }>();
  const verdictOf = (item: StatusItem): CommitVerdict | undefined => {
    if (item.type === 'fixed') return item.verdict;
    const { phase, source } = api.status();
    // Before the source was read there are no applications, and all of none are as git says.
    return phase === 'starting' ? undefined : commitVerdict(source, api.applications(), labels);
  };
  const isNews = (item: StatusItem): boolean => {
    const verdict = verdictOf(item);
    if (verdict === undefined) return false;
    const told = toldOf.get(verdict.commit);
    if (told?.verdict.state !== verdict.state) return true;
    if (told.verdict.description === verdict.description) return false;
    return item.type === 'fixed' || clock.monotonic() - told.atMs >= PROGRESS_MS;
  };

  return {
    verdictOf,
    isNews,
    add(verdict: CommitVerdict): void {
      toldOf.delete(verdict.commit);
      toldOf.set(verdict.commit, { verdict, atMs: clock.monotonic() });
      const [oldest] = toldOf.keys();
      if (toldOf.size > COMMITS_MAX && oldest !== undefined) toldOf.delete(oldest);
    },
    stateOf: (commit: string) => toldOf.get(commit)?.verdict.state,
  };
}

/**
 * Sets one status per commit. Level-triggered: an event only says that there may be something to tell, and what is told
 * is how things stand when its turn comes.
 */
function statusReceiver(
  spec: ReceiverSettings,
  rules: readonly NotificationRule[],
  options: NotificationsOptions,
  post: Post,
  write: (verdict: CommitVerdict) => OutboundMessage,
): Receiver {
  const { redact } = options;
  // Several rules: what any of them means counts, so labels narrow only where there is one rule.
  const labels = rules.length === 1 ? (rules[0]?.labels ?? {}) : {};
  const told = createToldStatuses(options, labels);
  let following: { readonly commit: string; readonly revision: string } | undefined;

  let sending: CommitVerdict | undefined;
  const queue: Delivery<StatusItem> = new Delivery<StatusItem>({
    ...queueOf(spec, options, post),
    isNews: told.isNews,
    write(item) {
      sending = told.verdictOf(item);
      return sending && write({ ...sending, description: redact(sending.description) });
    },
    delivered() {
      if (sending !== undefined) told.add(sending);
    },
    isGood: (answer) => spec.type === 'gitlab' && isSetAlready(answer),
  });

  return {
    hear(event) {
      const commit = commitOf(event.revision);
      if (event.type === 'source.refused' && commit !== undefined) {
        queue.push(`refused ${commit}`, { type: 'fixed', verdict: refusal(commit, event.message) });
        return;
      }
      if (event.type === 'source.accepted' && commit !== undefined && event.revision !== null) {
        const former = following;
        const isOpen = former !== undefined && told.stateOf(former.commit) === 'pending';
        following = { commit, revision: event.revision };
        if (isOpen && former.commit !== commit) {
          const verdict = superseded(former.commit, event.revision);
          queue.push(`superseded ${former.commit}`, { type: 'fixed', verdict });
        }
      }
      queue.push('now', { type: 'now' });
    },
    close: (graceMs) => queue.close(graceMs),
  };
}
