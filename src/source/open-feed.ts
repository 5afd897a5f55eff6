import type { SecretReference } from '../configuration/platform/spec.ts';
import type { SourceSettings } from '../configuration/settings/source-spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { Workbench } from './contents.ts';
import type { SourceFeed } from './feed.ts';
import { LevelFeed, type SourceReader } from './level-feed.ts';
import { LocalReader } from './local-reader.ts';
import { RemoteReader } from './remote-reader.ts';
import { type Watch, watchFiles } from './watcher.ts';

export interface SourceFeedOptions {
  /** As given with -f; none: those of the settings. */
  readonly paths: readonly string[];
  /** As given on the command line; goes before that of the settings. */
  readonly ref?: string | undefined;
  /** The snapshot accepted last was a commit: plain files may not take its place. */
  readonly isRepository: boolean;
  /** Files that are no manifests wherever they are met: the configuration, which may lie among them. */
  readonly exclude: readonly string[];
  readonly settings: SourceSettings;
  /** Reads and parses. It is closed with the feed. */
  readonly workbench: Workbench;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The process's PATH: where git is looked for. */
  readonly path: string | undefined;
  /** Where repositories that are fetched are kept: a folder of the daemon's own, that lasts. Made when it is needed. */
  readonly cacheFolder: string;
  /** Follows a reference of the configuration to its secret. @param where it stands, for messages. */
  readonly secret: (reference: SecretReference, where: string) => () => Secret;
  /** How changes of files are heard of. Default: by the system's means. */
  readonly watch?: Watch;
}

/**
 * Opens the source that the operator names; nothing is read before `start`.
 * @throws PortolanError `invalid` when nothing is named, or what is named cannot be watched.
 */
export function openSourceFeed(options: SourceFeedOptions): SourceFeed {
  const { settings, clock, random, log } = options;
  const { intervalMs, debounceMs } = settings;
  return new LevelFeed({
    reader: settings.url === undefined ? localReader(options, debounceMs) : remoteReader(options, settings.url),
    watch: options.watch ?? watchFiles,
    intervalMs,
    debounceMs,
    clock,
    random,
    log,
  });
}

function localReader(options: SourceFeedOptions, settleMs: number): SourceReader {
  const { settings, exclude, clock, path, workbench } = options;
  const paths = options.paths.length === 0 ? settings.paths : options.paths;
  if (paths.length === 0) throw nothingNamed();
  if (paths.includes('-')) throw standardInput();
  return new LocalReader({
    paths,
    ref: options.ref ?? settings.ref,
    exclude,
    signatures: settings.signatures,
    workbench,
    // Else whoever removes .git would get round the policy.
    isRepository: options.isRepository || settings.signatures.by !== 'nobody',
    settleMs,
    clock,
    path,
  });
}

function remoteReader(options: SourceFeedOptions, url: string): SourceReader {
  const { settings, clock, path, secret, cacheFolder, workbench } = options;
  if (options.paths.length > 0) throw twoSources(url);
  return new RemoteReader({
    url,
    ref: options.ref ?? settings.ref ?? 'HEAD',
    paths: settings.paths,
    signatures: settings.signatures,
    workbench,
    credentials: settings.credentials,
    caFile: settings.tls?.caFile,
    cacheFolder,
    secret,
    clock,
    path,
  });
}

function twoSources(url: string): PortolanError {
  return new PortolanError({
    code: 'source/several',
    disposition: 'invalid',
    message: `Paths are given with -f, and spec.source.url of Settings names ${url}. There is one source, so nothing was read.`,
    remedy: 'Leave out -f and name paths of the repository in spec.source.paths, or remove the url.',
  });
}

function nothingNamed(): PortolanError {
  return new PortolanError({
    code: 'source/none',
    disposition: 'invalid',
    message: 'No source is named, so there is nothing to keep the platform equal to.',
    remedy: 'Pass -f with a checkout or folder, or set spec.source.url in the configuration.',
  });
}

function standardInput(): PortolanError {
  return new PortolanError({
    code: 'source/standard-input',
    disposition: 'invalid',
    message: 'Standard input ends once it is read, and -f - was given to a daemon. Nothing was read.',
    remedy: 'Name a checkout or a folder with -f, or run portolan apply -f -.',
  });
}
