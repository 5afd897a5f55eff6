import type { NotificationRule, ReceiverSettings } from '../../configuration/settings/notifications-spec.ts';
import type { Secret } from '../../model/secret.ts';
import { unreachable } from '../../model/unreachable.ts';
import { after, NOT_NEEDED } from '../../runtime/clock.ts';
import { Delivery } from '../delivery.ts';
import { createOutbound, type OutboundMessage, type Post } from '../outbound.ts';
import {
  type CommitVerdict,
  commitVerdict,
  isSetAlready,
  refusal,
  statusMessage,
  superseded,
} from './commit-status.ts';
import { alertReceiver } from './alert-receiver.ts';
import { commitOf } from '../../model/revision.ts';
import { cloudEvent, slackMessage, type Notice } from './payload.ts';
import { type NotificationsOptions, queueOf, type Receiver, redactedOnce } from './receiver.ts';
import { matchesRule, createRepeats, forgetFirst } from './rules.ts';

/** Minimum time between two updates of a commit's status that change only the description. */
const PROGRESS_MS = 60_000;
/** Interval of checks without an event: a pass that finds all in sync publishes none, and another replica may have done the last pass. */
const CHECK_EVERY_MS = 10_000;
/** A status that was not delivered is not sent again before this time, unless there is an event. */
const RETRY_MS = 600_000;
/** Commits whose last status is remembered. */
const COMMITS_MAX = 50;

/**
 * Sends events to receivers. Publishing an event only adds it to the queues of its receivers, so neither the controller
 * nor another receiver waits for a slow one.
 * @throws PortolanError `secret/missing` when a reference of a receiver has no secret.
 */
