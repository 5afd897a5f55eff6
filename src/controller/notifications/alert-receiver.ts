import type { NotificationRule, ReceiverSettings } from '../../configuration/settings/notifications-spec.ts';
import { parseScopeKey } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Secret } from '../../model/secret.ts';
import type { ControllerEvent, ControllerStatus } from '../../model/status.ts';
import { after, NOT_NEEDED } from '../../runtime/clock.ts';
import type { Standing } from '../api.ts';
import { Delivery } from '../delivery.ts';
import type { OutboundMessage, Post } from '../outbound.ts';
import { LoopBugs } from '../bugs.ts';
import { platformUnit, sourceUnit } from '../replicas/leadership.ts';
import { type AlertClass, alertChanges, alertText, endedText, subjectOf } from './alert.ts';
import { type AlertBatch, AlertBook, type AlertUnit, EXPIRES_MS, type OpenAlert, type ShownBy } from './alert-book.ts';
import { type NotificationsOptions, queueOf, type Receiver, redactedOnce } from './receiver.ts';
import { forgetFirst, matchesRule } from './rules.ts';
import { standingEvents, standsFor, standsForRegion, standsForSource } from './standing-alerts.ts';

/** Alerts that stand are sent at this interval. */
const RENEW_MS = 60_000;
/** Applications with alerts that are compared before the event loop turns. */
const PART_SIZE = 64;
/** Own events that are remembered until they arrive once more among those of all processes. */
const OWN_MAX = 5_000;

/** A message that waits. Its alerts are chosen when it is sent. */
interface WaitingMessage {
  batch?: AlertBatch;
}

/**
 * Returns a receiver that sends the alerts which stand, as Prometheus does: every minute, with a time at which they expire soon. Events
 * only make that earlier. The rules apply to the event that starts an alert.
 */
export function alertReceiver(
  spec: ReceiverSettings,
  rules: readonly NotificationRule[],
  options: NotificationsOptions,
  post: Post,
  token: (() => Secret) | undefined,
): Receiver {
  const { api, clock } = options;
  const book = new AlertBook(clock, (unit) => unit === 'here' || api.leads(unit));
  const alerts = new FoundAlerts(book, spec, rules, options);
  const roundMs = (): number => (book.messages * 60_000) / spec.ratePerMinute;
  const queue: Delivery<WaitingMessage> = new Delivery<WaitingMessage>({
    ...queueOf(spec, options, post),
    isNews: () => book.hasDue,
    write(message) {
      message.batch ??= book.take();
      if (book.hasDue) sendDue();
      const posts = book.posts(message.batch, roundMs());
      return posts.length === 0 ? undefined : alertsMessage(spec, posts, token?.());
    },
    delivered: ({ batch = [] }) => book.delivered(batch),
  });
  const sendDue = (): void => queue.push('alerts', {});
  const ended = new AbortController();
  const bugs = new LoopBugs(options.log);
  const renewLater = (): void =>
    after(clock, RENEW_MS, ended.signal, () => {
      void alerts
        .compare()
        // A bug must not end this: the receiver ends all alerts that are not sent again.
        .catch((error: unknown) => bugs.note(error))
        .then(() => {
          book.renew();
          sendDue();
          if (!ended.signal.aborted) renewLater();
        });
    });
  for (const event of api.events.since(0, Number.POSITIVE_INFINITY).events)
    alerts.note(event, redactedOnce(event, options.redact), 'other');
  renewLater();

  const own = new Map<string, true>();
  return {
    receive(event, redactedEvent) {
      if (alertChanges(event).length === 0) return;
      own.set(event.id, true);
      forgetFirst(own, OWN_MAX);
      alerts.note(event, redactedEvent, 'own');
      if (book.hasDue) sendDue();
    },
    follow(event, redactedEvent) {
      if (!own.delete(event.id)) alerts.note(event, redactedEvent, 'other');
    },
    close: (graceMs) => {
      ended.abort(NOT_NEEDED);
      return queue.close(graceMs);
    },
  };
}

function alertsMessage({ url = '' }: ReceiverSettings, posts: readonly JsonObject[], token?: Secret): OutboundMessage {
  return {
    url: `${url.replace(/\/+$/, '')}/api/v2/alerts`,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: { prefix: 'Bearer ', value: token } }),
    },
    body: JSON.stringify(posts),
  };
}

/** Finds the alerts of one receiver, in events and in the status. */
class FoundAlerts {
  readonly #book: AlertBook;
  readonly #spec: ReceiverSettings;
  readonly #rules: readonly NotificationRule[];
  readonly #options: NotificationsOptions;
  /** Until then, Alertmanager may have alerts of an earlier process that this one does not know. */
  readonly #youngUntilMs: number;
  #isFull = false;

  constructor(
    book: AlertBook,
    spec: ReceiverSettings,
    rules: readonly NotificationRule[],
    options: NotificationsOptions,
  ) {
    this.#book = book;
    this.#spec = spec;
    this.#rules = rules;
    this.#options = options;
    this.#youngUntilMs = options.clock.monotonic() + EXPIRES_MS;
  }

