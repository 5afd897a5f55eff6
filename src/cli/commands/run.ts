import { once } from 'node:events';
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import packageFile from '../../../package.json' with { type: 'json' };
import { Controller } from '../../controller/controller.ts';
import type { ControllerOptions } from '../../controller/options.ts';
import type { Settings } from '../../configuration/settings/spec.ts';
import { isPostgres } from '../../ledger/address.ts';
import { fileExists } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { formatDuration } from '../../model/duration.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { onceMore } from '../../runtime/once-more.ts';
import { requireKnownPaths } from '../../source/known-paths.ts';
import { openSourceFeed } from '../../source/open-feed.ts';
import { isOfCommit } from '../../source/snapshot.ts';
import { rememberAll, rememberedCapabilities } from '../session/capabilities.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../session/command.ts';
import {
  configurationContents,
  configurationText,
  keptFormer,
  openConfiguration,
  type OpenedConfiguration,
} from '../session/daemon-configuration.ts';
import { EXIT, type ExitCode, reportError } from '../session/exit-codes.ts';
import { createLog } from '../session/logging.ts';
import { DEFAULT_LEDGER_FILE } from '../session/open-ledger.ts';
import type { Replica } from '../session/replica.ts';
import { openRunLedger } from '../session/run-ledger.ts';
import { type Observation, openObservation, openSurfaces, type Surfaces } from '../session/surfaces.ts';
import {
  addLogOptions,
  addVariableOptions,
  configOption,
  filenameOption,
  ledgerOption,
  sourceOption,
} from '../session/options.ts';
import { addSourceOverrides } from '../session/planning-options.ts';
import { readConfiguration } from '../session/configuration.ts';
import { FaultyInput, refuseFaults } from '../session/problems.ts';
import { openSecret } from '../session/secrets.ts';
import { openWorkbenches } from '../session/workbenches.ts';

/** Interval of checks for a changed configuration. Secrets in files are read again independently. */
const CONFIGURATION_EVERY_MS = 5_000;

const parameters = (command: Command) =>
  addLogOptions(
    addSourceOverrides(
      addVariableOptions(
        command
          .addOption(filenameOption())
          .option('--ref <ref>', 'branch, tag or commit to follow (default: spec.source.ref, or HEAD)')
          .addOption(configOption())
          .addOption(ledgerOption())
          .option(
            '--replica-name <name>',
            'name of this controller among those that share a ledger in PostgreSQL (default: the host name and a random suffix)',
            replicaName,
          )
          .option(
            '--listen <address>',
            'address:port of the API, port 0 for any free port (default: spec.server.listen, 127.0.0.1:7780)',
            listenArgument,
          )
          .addOption(sourceOption()),
      ),
    ),
  );

type RunOptions = OptionsOf<typeof parameters>;

