import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { collect, collectOrAll } from './options.ts';

/**
 * Lists the flags that mean the same for every command and share one variable. The variable of any other flag contains
 * the name of its command, because Kubernetes sets a bare `PORTOLAN_PORT` in every pod beside a service called portolan.
 */
const SHARED_FLAGS: ReadonlySet<string> = new Set([
  'filename',
  'config',
  'ledger',
  'source',
  'output',
  'platform',
  'log-level',
  'log-format',
  'revision',
  'server',
]);

/**
 * Maps flags whose variable is not made from their name. `--var NAME=VALUE` is `PORTOLAN_VAR_NAME`, which leaves no room
 * for `PORTOLAN_VAR_FILE`; `--set prune.maxShare=1` is `PORTOLAN_SET_PRUNE_MAX_SHARE`.
 */
const NAMED_OTHERWISE: Readonly<Record<string, string | undefined>> = {
  help: undefined,
  var: undefined,
  set: undefined,
  'var-file': 'PORTOLAN_VARIABLES_FILE',
  'token-file': 'PORTOLAN_SERVER_TOKEN_FILE',
};

/** Returns whether a variable sets a flag that several commands share. A command without the flag ignores it. */
export function isSharedVariable(variable: string): boolean {
  return [...SHARED_FLAGS].some((flag) => variable === `PORTOLAN_${flag.toUpperCase().replaceAll('-', '_')}`);
}

type NamedOption = Pick<Option, 'name' | 'long'>;

/** Returns the variable that sets a flag of a command: `PORTOLAN_CONFIG`, `PORTOLAN_SANDBOX_PORT`; undefined for none. */
export function variableOf(commandName: string, option: NamedOption): string | undefined {
  const long = option.long?.replace(/^--/, '');
  if (long === undefined) return undefined;
  if (Object.hasOwn(NAMED_OTHERWISE, long)) return NAMED_OTHERWISE[long];
  const name = SHARED_FLAGS.has(long) ? long : `${commandName}-${long}`;
  return `PORTOLAN_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Adds the name of each option's variable to its help. */
export function describeEnvironment(commandName: string, options: readonly Option[]): void {
  for (const option of options) {
    const variable = variableOf(commandName, option);
    if (variable !== undefined) option.description = `${option.description} [$${variable}]`;
  }
}

/** Commands that send the manifests of `--filename` to the server. */
const FILES_TO_SERVER: ReadonlySet<string> = new Set(['plan']);
/** Commands that read the ledger if the server does not answer. */
const LEDGER_AFTER_SERVER: ReadonlySet<string> = new Set(['replicas']);

/**
 * Returns the options whose variables count as unset, because the command line names another place: `--ledger` or `--filename` instead of
 * PORTOLAN_SERVER, and `--server` instead of PORTOLAN_LEDGER.
 * @throws PortolanError `cli/flag-of-the-server` if the command line names both a server and a ledger.
 */
function overruledBy(commandName: string, command: CommandUnknownOpts): ReadonlySet<string> {
  const isGiven = (key: string): boolean => command.getOptionValueSource(key) === 'cli';
  const asksServer = command.options.some((option) => option.attributeName() === 'server');
  if (!asksServer) return new Set();
  const [server, ledger, files] = [isGiven('server'), isGiven('ledger'), isGiven('filename')];
  if (LEDGER_AFTER_SERVER.has(commandName)) return new Set(ledger && !server ? ['server'] : []);
  if (server && ledger)
    throw invalidInput(
      'cli/flag-of-the-server',
      '--ledger cannot be used with --server: the controller has its own ledger. Nothing was done.',
      'Omit --server to use the ledger itself, or --ledger to ask the controller.',
    );
  if (server) return new Set(['ledger']);
  return new Set(ledger || (files && !FILES_TO_SERVER.has(commandName)) ? ['server'] : []);
}

/**
 * Sets each option that the command line does not give from its variable. An empty variable counts as unset; a flag takes
 * true or false; an option that may be repeated takes a comma-separated list.
 * @throws PortolanError `invalid` for a value that the flag would refuse too, and for a server and a ledger on one command line.
 */
export function applyEnvironment(
  commandName: string,
  command: CommandUnknownOpts,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const overruled = overruledBy(commandName, command);
  for (const option of command.options) {
    const variable = variableOf(commandName, option);
    const text = variable === undefined ? undefined : env[variable];
    if (variable === undefined || text === undefined || text === '') continue;
    const key = option.attributeName();
    if (overruled.has(key)) continue;
    const setBy = command.getOptionValueSource(key);
    if (setBy !== undefined && setBy !== 'default') continue;
    command.setOptionValueWithSource(key, parseVariable(option, variable, text), 'env');
  }
}

function parseVariable(option: Option, variable: string, text: string): unknown {
  const isFlag = option.isBoolean() || option.negate;
  // `--flag [value]` is a flag that may have a value.
  if (isFlag || option.optional) {
    const value = { true: true, '1': true, yes: true, false: false, '0': false, no: false }[text.toLowerCase()];
    if (value !== undefined) return option.negate ? !value : value || (isFlag ? false : undefined);
    if (isFlag) throw badVariable(variable, 'it sets a flag and takes true or false');
  }
  if (option.parseArg === collect || option.parseArg === collectOrAll) return text.split(',');
  if (option.argChoices !== undefined && !option.argChoices.includes(text)) {
    throw badVariable(variable, `it takes one of: ${option.argChoices.join(', ')}`);
  }
  if (option.parseArg === undefined) return text;
  try {
    return option.parseArg(text, undefined as never);
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw badVariable(variable, error instanceof Error ? error.message : 'its value is refused');
  }
}

/** The message does not contain the value: it may be a secret in the wrong variable. */
function badVariable(variable: string, why: string): PortolanError {
  return invalidInput(
    'cli/bad-variable',
    `The environment variable ${variable} has an invalid value: ${why.replace(/\.$/, '')}.`,
    `Correct or unset ${variable}.`,
  );
}
