import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { editDistance } from '../../manifest/suggest.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import { DEFAULT_CONFIGURATION } from './configuration.ts';
import { isSharedVariable, variableOf } from './env-options.ts';
import { readFileIfThere } from './files.ts';
import type { ProcessSurroundings } from './command.ts';

type Environment = ProcessSurroundings['env'];

/**
 * Lists variables that no flag has: secrets by their usual names, and variables that the steps under `examples/` set for
 * their own shells.
 */
export const OTHER_VARIABLES: readonly string[] = [
  'PORTOLAN_COLOR',
  'PORTOLAN_SERVER_TOKEN',
  'PORTOLAN_TOKEN',
  'PORTOLAN_PACKAGE',
  'PORTOLAN_PLANNED',
  'PORTOLAN_REVIEWED',
  'PORTOLAN_APPLY_RUNNER',
  'PORTOLAN_RUNNER',
  'PORTOLAN_HEALTH_URL',
];
const OWN_PREFIXES = ['PORTOLAN_VAR_', 'PORTOLAN_SET_'];
/** Kubernetes sets these in every pod beside a service called `portolan` or `portolan-…`. */
const OF_KUBERNETES =
  /^PORTOLAN(?:_[A-Z0-9_]+)?_(?:SERVICE_(?:HOST|PORT)(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;
/** Maximum edit distance between a typing mistake and a known name. */
const EDITS_MAX = 2;

/**
 * Returns the variables that start with PORTOLAN_ and are neither secrets with a usual name, nor values, nor set by
 * Kubernetes; sorted by name.
 */
export function unexplainedVariables(env: Environment): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith('PORTOLAN_') && value !== undefined)
    .filter(([name]) => !OTHER_VARIABLES.includes(name) && !OWN_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .filter(
      ([name, value = '']) => !OF_KUBERNETES.test(name) && !(name.endsWith('_PORT') && SERVICE_ADDRESS.test(value)),
    )
    .map(([name]) => name)
    .sort();
}

/**
 * Refuses an environment variable that is a misspelled known one: `PORTOLAN_LEGER`, if ignored, would make a job use
 * another ledger. Any other unknown one gets a warning. A variable that the configuration or the command line refers to
 * is known.
 * @param everyCommand returns the program with all its commands; called only for an unexplained variable.
 * @throws PortolanError `invalid`
 */
export async function checkVariables(
  path: string,
  command: CommandUnknownOpts,
  args: readonly string[],
  { env, terminal }: Pick<ProcessSurroundings, 'env' | 'terminal'>,
  everyCommand: () => Promise<CommandUnknownOpts>,
): Promise<void> {
  const own = new Set(variablesOf(path, command));
  const unexplained = unexplainedVariables(env).filter((name) => !isSharedVariable(name) && !own.has(name));
  if (unexplained.length === 0) return;
  const known = [...OTHER_VARIABLES, ...allVariables(await everyCommand())];
  const referring = [...args, ...settingsIn(env), configurationText(command)];
  const unknown = unexplained.filter(
    (name) => !known.includes(name) && !referring.some((text) => namesVariable(text, name)),
  );
  for (const name of unknown) {
    const meant = known.find((candidate) => editDistance(name, candidate, EDITS_MAX) <= EDITS_MAX);
    if (meant === undefined) continue;
    throw invalidInput(
      'cli/unknown-variable',
      `The environment variable ${safeLine(name)} is unknown. Did you mean ${meant}?`,
      `Rename it to ${meant}, or unset it.`,
    );
  }
  for (const name of unknown)
    terminal.err.write(
      `warning: the environment variable ${safeLine(name)} has no effect: it is unknown, and the configuration does not refer to it\n`,
    );
}

/** Yields a command and all its subcommands, with their words. */
export function* commandsOf(
  command: CommandUnknownOpts,
  path: readonly string[] = [],
): Iterable<{ readonly command: CommandUnknownOpts; readonly path: readonly string[] }> {
  yield { command, path };
  for (const child of command.commands) yield* commandsOf(child, [...path, child.name()]);
}

/** Returns the variables of all flags. Options of the program itself have none but PORTOLAN_COLOR. */
export function allVariables(program: CommandUnknownOpts): readonly string[] {
  return [...commandsOf(program)].flatMap(({ command, path }) =>
    path.length === 0 ? [] : variablesOf(path.join('-'), command),
  );
}

function variablesOf(path: string, { options }: CommandUnknownOpts): readonly string[] {
  return options.flatMap((option) => variableOf(path, option) ?? []);
}

/** Returns the values of settings from variables: one of them may name the variable of a secret. */
function settingsIn(env: Environment): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (name.startsWith('PORTOLAN_SET_') ? (value ?? '') : []));
}

/**
 * Returns the operator's configuration as text; empty where there is none, or where it cannot be read: the command
 * reports that itself.
 */
function configurationText(command: CommandUnknownOpts): string {
  const named: unknown = command.opts()['config'];
  try {
    const content = readFileIfThere(typeof named === 'string' ? named : DEFAULT_CONFIGURATION, 'the configuration');
    return content === undefined ? '' : new TextDecoder().decode(content);
  } catch (error) {
    if (error instanceof PortolanError) return '';
    throw error;
  }
}

function namesVariable(text: string, name: string): boolean {
  return text.split(/[^A-Za-z0-9_]+/).includes(name);
}
