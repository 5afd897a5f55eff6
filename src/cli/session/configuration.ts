import { type Configuration, loadConfiguration } from '../../configuration/configuration.ts';
import type { Problem } from '../../model/problem.ts';
import type { Surroundings } from './command.ts';
import { readFileIfThere, readNamedFile } from './files.ts';

/** Where the operator's configuration is looked for when nothing is said. */
export const DEFAULT_CONFIGURATION = 'portolan.yaml';

export interface OperatorConfiguration {
  /** undefined: there is none, and everything is at its default. */
  readonly file: string | undefined;
  readonly configuration: Configuration;
  readonly problems: readonly Problem[];
}

/**
 * Reads the operator's configuration, with what flags and variables say in its place.
 * @param named by `--config` or `PORTOLAN_CONFIG`; absent: `portolan.yaml` of the working directory, if it is there.
 * @throws PortolanError `invalid` when a file that is named cannot be read.
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
 * The file as it is; undefined where none is named and there is none.
 * @throws PortolanError `invalid` when a file that is named cannot be read.
 */
export function configurationContent(named: string | undefined): Uint8Array | undefined {
  const what = 'the configuration';
  return named === undefined ? readFileIfThere(DEFAULT_CONFIGURATION, what) : readNamedFile(named, what);
}
