import type { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { ControllerApi } from '../controller/api.ts';
import type { Replicas } from '../controller/replicas/group.ts';
import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import { invalidInput } from '../model/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { createApp, type Gate } from './app.ts';
import { readTls } from './certificates.ts';
import { limitConnections } from './connections.ts';
import { type Dashboard, loadDashboard } from './dashboard.ts';
import { watchHealth } from './health.ts';
import { isLoopback, parseListen } from './hosts.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { cannotListen, urlOf } from './listening.ts';
import * as refusals from './refusals.ts';
import { createPace, type Pace } from './pace.ts';
import { createPlanGate } from './plan-gate.ts';
import { createAuthorizer } from './permissions.ts';
import type { ProcessFacts, RenderMetrics, Services } from './route.ts';
import { routes } from './routes/table.ts';
import { createScrapes } from './scrapes.ts';
import { openSignIn } from './sign-in/configuration.ts';
import { SharedSessionStore } from './sign-in/shared-sessions.ts';
import { SignIn, type SignInConfiguration } from './sign-in/sign-in.ts';
import { createStreams } from './streams.ts';
import type { Traffic } from './traffic.ts';
import { type OpenSecret, openTokens, type Tokens } from './tokens.ts';
import { createUnsent } from './unsent.ts';
import { createWebhooks } from './webhooks.ts';

export interface ServerOptions {
  readonly api: ControllerApi;
  readonly settings: ServerSettings;
  readonly openSecret: OpenSecret;
  readonly log: Log;
  readonly metrics: RenderMetrics;
  readonly traffic: Traffic;
  readonly processFacts: () => ProcessFacts;
  readonly clock: Clock;
  readonly random: Random;
  /** Masks secrets that reached an answer by mistake. */
  readonly redact: (text: string) => string;
  readonly limits?: Partial<ServerLimits>;
  /** Folder of the built dashboard. Absent: none is served. */
  readonly dashboardFolder?: string;
  /** The processes that share the ledger. Absent: there are none. */
  readonly replicas?: Pick<Replicas, 'shared' | 'leaseMs'> | undefined;
}

export interface RunningServer {
  /** `http://127.0.0.1:7780`, without a slash at the end. */
  readonly url: string;
  /**
   * Replaces tokens, webhooks, host names, certificates and limits. Ends all streams, so that none stays open whose token was
   * removed. A change of the address needs a restart.
   * @throws PortolanError `invalid`. Nothing is replaced then.
   */
  reload(settings: ServerSettings): void;
  /** Accepts no more requests, ends streams, and waits a few seconds for open requests. */
  close(): Promise<void>;
}

/**
 * Starts the HTTP API.
 * @throws PortolanError `invalid` when it would be open to the network, or a secret or certificate cannot be used;
 * `give-up` when the address is in use.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { settings, log, clock, redact, dashboardFolder } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const stop = new AbortController();
  const address = parseListen(settings.listen);
  let entrance = openEntrance(settings, options, stop.signal);
  checkExposure(address, settings, log);
  const tls = readTls(settings);
  const pace = createPace(clock, limits);
  const services = openServices(options, { limits, pace, signal: stop.signal, isTls: tls !== undefined, entrance });
  const { streams, webhooks, signIn } = services;
  const app = createApp({
    routes,
    services,
    pace,
    unsent: createUnsent(limits.unsentBytes),
    gate: () => entrance.gate,
    log,
    redact,
    signal: stop.signal,
    tls,
    dashboard: openDashboard(dashboardFolder, log),
  });
  const connections = limitConnections(app.server, limits, settings);
  await listen(app, address, settings, stop);
  const url = urlOf(app.server, settings);
  log.info('server: listening', { url, tokens: settings.tokens.length });
  let closing: Promise<void> | undefined;
  return {
    url,
    reload: (next) => {
      const nextEntrance = openEntrance(next, options, stop.signal);
      const nextTls = readTls(next);
      webhooks.reload(next.webhooks);
      entrance = nextEntrance;
      signIn.reload(nextEntrance.signIn);
      if (nextTls !== undefined && tls !== undefined) (app.server as unknown as TlsServer).setSecureContext(nextTls);
      connections.configure(next);
      streams.setMax(next.maxStreams);
      streams.endAll();
    },
    close: () => (closing ??= closeApp(app, stop, () => streams.endAll(), clock, limits)),
  };
}

/** The part of the settings that decides who is let in. */
interface Entrance {
  readonly gate: Gate;
  readonly signIn: SignInConfiguration;
}

/** @throws PortolanError `invalid` when a secret or a certificate cannot be used. */
function openEntrance(settings: ServerSettings, options: ServerOptions, signal: AbortSignal): Entrance {
  const tokens = openTokens(settings.tokens, options.openSecret);
  const gate = gateOf(settings, tokens, options.dashboardFolder !== undefined);
  const { permissionsOf } = gate;
  return { gate, signIn: openSignIn(settings, { ...tokens, permissionsOf }, { ...options, signal }) };
}

interface ServiceParts {
  readonly limits: ServerLimits;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  readonly isTls: boolean;
  readonly entrance: Entrance;
}

function openServices(options: ServerOptions, { limits, pace, signal, isTls, entrance }: ServiceParts): Services {
  const { api, settings, openSecret, log, metrics, clock, random, redact, traffic, processFacts, replicas } = options;
  const poke = (because: string): void => {
    // The source is polled too, so a hint may be lost.
    api
      .pokeSource(because)
      .catch((error: unknown) => log.warn('server: the source was not read', { reason: String(error) }));
  };
  return {
    api,
    clock,
    limits,
    health: watchHealth(api, clock, signal),
    streams: createStreams({ clock, limits, pace, redact }, settings.maxStreams),
    webhooks: createWebhooks(settings.webhooks, { clock, limits, openSecret, signal, poke }),
    metrics: createScrapes({ render: metrics, clock, pace, redact, reuseMs: limits.metricsReuseMs, signal }),
    plans: createPlanGate(limits),
    signIn: new SignIn({
      configuration: entrance.signIn,
      isTls,
      limits,
      clock,
      random,
      log,
      sessions:
        replicas && ((sessions) => new SharedSessionStore({ ...replicas, clock, random, settings: sessions, signal })),
    }),
    traffic,
    processFacts,
  };
}

type Address = ReturnType<typeof parseListen>;

async function listen(
  app: FastifyInstance,
  { host, port }: Address,
  settings: ServerSettings,
  stop: AbortController,
): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    stop.abort(new Error('the server did not start'));
    await app.close();
    throw cannotListen(settings, error);
  }
}

