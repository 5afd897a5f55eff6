import { type Command, InvalidArgumentError, Option, type OptionValues } from '@commander-js/extra-typings';
import { ledgerArgument } from '../../ledger/address.ts';
import { parseDuration } from '../../model/duration.ts';
import { LOG_LEVELS } from '../../runtime/text-log.ts';

/** Options that mean the same for every command that has them. Each call gives a new object: commander keeps state in it. */

export function outputOption<const Formats extends readonly [string, ...string[]]>(formats: Formats) {
  return new Option('-o, --output <format>', 'format of the result')
    .choices(formats)
    .default<Formats[number]>(formats[0]);
}

/** `-f PATH`, repeatable: manifests. */
export const filenameOption = () =>
  new Option(
    '-f, --filename <path>',
    'manifest file or folder, or - for standard input; may be repeated (default: spec.source.paths of the configuration)',
  ).argParser(collect);

/** Paths as arguments, as kubectl users expect: `portolan plan manifests/`. */
export const PATHS_ARGUMENT = ['[paths...]', 'manifest files and folders, as with -f'] as const;

/** Merges the paths of arguments and `-f`. The variable of `-f` counts only without arguments. */
export function filesNamed<Options extends { readonly filename?: readonly string[] | undefined }>(
  paths: readonly string[],
  options: Options,
  command: { getOptionValueSource(name: 'filename'): string | undefined },
): Options {
  if (paths.length === 0) return options;
  const flagged = command.getOptionValueSource('filename') === 'cli' ? (options.filename ?? []) : [];
  return { ...options, filename: [...paths, ...flagged] };
}

/** `--revision REF`: manifests from a commit. */
export const revisionOption = () =>
  new Option('--revision <ref>', 'read the manifests from this branch, tag or commit, not from the working tree');

export const configOption = () =>
  new Option('-c, --config <file>', "the operator's configuration (default: portolan.yaml, if it exists)");

/** `--set PATH=VALUE`, repeatable. Every command that takes `--config` has it. */
export const setOption = () =>
  new Option(
    '--set <path=value>',
    'override a setting of the configuration, such as prune.maxShare=0.5 or Platform/default:dialect=auto; ' +
      'may be repeated [$PORTOLAN_SET_PRUNE_MAX_SHARE]',
  ).argParser(collect);

export const platformOption = () => new Option('--platform <name>', 'only this platform of the configuration');

export const ledgerOption = () =>
  new Option(
    '--ledger <path>',
    'the ledger: a file, a postgres:// URL, or none for reading without ownership',
  ).argParser(ledgerArgument);

export const sourceOption = () =>
  new Option('--source <name>', 'name of the source of the manifests; each object belongs to one source').default(
    'default',
  );

/** Adds the options that give values to the variables of manifests. */
export function addVariableOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .option('--var <name=value>', 'value for ${NAME} in manifests; may be repeated [$PORTOLAN_VAR_NAME]', collect)
    .option('--var-file <file>', 'file of NAME=value lines; may be repeated, later ones win', collect);
}

export const parallelismOption = () =>
  new Option(
    '--parallelism <n>',
    'number of applications processed at once; requests of one application are sequential',
  )
    .argParser(integerArgument(1, 1000))
    .default(10);

/** Adds the options of the log on standard error. */
export function addLogOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  const level = new Option('--log-level <level>', 'level of the log on standard error').choices(LOG_LEVELS);
  const format = new Option('--log-format <format>', 'format of the log').choices(['text', 'json']);
  return command.addOption(level.default('info' as const)).addOption(format.default('text' as const));
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

/**
 * Collects values as `collect` does, for `--flag [value]`: without a value, or with `true` from a variable, it means all.
 */
export function collectOrAll(value: string, earlier: readonly string[] | true | undefined): readonly string[] {
  return collect(value, earlier === true ? undefined : earlier);
}

/** Parses a duration. @returns whole milliseconds. */
export function durationArgument(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === undefined) throw new InvalidArgumentError('Expected a duration such as 30s, 10m or 1h30m.');
  return durationMs;
}

/** Returns a parser of integers from `min` to `max`, both included; without exponent, sign or other base. */
export function integerArgument(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
