import { PortolanError } from '../../model/errors.ts';
import type { Log } from '../../runtime/log.ts';
import type { Surroundings } from './command.ts';
import { type OperatorConfiguration, readConfiguration } from './configuration.ts';
import type { ExitCode } from './exit-codes.ts';
import { createLog, type LogOptions } from './logging.ts';
import { openPlatforms, type Platforms } from './platforms.ts';
import { reportProblems } from './problems.ts';

/**
 * Runs a command that asks platforms and needs no manifests: reads the configuration, opens what it names, and closes
 * the sockets afterwards whatever happens.
 */
export async function withPlatforms(
  options: LogOptions & { readonly config?: string | undefined },
  surroundings: Surroundings,
  work: (platforms: Platforms, log: Log) => Promise<ExitCode>,
): Promise<ExitCode> {
  const operator = readConfiguration(options.config, surroundings);
  const invalid = reportProblems(operator.problems, surroundings.terminal);
  if (invalid !== undefined) return invalid;
  return await withOpenPlatforms(operator, options, surroundings, work);
}

/** As `withPlatforms`, for a configuration that was read and found good already. */
export async function withOpenPlatforms(
  { configuration, file }: OperatorConfiguration,
  options: LogOptions,
  surroundings: Surroundings,
  work: (platforms: Platforms, log: Log) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (configuration.platforms.size === 0) throw noPlatform(file);
  const log = await createLog(options, surroundings);
  const platforms = openPlatforms({ configuration, file, surroundings, log });
  try {
    return await work(platforms, log);
  } finally {
    await platforms.close();
  }
}

/** Said once, and not by every application. */
export function noPlatform(file: string | undefined): PortolanError {
  return new PortolanError({
    code: 'configuration/no-platform',
    disposition: 'invalid',
    message:
      file === undefined
        ? 'There is no configuration (portolan.yaml in the working directory, or --config FILE), so no platform is known. Nothing was sent.'
        : `${file} names no platform. Nothing was sent.`,
    remedy:
      'Write a document of kind Platform with spec.url and spec.auth into it; examples/portolan.yaml of the package is one.',
  });
}
