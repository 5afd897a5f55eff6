import type { Origin, SettingInForce } from '../../../configuration/provenance.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand, type Surroundings } from '../../session/command.ts';
import { DEFAULT_CONFIGURATION, readConfiguration } from '../../session/configuration.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { readFileIfThere } from '../../session/files.ts';
import { configOption, outputOption } from '../../session/options.ts';
import { refuseFaults } from '../../session/problems.ts';
import { renderTable } from '../../terminal/table.ts';
import { writeJson } from '../../terminal/terminal.ts';
import { count, shortOnTerminal } from '../../terminal/text.ts';
import { nearest } from '../../../manifest/suggest.ts';
import { allVariables, OTHER_VARIABLES, unexplainedVariables } from '../../session/unknown-variables.ts';
import { type Binding, bindingsOf } from './bindings.ts';
import { type FlagInForce, flagsInForce } from './flags.ts';
import { PortolanError } from '../../../model/errors.ts';
import { unreachable } from '../../../model/unreachable.ts';
import type { SecretReference } from '../../../configuration/platform/spec.ts';
import { openSecret } from '../../session/secrets.ts';

export const configCommand = defineCommand({
  about:
    'Shows each effective setting and flag, and its origin: a flag, a variable, a position in a file, or the default. For a secret, it shows the reference and whether it can be read, never the secret.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['explain', 'validate'],
  examples: `
Examples:
  portolan config
  portolan config --changed     # without defaults
  portolan config --config portolan.yaml --set prune.maxShare=0.5
  portolan config -o json | jq '.settings[] | select(.origin.type == "option")'

Set a setting of the configuration by --set PATH=VALUE, or by the variable that the table of --variables names. A document
that the file does not have is created: PORTOLAN_SET_PLATFORM_DEFAULT_URL alone is a platform.
Write lists with commas or as YAML. --set Platform/default:auth.value.env=NAME refers to a secret; no setting contains one.
A flag of a command (--max-share of plan, --listen of run) takes precedence over the setting.`,
  parameters: (command) =>
    command
      .addOption(configOption())
      .option('--changed', 'only values that differ from the default')
      .option('--variables', 'also show the variable of each setting')
      .addOption(outputOption(['text', 'json'])),
  /** Reads only files and the environment. Opens secrets only to check that they can be read, and never shows them. */
  async run(surroundings, options, _args, { tree }) {
    const { terminal, env, overrides } = surroundings;
    const operator = readConfiguration(options.config, surroundings);
    refuseFaults(operator.problems);
    const { settingsInForce } = await import('../../../configuration/provenance.ts');
    const file = operator.file ?? DEFAULT_CONFIGURATION;
    const content = operator.file === undefined ? '' : (readFileIfThere(file, 'the configuration') ?? '');
    const settings = settingsInForce(operator.configuration, { file, content, overrides });
    const program = await tree.build('all');
    const isShown = ({ origin }: { readonly origin: { readonly type: string } }): boolean =>
      options.changed !== true || (origin.type !== 'default' && origin.type !== 'absent');
    const shown = settings.filter(isShown);
    const flags = flagsInForce(program, env).filter(isShown);
    if (options.output === 'json') {
      const shownSettings = shown.map((setting) => settingJson(setting, surroundings));
      writeJson({ file: operator.file ?? null, settings: shownSettings, flags }, terminal);
    } else {
      terminal.out.write(text(shown, flags, options.variables === true, surroundings));
      const bindings = bindingsOf(operator.configuration.settings.server);
      if (bindings.length > 0) terminal.out.write(`\n${bindingsText(bindings, surroundings)}`);
    }
    if (operator.file === undefined)
      terminal.err.write(`note: there is no configuration (${DEFAULT_CONFIGURATION} here, or --config FILE)\n`);
    const referred = settings.flatMap(({ name, schema, value }) =>
      schema['x-secret'] === 'name' && name.endsWith('.env') && typeof value === 'string' ? value : [],
    );
    const known = [...OTHER_VARIABLES, ...referred, ...allVariables(program)];
    for (const name of unexplainedVariables(env)) {
      if (known.includes(name)) continue;
      const meant = nearest(name, known);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      terminal.err.write(`note: $${safeLine(name)} is set but has no effect${hint}\n`);
    }
  },
});

function text(
  settings: readonly SettingInForce[],
  flags: readonly FlagInForce[],
  hasVariables: boolean,
  surroundings: Surroundings,
): string {
  if (settings.length + flags.length === 0) return 'Every setting has its default.\n';
  const table = (title: string, rows: readonly (readonly (string | undefined)[])[]): readonly string[] =>
    rows.length === 0
      ? []
      : [renderTable([title, 'value', 'from', ...(hasVariables ? ['variable'] : [])], rows, surroundings.terminal.out)];
  const settingRows = settings.map((setting) => [
    `${setting.kind === 'Settings' ? '' : `${setting.kind}/${setting.document}:`}${setting.name}`,
    settingText(setting, surroundings),
    originText(setting.origin),
    setting.variable,
  ]);
  const flagRows = flags.map(({ flag, commands, shown, origin, variable }) => [
    `${flag}${commands === undefined ? '' : ` of ${commands}`}`,
    shown,
    originText(origin),
    variable,
  ]);
  const total = `${count(settings.length, 'setting')}, ${count(flags.length, 'flag')}\n`;
  return [...table('setting', settingRows), ...table('flag', flagRows), total].join('\n');
}

/** Returns the roles of callers as a table, because their settings are lists within lists. */
function bindingsText(bindings: readonly Binding[], { terminal }: Surroundings): string {
  const rows = bindings.map(({ role, caller, applications }) => [safeLine(caller), role, safeLine(applications)]);
  return renderTable(['caller', 'role', 'applications'], rows, terminal.out);
}

function settingJson(setting: SettingInForce, surroundings: Surroundings): object {
  const { kind, document, name, variable, value, origin } = setting;
  const secret = secretState(setting, surroundings);
  return { kind, document, name, variable, value: value ?? null, origin, secret };
}

/** Longer values are cut on a terminal; -o json shows them whole. */
const VALUE_WIDTH_MAX = 60;

function originText(origin: Origin): string {
  switch (origin.type) {
    case 'option':
      return origin.option;
    case 'file':
      return `${origin.position.file}:${origin.position.line}:${origin.position.column}`;
    case 'default':
      return 'default';
    case 'absent':
      return 'not set';
    default:
      return unreachable(origin);
  }
}

/** Returns the value for people. For a secret, returns only its reference and whether it can be read. */
function settingText(setting: SettingInForce, surroundings: Surroundings): string {
  const secret = secretState(setting, surroundings);
  const { value } = setting;
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (secret !== undefined) return `${text} (${secret})`;
  return shortOnTerminal(text, VALUE_WIDTH_MAX, surroundings.terminal.out);
}

/** Returns whether the secret of a reference can be read; undefined for a setting that is not a reference. */
function secretState(
  { schema, name, kind, document, value }: SettingInForce,
  surroundings: Surroundings,
): 'can be read' | 'cannot be read' | undefined {
  if (schema['x-secret'] !== 'name' || typeof value !== 'string') return undefined;
  const reference = { [name.slice(name.lastIndexOf('.') + 1)]: value } as SecretReference;
  try {
    openSecret(reference, `${kind}/${document} spec.${name}`, surroundings);
    return 'can be read';
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return 'cannot be read';
  }
}