export function startNotifications(options: NotificationsOptions) {
  const { settings, api, clock, redact } = options;
  const outbound = options.outbound ?? createOutbound(clock);
  const receivers = settings.receivers.flatMap((spec) => {
    const rules = settings.rules.filter((rule) => rule.receivers.includes(spec.name));
    return rules.length === 0 ? [] : [openReceiver(spec, rules, options, outbound.post)];
  });
  const unsubscribe = (['own', 'all'] as const).flatMap((of) => {
    const listening = receivers.flatMap((receiver) => receiver[of === 'own' ? 'receive' : 'follow'] ?? []);
    if (listening.length === 0) return [];
    return api.events.subscribe((event) => {
      const redactedEvent = redactedOnce(event, redact);
      for (const listen of listening) listen(event, redactedEvent);
    }, of);
  });
  return {
    /** Ends the subscriptions, sends what waits within `graceMs`, and drops the rest. */
    async close(graceMs: number): Promise<void> {
      for (const end of unsubscribe) end();
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
      return eventReceiver(spec, rules, options, post, (notice) => ({
        url: address?.() ?? spec.url ?? '',
        headers: {
          'content-type': 'application/cloudevents+json; charset=utf-8',
          ...(token === undefined ? {} : { authorization: { prefix: 'Bearer ', value: token() } }),
        },
        body: JSON.stringify(cloudEvent(notice, options.source)),
        ...(key === undefined ? {} : { signature: { header: 'x-portolan-signature', key: key() } }),
      }));
    }
    case 'slack': {
      const address = secret('urlFrom');
      return eventReceiver(spec, rules, options, post, (notice) => ({
        url: address?.() ?? '',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(slackMessage(notice, spec)),
      }));
    }
    case 'alertmanager':
      return alertReceiver(spec, rules, options, post, secret('token'));
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

function eventReceiver(
  spec: ReceiverSettings,
  rules: readonly NotificationRule[],
  options: NotificationsOptions,
  post: Post,
  write: (notice: Notice) => OutboundMessage,
): Receiver {
  const repeatsOf = createRepeats(spec.repeatAfterMs, options.clock);
  const queue = new Delivery<Notice>({ ...queueOf(spec, options, post), write });
  return {
    receive(event, redactedEvent) {
      if (!rules.some((rule) => matchesRule(rule, event))) return;
      const safe = redactedEvent();
      const repeats = repeatsOf(safe);
      if (repeats === undefined) options.counts.collapsed(spec.name);
      else queue.push(event.id, { event: safe, repeats });
    },
    close: (graceMs) => queue.close(graceMs),
  };
}

/**
 * `now`: the status of the accepted commit at the time it is sent. `result`: the same, but only a process that has sent a status of the
 * commit sends that it is pending. One that lags behind other replicas would send it after their result.
 */
type StatusItem = { readonly type: 'now' | 'result' } | { readonly type: 'fixed'; readonly verdict: CommitVerdict };

/** Remembers the statuses of the last commits, and decides whether there is a new one to send. */
function createSentStatuses({ api, clock }: NotificationsOptions, labels: Readonly<Record<string, string>>) {
  // Kept by commit: the status of a rejected commit does not make the status of the accepted one news again.
  const sentByCommit = new Map<string, { readonly verdict: CommitVerdict; readonly atMs: number }>();
  let tried: { readonly text: string; readonly atMs: number } | undefined;
  const isTried = (verdict: CommitVerdict): boolean =>
    tried?.text === textOf(verdict) && clock.monotonic() - tried.atMs < RETRY_MS;
  const verdictOf = (item: StatusItem): CommitVerdict | undefined => {
    if (item.type === 'fixed') return item.verdict;
    const { phase, source } = api.status();
    // Before the source was read there are no applications, which would count as success.
    const verdict = phase === 'starting' ? undefined : commitVerdict(source, api.applications(), labels);
    const isLeftOut = item.type === 'result' && verdict?.state === 'pending' && !sentByCommit.has(verdict.commit);
    return isLeftOut ? undefined : verdict;
  };
  const isNews = (item: StatusItem): boolean => {
    const verdict = verdictOf(item);
    if (verdict === undefined || (item.type === 'result' && isTried(verdict))) return false;
    const sent = sentByCommit.get(verdict.commit);
    if (sent?.verdict.state !== verdict.state) return true;
    if (sent.verdict.description === verdict.description) return false;
    return item.type === 'fixed' || clock.monotonic() - sent.atMs >= PROGRESS_MS;
  };

  return {
    isNews,
    /** Returns the status to send now; undefined: there is none. */
    take(item: StatusItem): CommitVerdict | undefined {
      const verdict = verdictOf(item);
      if (verdict !== undefined) tried = { text: textOf(verdict), atMs: clock.monotonic() };
      return verdict;
    },
    add(verdict: CommitVerdict): void {
      sentByCommit.delete(verdict.commit);
      sentByCommit.set(verdict.commit, { verdict, atMs: clock.monotonic() });
      forgetFirst(sentByCommit, COMMITS_MAX);
    },
    stateOf: (commit: string) => sentByCommit.get(commit)?.verdict.state,
  };
}

function textOf({ commit, state, description }: CommitVerdict): string {
  return `${commit} ${state} ${description}`;
}

/**
 * Returns a receiver that sets one status per commit. An event only triggers a check, as time does. The status that is sent is the
 * one at the time of sending.
 */
function statusReceiver(
  spec: ReceiverSettings,
  rules: readonly NotificationRule[],
  options: NotificationsOptions,
  post: Post,
  write: (verdict: CommitVerdict) => OutboundMessage,
): Receiver {
  const { redact, clock } = options;
  // With several rules, an application counts if any rule matches it, so labels narrow the choice only for a single
  // rule.
  const labels = rules.length === 1 ? (rules[0]?.labels ?? {}) : {};
  const statuses = createSentStatuses(options, labels);
  let following: { readonly commit: string; readonly revision: string } | undefined;

  let sending: CommitVerdict | undefined;
  const queue: Delivery<StatusItem> = new Delivery<StatusItem>({
    ...queueOf(spec, options, post),
    isNews: statuses.isNews,
    write(item) {
      sending = statuses.take(item);
      return sending && write({ ...sending, description: redact(sending.description) });
    },
    delivered() {
      if (sending !== undefined) statuses.add(sending);
    },
    isGood: (answer) => spec.type === 'gitlab' && isSetAlready(answer),
  });
  const ended = new AbortController();
  const checkLater = (): void =>
    after(clock, CHECK_EVERY_MS, ended.signal, () => {
      queue.push('result', { type: 'result' });
      checkLater();
    });
  checkLater();

  return {
    receive(event) {
      const commit = commitOf(event.revision);
      if (event.type === 'source.refused' && commit !== undefined) {
        queue.push(`refused ${commit}`, { type: 'fixed', verdict: refusal(commit, event.message) });
        return;
      }
      if (event.type === 'source.accepted' && commit !== undefined && event.revision !== null) {
        const former = following;
        const isOpen = former !== undefined && statuses.stateOf(former.commit) === 'pending';
        following = { commit, revision: event.revision };
        if (isOpen && former.commit !== commit) {
          const verdict = superseded(former.commit, event.revision);
          queue.push(`superseded ${former.commit}`, { type: 'fixed', verdict });
        }
      }
      queue.push('now', { type: 'now' });
    },
    close: (graceMs) => {
      ended.abort(NOT_NEEDED);
      return queue.close(graceMs);
    },
  };
}
