import type { ControllerConfiguration } from '../../controller/options.ts';
import { type Configuration, operatorNames } from '../../configuration/configuration.ts';
import { invalidInput, type PortolanError } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { Log } from '../../runtime/log.ts';
import { hastyRetryPolicy } from '../../platform/retrying.ts';
import { count } from '../terminal/text.ts';
import type { Surroundings } from './command.ts';
import { configurationContent, readConfiguration } from './configuration.ts';
import { readNamedFile } from './files.ts';
import { type InputOptions, readVariables } from './input.ts';
import { noPlatform, openPlatforms, type Platforms, type PlatformsOptions } from './platforms.ts';
import { refuseFaults } from './problems.ts';
import { lazyStores } from './session.ts';

/** Holds the operator's configuration as the daemon uses it, with open platforms. */
export interface OpenedConfiguration {
  readonly file: string | undefined;
  readonly configuration: Configuration;
  readonly forController: ControllerConfiguration;
  readonly platforms: Platforms;
}

export type DaemonInput = Pick<InputOptions, 'config' | 'var' | 'varFile'>;

/**
 * Returns the unparsed content of the configuration's files. While it stays the same, nothing else in them can have
 * changed, so a daemon that checks every few seconds for months does not parse them each time.
 * @throws PortolanError `invalid` when a named file cannot be read.
 */
export function configurationContents({ config, varFile = [] }: DaemonInput): string {
  const contents = [configurationContent(config), ...varFile.map((file) => readNamedFile(file, 'the variables'))];
  return JSON.stringify(contents.map((bytes) => bytes && Buffer.from(bytes).toString('latin1')));
}

/** Returns the effective configuration as text, which is compared to detect changes. */
export function configurationText(options: DaemonInput, surroundings: Surroundings): string {
  const { configuration, problems } = readConfiguration(options.config, surroundings);
  const { variables } = readVariables(options, surroundings);
  const { platforms, stores, settings } = configuration;
  const faults = problems.map(({ message }) => message);
  return JSON.stringify([[...platforms], [...stores], settings, [...variables], faults]);
}

/**
 * Reads the configuration and opens its platforms. Every platform is opened once, so that a missing secret is found now
 * and not at night.
 * @throws PortolanError `invalid`; FaultyInput for faults of its files.
 */
export async function openConfiguration(
  options: DaemonInput,
  surroundings: Surroundings,
  log: Log,
  hooks: Pick<PlatformsOptions, 'remembered' | 'onRequest'>,
): Promise<OpenedConfiguration> {
  const operator = readConfiguration(options.config, surroundings);
  const { variables, problems } = readVariables(options, surroundings);
  refuseFaults([...operator.problems, ...problems]);
  const { configuration, file } = operator;
  if (configuration.platforms.size === 0) throw noPlatform(file);
  const platforms = openPlatforms({ configuration, file, surroundings, log, retry: hastyRetryPolicy, ...hooks });
  try {
    for (const name of platforms.names) platforms.client(name);
  } catch (error) {
    await platforms.close();
    throw error;
  }
  return {
    file,
    configuration,
    platforms,
    forController: {
      settings: configuration.settings,
      operator: operatorNames(configuration),
      variables,
      stores: lazyStores(platforms),
      client: (name) => platforms.client(name),
    },
  };
}

/** Returns the error for a changed configuration that has faults. */
export function keptFormer(problems: readonly Problem[]): PortolanError {
  const [first] = problems;
  const where = first === undefined ? '' : ` ${first.position.file}:${first.position.line}: ${first.message}`;
  return invalidInput(
    'configuration/faulty',
    `The changed configuration has ${count(problems.length, 'fault')}. The former configuration stays in use.${where}`,
    'Correct the file; the daemon reloads it. `portolan validate` shows every fault.',
  );
}