  /** Notes which alerts an event starts and ends. Only the process that published it sends an end. */
  note(event: ControllerEvent, redactedEvent: () => ControllerEvent, by: ShownBy): void {
    for (const { type, alert } of alertChanges(event)) {
      // Each process has its own configuration.
      if (by === 'other' && unitOf(alert) === 'here') continue;
      if (type === 'starts') this.#show(alert, event, redactedEvent, by);
      else this.#end(alert, event, redactedEvent, by);
    }
  }

  /** Compares the alerts with the status: some alerts stand of which no event is known, and others have ended without one. */
  async compare(): Promise<void> {
    const { api, clock, redact } = this.#options;
    let status: ControllerStatus | undefined;
    const statusNow = (): ControllerStatus => (status ??= api.status());
    const asked = new Set([...this.#book.open()].map(({ subject }) => subject.application));
    const found = new Map<string, Standing>();
    const nowMs = clock.now();
    let shown = 0;
    for (const standing of api.standings()) {
      const events = standingEvents(standing, nowMs);
      if (events.length > 0 || asked.has(standing.id)) found.set(standing.id, standing);
      for (const event of events) this.note(event, redactedOnce(event, redact), 'status');
      if (events.length === 0) continue;
      // The texts of a fleet that has drifted as a whole take longer than the event loop should wait.
      shown += 1;
      if (shown % PART_SIZE === 0) await clock.sleep(0);
    }
    for (const open of this.#book.open()) {
      const { application } = open.subject;
      const standing = application === null ? undefined : found.get(application);
      const stands = this.#stands(open, standing, statusNow);
      if (standing !== undefined) open.unit = platformUnit(standing.status.platform);
      if (stands === false) this.#book.refute(open);
      else if (stands) this.#book.confirm(open);
    }
  }

  #stands(
    { subject, notedMs, unit }: OpenAlert,
    standing: Standing | undefined,
    status: () => ControllerStatus,
  ): boolean | undefined {
    if (unit === 'here') return true;
    if (standing !== undefined) return standsFor(subject, standing, notedMs);
    // Applications are unknown before this process follows the source. Later, one that is missing was removed from git.
    if (status().phase === 'starting') return undefined;
    if (subject.application !== null) return false;
    if (subject.details['region'] !== undefined) return standsForRegion(subject, status().regions);
    return subject.alert.starts.startsWith('source.') ? standsForSource(status().source) : undefined;
  }

  #show(alert: AlertClass, event: ControllerEvent, redactedEvent: () => ControllerEvent, by: ShownBy): void {
    const subject = subjectOf(alert, event);
    const isKnown = this.#book.has(subject);
    if ((isKnown && by === 'status') || !this.#isWanted(alert, event)) return;
    const { counts, log, source } = this.#options;
    if (isKnown || !this.#book.isFull) {
      const text = alertText(alert, redactedEvent(), source, this.#spec.link);
      this.#book.show({ subject, text, atMs: event.atMs, unit: this.#unitOf(alert, event) }, by);
      return;
    }
    if (by === 'own') counts.dropped(this.#spec.name, 'overflow');
    if (!this.#isFull)
      log.warn('more alerts stand than a receiver can get: the newest are left out. Narrow its rules', {
        receiver: this.#spec.name,
      });
    this.#isFull = true;
  }

  #end(alert: AlertClass, event: ControllerEvent, redactedEvent: () => ControllerEvent, by: ShownBy): void {
    const subject = subjectOf(alert, event);
    const isYoung = this.#options.clock.monotonic() < this.#youngUntilMs;
    const mayBeKnown = this.#book.has(subject) || (isYoung && this.#isWanted(alert, event));
    if (by === 'own' && !mayBeKnown) return;
    this.#book.end(subject, event.atMs, (open) => {
      if (by !== 'own') return undefined;
      const safe = redactedEvent();
      return endedText(open ?? alertText(alert, safe, this.#options.source, this.#spec.link), safe);
    });
  }

  #isWanted({ starts, severity }: AlertClass, event: ControllerEvent): boolean {
    return this.#rules.some((rule) => matchesRule(rule, { ...event, type: starts, severity }));
  }

  #unitOf(alert: AlertClass, { application, scope, detail }: ControllerEvent): AlertUnit {
    const { api, source } = this.#options;
    const unit = unitOf(alert);
    if (unit === 'here') return unit;
    const named = (detail as { readonly platform?: unknown } | null)?.platform;
    const platform =
      (application === null ? undefined : api.application(application)?.platform) ??
      (scope === null ? undefined : parseScopeKey(scope)?.platform) ??
      (typeof named === 'string' ? named : undefined);
    return platform === undefined ? sourceUnit(source) : platformUnit(platform);
  }
}

/** Returns `here` for alerts about the process itself. */
function unitOf({ starts }: AlertClass): 'here' | undefined {
  return starts.startsWith('controller.') ? 'here' : undefined;
}
