import type { SecretReference } from '../configuration/platform/spec.ts';
import type { SourceSettings } from '../configuration/settings/source-spec.ts';
import { invalidInput } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { Workbench } from './contents.ts';
import type { SourceFeed } from './feed.ts';
import { LevelFeed, type SourceReader } from './level-feed.ts';
import { localReader } from './local-reader.ts';
import { RemoteReader } from './remote-reader.ts';
import { watchFiles } from './watcher.ts';

export interface SourceFeedOptions {
  /** Paths of -f. Empty: the paths of the settings. */
  readonly paths: readonly string[];
  /** The ref of the command line. It takes precedence over the ref of the settings. */
  readonly ref?: string | undefined;
  /** The last accepted snapshot was a commit, so plain files must not replace it. */
  readonly isRepository: boolean;
  /** Files that are not manifests: the configuration, which may be among the manifests. */
  readonly exclude: readonly string[];
  readonly settings: SourceSettings;
  /** Reads and parses the source. The feed closes it. */
  readonly workbench: Workbench;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The PATH of the process, where git is searched. */
  readonly path: string | undefined;
  /** Folder of fetched repositories. It belongs to the daemon, persists, and is created when needed. */
  readonly cacheFolder: string;
  /** Opens the secret of a reference. @param where the place of the reference, for messages. */
  readonly secret: (reference: SecretReference, where: string) => () => Secret;
}

/**
 * Opens the source that the operator names. Reads nothing before `start`.
 * @throws PortolanError `invalid` when no source is named, or it cannot be watched.
 */
export function openSourceFeed(options: SourceFeedOptions): SourceFeed {
  const { settings } = options;
  const { url, intervalMs, debounceMs } = settings;
  const reader = url === undefined ? openLocal(options, debounceMs) : openRemote(options, url);
  return new LevelFeed({ ...options, reader, watch: watchFiles, intervalMs, debounceMs });
}

function openLocal(options: SourceFeedOptions, stableMs: number): SourceReader {
  const { signatures, ...settings } = options.settings;
  const paths = options.paths.length === 0 ? settings.paths : options.paths;
  if (paths.length === 0)
    throw invalidInput(
      'source/none',
      'No source is configured.',
      'Pass -f with a checkout or folder, or set spec.source.url in the configuration.',
    );
  if (paths.includes('-'))
    throw invalidInput(
      'source/standard-input',
      'A daemon cannot watch standard input (-f -). Nothing was read.',
      'Pass -f with a checkout or a folder, or run portolan apply -f -.',
    );
  // Otherwise removing .git would bypass the policy.
  const isRepository = options.isRepository || signatures.by !== 'nobody';
  return localReader({ ...options, paths, ref: options.ref ?? settings.ref, signatures, isRepository, stableMs });
}

function openRemote(options: SourceFeedOptions, url: string): SourceReader {
  const { ref = 'HEAD', paths, signatures, credentials, tls } = options.settings;
  if (options.paths.length > 0)
    throw invalidInput(
      'source/several',
      `Both -f and spec.source.url of Settings (${url}) name a source, but only one is possible. Nothing was read.`,
      'Omit -f and set spec.source.paths to paths of the repository, or remove the url.',
    );
  const asked = { url, ref: options.ref ?? ref, paths, signatures, credentials, caFile: tls?.caFile };
  return new RemoteReader({ ...options, ...asked });
}
