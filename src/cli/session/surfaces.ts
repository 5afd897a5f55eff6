import { join } from 'node:path';
import { type ControllerApi, joinObservers } from '../../controller/api.ts';
import type { Replicas } from '../../controller/replicas/group.ts';
import { startNotifications } from '../../controller/notifications/notifications.ts';
import type { Settings } from '../../configuration/settings/spec.ts';
import type { Log } from '../../runtime/log.ts';
import { createMetrics, type Metrics } from '../../server/metrics.ts';
import { createTraffic } from '../../server/traffic.ts';
import { startServer } from '../../server/start.ts';
import type { Surroundings } from './command.ts';
import packageFile from '../../../package.json' with { type: 'json' };
import type { SenderOptions } from '../../controller/delivery.ts';
import { startTracing, tracesEndpoint } from '../../controller/tracing/tracing.ts';
import { openSecret } from './secrets.ts';

/** Holds metrics and traces of the daemon. */
export type Observation = ReturnType<typeof openObservation>;

/** Time that the shutdown waits for traces in flight. */
const TRACES_GRACE_MS = 5_000;

/** Returns what senders of notifications and traces need of this process. */
export function senderOptions(surroundings: Surroundings, log: Log, { deliveries }: Metrics): SenderOptions {
  const { clock, random, redaction } = surroundings;
  return {
    openSecret: (reference, where) => openSecret(reference, where, surroundings, log),
    redact: redaction.redact,
    clock,
    random,
    log,
    counts: deliveries,
  };
}

/** Starts metrics and traces. @param settings returns the current settings; the endpoint of traces is read once. */
export function openObservation(settings: () => Settings, log: Log, surroundings: Surroundings) {
  const { clock, env, runtimeVersions } = surroundings;
  const metrics = createMetrics({
    clock,
    concurrency: () => settings().controller.concurrency,
    version: packageFile.version,
    node: runtimeVersions.node,
    process: true,
  });
  const traffic = createTraffic(clock);
  const { traces } = settings().telemetry;
  const endpoint = tracesEndpoint(traces, env);
  const tracing =
    endpoint === undefined
      ? undefined
      : startTracing({
          settings: traces,
          endpoint,
          version: packageFile.version,
          ...senderOptions(surroundings, log, metrics),
        });
  const detach: (() => void)[] = [];
  return {
    metrics,
    traffic,
    observer: joinObservers([
      metrics.observer,
      { request: traffic.request },
      ...(tracing === undefined ? [] : [tracing.observer]),
    ]),
    /** Observes this controller from now on, too. */
    attach(api: ControllerApi): void {
      detach.push(metrics.attach(api));
      if (tracing !== undefined) detach.push(tracing.attach(api));
    },
    async close(): Promise<void> {
      for (const letGo of detach) letGo();
      await tracing?.close(TRACES_GRACE_MS);
    },
  };
}

/** Holds the surfaces of the controller: HTTP API, metrics, notifications. */
export type Surfaces = Awaited<ReturnType<typeof openSurfaces>>;

interface SurfacesOptions {
  readonly api: ControllerApi;
  /** Name of the source, for receivers. */
  readonly source: string;
  readonly settings: Settings;
  readonly observation: Pick<Observation, 'metrics' | 'traffic'>;
  readonly log: Log;
  readonly surroundings: Surroundings;
  /** The processes that share the ledger. Absent: there are none. */
  readonly replicas?: Replicas | undefined;
}

/** Time that the shutdown waits for notifications in flight. */
const NOTIFICATIONS_GRACE_MS = 5_000;

/**
 * Starts the surfaces.
 * @throws PortolanError `invalid` where a secret is missing or the API would be open to all, `give-up` where the address
 * is in use.
 */
export async function openSurfaces(options: SurfacesOptions) {
  const { api, source, settings, observation, log, surroundings, replicas } = options;
  const { metrics, traffic } = observation;
  const sender = senderOptions(surroundings, log, metrics);
  const notify = (receivers: Settings['notifications']) =>
    startNotifications({ api, settings: receivers, source, ...sender });
  let notifications = notify(settings.notifications);
  const render = metrics.render.bind(metrics);
  const server = await startServer({
    ...sender,
    api,
    replicas,
    settings: settings.server,
    metrics: render,
    traffic,
    processFacts: () => ({
      version: packageFile.version,
      node: surroundings.runtimeVersions.node,
      ...surroundings.usage(),
    }),
    // The same place for a run from the source and for the package.
    dashboardFolder: join(surroundings.packageRoot, 'dist', 'dashboard'),
  });
  return {
    /** Address on which the API listens. */
    url: server.url,
    /** Applies changed settings. @throws PortolanError `invalid`; settings that could not be applied stay as before. */
    async reload(changed: Settings): Promise<void> {
      server.reload(changed.server);
      const former = notifications;
      notifications = notify(changed.notifications);
      await former.close(NOTIFICATIONS_GRACE_MS);
    },
    async close(): Promise<void> {
      await Promise.all([server.close(), notifications.close(NOTIFICATIONS_GRACE_MS)]);
    },
  };
}