/** Reads the dashboard, also when it is off: a reload may switch it on. */
function openDashboard(folder: string | undefined, log: Log): Dashboard | undefined {
  if (folder === undefined) return undefined;
  const dashboard = loadDashboard(folder);
  if (dashboard === undefined)
    log.warn('server: the dashboard was not built, so its pages are missing (npm run build)', { folder });
  return dashboard;
}

function gateOf(settings: ServerSettings, { ownerOfHeader }: Tokens, hasDashboard: boolean): Gate {
  const publicUrl = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl);
  const publicHost = publicUrl === undefined ? [] : [publicUrl.hostname];
  const names = [...settings.hosts, ...publicHost, parseListen(settings.listen).host];
  return {
    ownerOfHeader,
    permissionsOf: createAuthorizer(settings),
    hostNames: new Set(names.map((name) => name.toLowerCase())),
    metricsArePublic: settings.metrics.public,
    // Without a token or a provider, no user could sign in.
    hasDashboard: hasDashboard && (settings.dashboard ?? (settings.tokens.length > 0 || settings.oidc !== undefined)),
    hasSessions: settings.dashboard !== false,
    basePath: publicUrl?.pathname.replace(/\/$/, '') ?? '',
  };
}

/** Requires a way to sign in on an address that other machines can reach, and warns when it has no TLS. */
function checkExposure({ host }: Address, { listen, tls, tokens, oidc }: ServerSettings, log: Log): void {
  if (tokens.length === 0 && oidc === undefined) {
    if (!isLoopback(host) && tls === undefined)
      throw invalidInput(
        'server/open-to-the-network',
        `spec.server.listen of Settings is ${listen}, which other machines can reach, but neither a token nor TLS is configured. The server was not started.`,
        'Add spec.server.tokens (and spec.server.tls, or a proxy with TLS), or listen on 127.0.0.1.',
      );
    log.warn('server: no token is configured, so only /healthz and /readyz answer (spec.server.tokens)');
  } else if (!isLoopback(host) && tls === undefined) {
    log.warn('server: plain HTTP on the network: others can read the tokens, unless a proxy in front uses TLS', {
      listen,
    });
  }
}

/** Closes the server. Closes idle sockets as well, and after `limits.closeMs` all sockets, because they would delay the end. */
async function closeApp(
  app: FastifyInstance,
  stop: AbortController,
  endStreams: () => void,
  clock: Clock,
  limits: ServerLimits,
): Promise<void> {
  const closed = new AbortController();
  const sweep = async (): Promise<void> => {
    const untilMs = clock.monotonic() + limits.closeMs;
    while (!closed.signal.aborted) {
      if (clock.monotonic() < untilMs) app.server.closeIdleConnections();
      else app.server.closeAllConnections();
      await clock.sleep(50, closed.signal).catch(() => {});
    }
  };
  // Plans may read from the platform for a long time; all other requests end soon.
  stop.abort(refusals.closing());
  endStreams();
  const sweeping = sweep();
  try {
    await app.close();
  } finally {
    closed.abort(new Error('the server is closed'));
    await sweeping;
  }
}