export const runCommand = defineCommand({
  about:
    'Runs the controller: follows a git checkout, a repository or a folder, applies its manifests to the platform, corrects drift and serves an HTTP API. It locks its ledger while it runs. Controllers with the same ledger in PostgreSQL divide the platforms among themselves.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.locked, EXIT.interrupted],
  seeAlso: ['status', 'events', 'sync', 'config'],
  examples: `
Examples:
  portolan run --config portolan.yaml -f checkout/manifests --ledger /var/lib/portolan/portolan.db
  portolan run -f checkout --ref main --log-format json

In a git checkout, manifests are read from the objects of one commit, not from the files. Any other folder is read once it
stops changing. SIGTERM finishes running work and ends the process. SIGHUP reloads the configuration, as does a change of it.
--allow-empty, --allow-shrunk and --allow-rewind apply only to the first revision that is read after the start.`,
  parameters,
  async run(surroundings, options) {
    if (options.ledger === 'none')
      throw invalidInput(
        'cli/no-ledger',
        'run needs a ledger to record what it sends. Nothing was started.',
        'Omit --ledger to use portolan.db in the working directory, or name a file.',
      );
    const log = await createLog(options, surroundings, true);
    // Faults of the configuration are reported before the ledger is created or locked.
    const { configuration, problems } = readConfiguration(options.config, surroundings);
    refuseFaults(problems);
    const requirePaths = () => requireSource(configuration.settings.source, options, surroundings);
    // A mistyped path creates no ledger.
    if (!isPostgres(options.ledger) && !fileExists(options.ledger ?? DEFAULT_LEDGER_FILE)) await requirePaths();
    const actor = `portolan run by ${surroundings.who}`;
    const settings = withListen(configuration.settings, options);
    const holder = `${actor}${addressOf(settings)}`;
    const { ledger: address, replicaName: name, source } = options;
    const opening = { ledger: address, actor: holder, name, source, settings, log };
    const opened = await openRunLedger(opening, surroundings);
    if (opened === undefined) return EXIT.ok;
    const { ledger, replica, close } = opened;
    try {
      if ((await ledger.lastSnapshot(options.source)) === undefined) await requirePaths();
      return await runDaemon({ options, surroundings, log, ledger, actor, replica });
    } finally {
      await close();
    }
  },
});

function replicaName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected letters, digits, dots, hyphens and underscores, such as portolan-0.');
}

