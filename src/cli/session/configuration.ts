import { type Configuration, loadConfiguration } from '../../configuration/configuration.ts';
import type { Problem } from '../../model/problem.ts';
import type { Surroundings } from './command.ts';
import { readFileIfThere, readNamedFile } from './files.ts';

/** Path of the operator's configuration when no other is named. */
export const DEFAULT_CONFIGURATION = 'portolan.yaml';

export interface OperatorConfiguration {
  /** undefined: there is no configuration, and every setting has its default. */
  readonly file: string | undefined;
  readonly configuration: Configuration;
  readonly problems: readonly Problem[];
}

/**
 * Reads the operator's configuration, with the overrides of flags and variables.
 * @param named the file of `--config` or `PORTOLAN_CONFIG`; absent: `portolan.yaml` of the working directory, if it
 * exists.
 * @throws PortolanError `invalid` when a named file cannot be read.
 */
export function readConfiguration(
  named: string | undefined,
  { declarations, overrides }: Pick<Surroundings, 'declarations' | 'overrides'>,
): OperatorConfiguration {
  const content = configurationContent(named);
  const file = named ?? DEFAULT_CONFIGURATION;
  return {
    file: content === undefined ? undefined : file,
    ...loadConfiguration(declarations, content ?? '', file, overrides),
  };
}

/**
 * Returns the content of the file; undefined when none is named and the default does not exist.
 * @throws PortolanError `invalid` when a named file cannot be read.
 */
export function configurationContent(named: string | undefined): Uint8Array | undefined {
  const what = 'the configuration';
  return named === undefined ? readFileIfThere(DEFAULT_CONFIGURATION, what) : readNamedFile(named, what);
}
