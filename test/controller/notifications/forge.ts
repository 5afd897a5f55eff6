import { onTestFinished } from 'vitest';
import type { ControllerApi } from '../../../src/controller/api.ts';
import { startNotifications } from '../../../src/controller/notifications/notifications.ts';
import type { Outbound } from '../../../src/controller/outbound.ts';
import { Secret } from '../../../src/model/secret.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { seededRandom } from '../../support/virtual-clock.ts';
import { countsInto, logInto } from '../hand-made.ts';

const ANSWER_MS = 50;

/** A forge on virtual time to which a controller sends the statuses of its commits. @returns the states of a commit, oldest first. */
export function startForge(api: ControllerApi, clock: Clock): (commit: string) => readonly string[] {
  const states: { readonly url: string; readonly state: string }[] = [];
  const outbound: Outbound = {
    async post({ url, body }) {
      if (typeof url === 'string') states.push({ url, state: (JSON.parse(body) as { readonly state: string }).state });
      await clock.sleep(ANSWER_MS);
      return { status: 201, text: '{}', retryAfter: null };
    },
    close: async () => {},
  };
  const notifications = startNotifications({
    api,
    settings: {
      receivers: [
        {
          name: 'forge',
          type: 'github',
          url: 'http://forge',
          repository: 'acme/shop',
          token: { env: 'TOKEN' },
          context: 'portolan',
          ratePerMinute: 6_000,
          timeoutMs: 10_000,
          repeatAfterMs: 3_600_000,
        },
      ],
      rules: [{ events: ['*'], severity: 'info', labels: {}, receivers: ['forge'] }],
    },
    source: 'default',
    outbound,
    openSecret: () => () => new Secret('token', 'environment variable TOKEN'),
    redact: (text) => text,
    clock,
    random: seededRandom(7),
    log: logInto([]),
    counts: countsInto([]),
  });
  onTestFinished(() => notifications.close(0));
  return (commit) => states.filter(({ url }) => url.endsWith(`/statuses/${commit}`)).map(({ state }) => state);
}