function listenArgument(text: string): string {
  if (/^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected address:port, such as 127.0.0.1:7780 or [::]:7780.');
}

/** Refuses paths that never existed in a local source. */
async function requireSource({ url, paths, ref }: Settings['source'], options: RunOptions, around: Surroundings) {
  if (url !== undefined) return;
  const { clock, env, signal } = around;
  const named = options.filename ?? paths;
  await requireKnownPaths(named, options.ref ?? ref ?? 'HEAD', { clock, path: env.PATH, signal });
}

/** Returns settings with the address of the option, which takes precedence over the file. */
function withListen(settings: Settings, { listen }: RunOptions): Settings {
  return listen === undefined ? settings : { ...settings, server: { ...settings.server, listen } };
}

/** Returns the address of the API, for a process that finds the ledger locked; empty while the port is unknown. */
function addressOf({ server }: Settings): string {
  if (server.listen.endsWith(':0')) return '';
  return `, API at ${server.tls === undefined ? 'http' : 'https'}://${server.listen.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')}`;
}

/** Holds what every part of the daemon needs. */
interface Daemon {
  readonly options: RunOptions;
  readonly surroundings: Surroundings;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly actor: string;
  readonly replica: Replica | undefined;
}

async function runDaemon(daemon: Daemon): Promise<ExitCode> {
  const { options, surroundings, log, ledger, actor, replica } = daemon;
  const { configuration } = readConfiguration(options.config, surroundings);
  const remembered = await rememberedCapabilities(ledger, { configuration });
  const current: { settings: Settings } = { settings: configuration.settings };
  const observation = openObservation(() => current.settings, log, surroundings);
  const opened = await openConfiguration(options, surroundings, log, {
    remembered: (name) => remembered.get(name),
    onRequest: observation.observer.request,
  });
  const state: DaemonState = { opened, observation, current, over: new AbortController(), url: null };
  const group = replica && (await joinGroup(daemon, replica, state));
  const limits = () => current.settings.source.limits;
  const { workbench, planWorkbench } = openWorkbenches(surroundings, limits, memoryOf(daemon, group?.ledgerOfSource));
  const isRepository = options.allowRewind !== true && isOfCommit(await ledger.lastSnapshot(options.source));
  const feed = feedOf(daemon, opened, { workbench, isRepository });
  const { observer } = observation;
  const sourceParts = { ledger, feed, workbench, planWorkbench, actor };
  const kinds = await surroundings.kinds.reconciled();
  const parts = { ...sourceParts, kinds, log, configuration: opened.forController, observer, ...group?.parts };
  const controller = controllerOf(daemon, parts);
  group?.follow();
  const settings = withListen(opened.configuration.settings, options);
  observation.attach(controller.api);
  const surfaces = await openSurfaces({
    api: controller.api,
    settings,
    source: options.source,
    replicas: replica?.replicas,
    observation,
    log,
    surroundings,
  });
  log.info(
    `API at ${surfaces.url}; ledger ${ledger.location}; ${describePruning(settings)}; observes every application every ${formatDuration(settings.controller.resyncIntervalMs)}`,
  );
  if (replica === undefined) warnWithoutBoot(surroundings.clock, log);
  state.url = surfaces.url;
  controller.start();
  group?.leadership.start();
  const reloading = reloadOnChanges(daemon, controller, surfaces, state);
  const ends = [
    controller.lost,
    waitForAbort(surroundings.signal),
    ...(group === undefined ? [] : [group.leadership.failed]),
  ];
  const lost = await Promise.race(ends);
  state.over.abort(new Error('the daemon ends'));
  if (lost !== undefined) log.info(`ending: ${lost.message}`);
  const [isWhole] = await Promise.all([controller.drain(), group?.leadership.drain()]);
  for (const part of [surfaces, planWorkbench, observation, controller]) await part.close();
  await reloading;
  if (group === undefined) await rememberAll(ledger, state.opened, surroundings.clock);
  await state.opened.platforms.close();
  if (lost !== undefined) return reportError(lost, surroundings);
  const rest = isWhole ? 'every sent request is recorded' : 'the next start observes the interrupted requests';
  log.info(`ended; ${rest}`);
  return isWhole ? EXIT.ok : EXIT.failed;
}

/** Returns what the memory of unreadable commits needs. @param writable default: this process alone writes the ledger. */
function memoryOf(
  { options: { source }, surroundings: { clock }, ledger, actor }: Daemon,
  writable: () => Ledger | undefined = () => ledger,
) {
  return { ledger, writable, clock, source, actor };
}

/** Joins the controllers that share the ledger. */
async function joinGroup({ options, surroundings, log }: Daemon, replica: Replica, state: DaemonState) {
  const { joinReplicas } = await import('../session/replica.ts');
  return joinReplicas(replica, {
    observer: state.observation.observer,
    log,
    source: options.source,
    clock: surroundings.clock,
    random: surroundings.random,
    opened: () => state.opened,
    address: () => state.url,
  });
}

function feedOf(
  { options, surroundings, log }: Daemon,
  { file, configuration }: OpenedConfiguration,
  rest: Pick<Parameters<typeof openSourceFeed>[0], 'workbench' | 'isRepository'>,
) {
  const { clock, random, env } = surroundings;
  return openSourceFeed({
    paths: options.filename ?? [],
    ref: options.ref,
    exclude: file === undefined ? [] : [file],
    settings: configuration.settings.source,
    clock,
    random,
    log,
    path: env.PATH,
    // The cache is beside the ledger's file, so that fetched commits survive a restart while the remote is unreachable; for a
    // database, it is in the working directory.
    cacheFolder: `${isPostgres(options.ledger) ? DEFAULT_LEDGER_FILE : (options.ledger ?? DEFAULT_LEDGER_FILE)}.source`,
    secret: (reference, where) => openSecret(reference, where, surroundings, log),
    ...rest,
  });
}

function controllerOf(
  { options, surroundings }: Daemon,
  parts: Omit<ControllerOptions, 'clock' | 'random' | 'source' | 'version' | 'allow'> &
    Partial<Pick<ControllerOptions, 'clock'>>,
): Controller {
  return new Controller({
    clock: surroundings.clock,
    random: surroundings.random,
    source: options.source,
    version: packageFile.version,
    allow: {
      empty: options.allowEmpty === true,
      shrunk: options.allowShrunk === true,
      rewind: options.allowRewind === true,
    },
    ...parts,
  });
}

/** Holds what a reload replaces. */
interface DaemonState {
  opened: OpenedConfiguration;
  readonly observation: Observation;
  readonly current: { settings: Settings };
  /** Aborted when the daemon ends for another reason than a signal. */
  readonly over: AbortController;
  /** URL of the API, once it listens. */
  url: string | null;
}

/** Warns if the system has no id for its start. Replicas count no time across processes. */
function warnWithoutBoot(clock: Clock, log: Log): void {
  if (clock.sinceBoot().boot !== '') return;
  log.warn(
    'the system has no id for its start, so the removal budget is not renewed, and only the wall clock ends settle windows',
    {
      remedy:
        'On Linux, let this process read /proc/sys/kernel/random/boot_id (systemd: without ProcSubset=pid). Elsewhere, approve the removals that the budget holds.',
    },
  );
}

function describePruning({ prune, controller }: Settings): string {
  return prune.enabled
    ? `prunes resources removed from the source after ${formatDuration(controller.pruneAfterMs)}, at most ${prune.maxObjects} objects for one revision`
    : 'prunes nothing (spec.prune.enabled is false)';
}

/** Reads the configuration again after a change or a hangup, until the process ends. */
async function reloadOnChanges(
  daemon: Daemon,
  controller: Controller,
  surfaces: Surfaces,
  state: DaemonState,
): Promise<void> {
  const { options, surroundings } = daemon;
  const signal = AbortSignal.any([surroundings.signal, state.over.signal]);
  const closing: Promise<void>[] = [];
  // A change that happens while the files are read makes them read again.
  const reload = onceMore(async () => {
    if (!signal.aborted) await reloadOnce(daemon, controller, surfaces, { state, closing });
  });
  const stopListening = surroundings.onHangup?.(() => void reload());
  let contentsBefore = configurationContents(options);
  let before = configurationText(options, surroundings);
  while (!signal.aborted) {
    try {
      await surroundings.clock.sleep(CONFIGURATION_EVERY_MS, signal);
    } catch {
      break;
    }
    const contents = readOr(() => configurationContents(options), contentsBefore);
    if (contents === contentsBefore) continue;
    contentsBefore = contents;
    const now = readOr(() => configurationText(options, surroundings), before);
    if (now === before) continue;
    before = now;
    await reload();
  }
  stopListening?.();
  await Promise.allSettled(closing);
}

/** @param closing gets what ends once the passes have finished that began with the former configuration. */
async function reloadOnce(
  { options, surroundings, log }: Daemon,
  controller: Controller,
  surfaces: Surfaces,
  { state, closing }: { readonly state: DaemonState; readonly closing: Promise<void>[] },
): Promise<void> {
  try {
    const next = await openConfiguration(options, surroundings, log, { onRequest: state.observation.observer.request });
    const former = state.opened;
    state.opened = next;
    const { settings } = next.configuration;
    state.current.settings = settings;
    if (JSON.stringify(former.configuration.settings.source) !== JSON.stringify(settings.source))
      log.warn('spec.source of Settings changed; restart the daemon to apply it');
    if (former.configuration.settings.controller.leaseMs !== settings.controller.leaseMs)
      log.warn('spec.controller.lease of Settings changed; restart the daemon to apply it');
    log.info(`the changed configuration ${describePruning(settings)}`);
    closing.push(controller.reload(next.forController).then(() => former.platforms.close()));
    await surfaces.reload(withListen(settings, options));
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const refusal = error instanceof FaultyInput ? keptFormer(error.problems) : error;
    const { message, code, remedy } = refusal;
    log.error(message, { code, remedy });
    controller.reportRefusedReload(refusal);
  }
}

/** Returns a fallback when a file cannot be read: while it is replaced, it may be absent for a moment. */
function readOr(read: () => string, otherwise: string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof PortolanError) return otherwise;
    throw error;
  }
}

async function waitForAbort(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
  return undefined;
}
