import type { ControllerApi } from '../../controller/api.ts';
import { startNotifications } from '../../controller/notifications/notifications.ts';
import type { Settings } from '../../configuration/settings/spec.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../server/metrics.ts';
import { startServer } from '../../server/start.ts';
import type { Surroundings } from './command.ts';
import { senderOptions } from './observation.ts';

/** What looks at the controller from outside: the HTTP API, metrics, notifications. */
export interface Surfaces {
  /** Where the API listens. */
  readonly url: string;
  /** Takes changed settings. @throws PortolanError `invalid`; what could not be taken is as before then. */
  reload(settings: Settings): Promise<void>;
  close(): Promise<void>;
}

export interface SurfacesOptions {
  readonly api: ControllerApi;
  readonly settings: Settings;
  /** Name of the source, for receivers. */
  readonly source: string;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly surroundings: Surroundings;
}

/** How long the end waits for notifications that are on their way. */
const NOTIFICATIONS_GRACE_MS = 5_000;

/** @throws PortolanError `invalid` where a secret is missing or it would be open to all, `give-up` where the address is taken. */
export async function openSurfaces(options: SurfacesOptions): Promise<Surfaces> {
  const { api, source, metrics, log, surroundings } = options;
  const sender = senderOptions(surroundings, log, metrics);
  const notify = ({ notifications }: Settings) =>
    startNotifications({
      api,
      settings: notifications,
      source,
      ...sender,
    });
  let notifications = notify(options.settings);
  const server = await startServer({
    api,
    settings: options.settings.server,
    openSecret: sender.openSecret,
    log,
    metrics: (run) => metrics.render(run),
    clock: sender.clock,
    redact: sender.redact,
  });
  return {
    url: server.url,
    async reload(settings) {
      server.reload(settings.server);
      const next = notify(settings);
      const former = notifications;
      notifications = next;
      await former.close(NOTIFICATIONS_GRACE_MS);
    },
    async close() {
      await Promise.all([server.close(), notifications.close(NOTIFICATIONS_GRACE_MS)]);
    },
  };
}
