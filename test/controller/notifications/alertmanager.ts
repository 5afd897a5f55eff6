import { onTestFinished } from 'vitest';
import type { NotificationRule } from '../../../src/configuration/settings/notifications-spec.ts';
import { startNotifications } from '../../../src/controller/notifications/notifications.ts';
import type { NotificationsOptions } from '../../../src/controller/notifications/receiver.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { seededRandom } from '../../support/virtual-clock.ts';
import { countsInto, logInto } from '../hand-made.ts';

/** An alert as it is posted. */
interface Posted {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt?: string;
  readonly endsAt: string;
}

/**
 * Alertmanager on virtual time, as far as its API tells which alerts fire: it identifies them by their labels, and the last `endsAt` counts
 * (`Alert.Merge` of its package `types`).
 */
export class Alertmanager {
  readonly messages: (readonly Posted[])[] = [];
  readonly bodies: string[] = [];
  /** Time until an answer. */
  answerMs = 50;
  /** The status of its answers. */
  status = 200;
  readonly #clock: Clock;
  readonly #endMs = new Map<string, { readonly posted: Posted; readonly endMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the alerts that fire: names and what is asked of their labels. */
  firing(...labels: readonly string[]): readonly string[] {
    const now = [...this.#endMs.values()].filter(({ endMs }) => endMs > this.#clock.now());
    return now.map(({ posted }) => ['alertname', ...labels].map((name) => posted.labels[name]).join(' ')).sort();
  }

  /** A controller sends to it. @returns ends that, as with its process. */
  listen(
    api: NotificationsOptions['api'],
    rule: Partial<NotificationRule> = {},
    ratePerMinute = 6_000,
  ): { readonly counted: string[]; readonly end: () => Promise<void> } {
    let isEnded = false;
    const counted: string[] = [];
    const notifications = startNotifications({
      api,
      settings: {
        receivers: [
          {
            name: 'pager',
            type: 'alertmanager',
            url: 'http://pager',
            context: '',
            ratePerMinute,
            timeoutMs: 10_000,
            repeatAfterMs: 3_600_000,
          },
        ],
        rules: [{ events: ['*'], severity: 'info', labels: {}, receivers: ['pager'], ...rule }],
      },
      source: 'default',
      outbound: {
        post: async ({ body }) => {
          const { status } = this;
          if (!isEnded && status === 200) this.#take(body);
          await this.#clock.sleep(this.answerMs);
          return { status, text: '', retryAfter: null };
        },
        close: async () => {},
      },
      openSecret: () => {
        throw new Error('it has no secret');
      },
      redact: (text) => text.replaceAll('hunter2', '[secret]'),
      clock: this.#clock,
      random: seededRandom(7),
      log: logInto([]),
      counts: countsInto(counted),
    });
    const end = async (): Promise<void> => {
      isEnded = true;
      await notifications.close(0);
    };
    onTestFinished(end);
    return { counted, end };
  }

  #take(body: string): void {
    const posts = JSON.parse(body) as readonly Posted[];
    this.bodies.push(body);
    this.messages.push(posts);
    for (const posted of posts)
      this.#endMs.set(JSON.stringify(Object.entries(posted.labels).sort()), {
        posted,
        endMs: Date.parse(posted.endsAt),
      });
  }
}
