import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  COMPLETE_COMMAND,
  type CommandDefinition,
  type CommandTree,
  type Invoke,
  type ProcessSurroundings,
  type Surroundings,
} from './session/command.ts';
import { colorOption, takeColor, withColor } from './terminal/color.ts';
import { inAscii, speaksUtf8 } from './terminal/drawing/glyphs.ts';
import { applyEnvironment, describeEnvironment } from './session/env-options.ts';
import { EXIT, EXIT_CODE_HELP, type ExitCode, reportError } from './session/exit-codes.ts';
import { guarded } from './terminal/guarded.ts';
import { withLiveRegion } from './terminal/live-region.ts';
import { describeCommand, helpConfiguration, helpText, usageError } from './terminal/help.ts';
import { setOption } from './session/options.ts';
import { createRedaction, maskInlinePasswords, redacting } from './session/redaction.ts';
import { fittingErrors, showable, surroundingsOf, runWhileRead } from './session/surroundings.ts';

/** Describes a command, and loads its definition. */
export interface CommandEntry {
  readonly name: string;
  /** Summary in the list of `--help`. */
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
}

/** Describes a word with subcommands: `ledger list`. */
export interface CommandGroup extends Omit<CommandEntry, 'load'> {
  readonly commands: readonly CommandEntry[];
  /** The subcommand that runs when none is named. */
  readonly defaultName?: string;
}

/** Summaries of the commands of `ledger`, in the order of its help. */
const LEDGER_SUMMARIES = {
  list: 'List the objects of the ledger, and every request whose outcome is unknown.',
  show: 'Show everything about one object, resource or intent, with its history.',
  history: 'Show the history of the ledger, newest first.',
  resolve: 'Record the outcome of a request that is in doubt.',
  confirm: 'Confirm that installing into an application is safe.',
  rebind: 'Confirm that a platform with another URL or other regions is the same platform.',
  retry: 'Retry a change that is held because it had no effect.',
  adopt: 'Record that a rule is managed, and its id on the platform.',
  forget: 'Remove objects from the ledger only; they stay on the platform.',
  verify: 'Check that the ledger is complete and its history unchanged.',
  backup: 'Copy a consistent state of the ledger to a file.',
  restore: 'Replace the ledger with a backup.',
  copy: 'Copy a ledger between a file and PostgreSQL, and verify every row.',
  migrate: 'Create the tables of a ledger, or migrate them to this version.',
  compact: 'Remove old history and resolved requests, and free their space.',
  export: 'Write the whole ledger as lines of JSON.',
};

const LEDGER_FILES: Readonly<Record<keyof typeof LEDGER_SUMMARIES, CommandEntry['load']>> = {
  list: async () => (await import('./commands/ledger/list.ts')).listCommand,
  show: async () => (await import('./commands/ledger/show.ts')).showCommand,
  history: async () => (await import('./commands/ledger/list.ts')).historyCommand,
  resolve: async () => (await import('./commands/ledger/resolve.ts')).resolveCommand,
  confirm: async () => (await import('./commands/ledger/manual.ts')).confirmCommand,
  rebind: async () => (await import('./commands/ledger/rebind.ts')).rebindCommand,
  retry: async () => (await import('./commands/ledger/manual.ts')).retryCommand,
  adopt: async () => (await import('./commands/ledger/manual.ts')).adoptCommand,
  forget: async () => (await import('./commands/ledger/manual.ts')).forgetCommand,
  verify: async () => (await import('./commands/ledger/file.ts')).verifyCommand,
  backup: async () => (await import('./commands/ledger/file.ts')).backupCommand,
  restore: async () => (await import('./commands/ledger/file.ts')).restoreCommand,
  copy: async () => (await import('./commands/ledger/copy.ts')).copyCommand,
  migrate: async () => (await import('./commands/ledger/copy.ts')).migrateCommand,
  compact: async () => (await import('./commands/ledger/file.ts')).compactCommand,
  export: async () => (await import('./commands/ledger/file.ts')).exportCommand,
};

/** The commands of `orphans`, in the order of its help. */
const ORPHANS_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'list',
    summary: 'List the resources whose application was removed from git (default).',
    load: async () => (await import('./commands/orphans/list.ts')).listOrphansCommand,
  },
  {
    name: 'prune',
    summary: 'Remove the resources of orphaned applications from the platform.',
    load: async () => (await import('./commands/orphans/prune.ts')).pruneOrphansCommand,
  },
];

/** Summaries of the commands, in the order of the help. */
const SUMMARIES = {
  init: 'Initialize a project: configuration, a first manifest, schemas for editors.',
  validate: 'Check manifests and configuration offline: every fault at once, with its position.',
  plan: 'Show the changes that apply would make, and why. Read-only.',
  apply: 'Apply manifests to the platform.',
  run: 'Run the controller: keep the platform in sync with a source.',
  status: 'Show the state of each resource. Read-only.',
  tree: 'Show an application as a tree of installs, components, ports and rules, with their states. Read-only.',
  commits: 'Show whether a commit is live: accepted, applied, and what waits, from a running controller.',
  attention: 'List everything of a running controller that requires manual action.',
  events: 'Show the events of a running controller.',
  history: 'Show the history of an application: commits, changes, drift, approvals; undo a commit as a patch.',
  sync: 'Request a sync of an application from a running controller.',
  suspend: 'Suspend an application: the controller writes nothing for it.',
  resume: 'Resume a suspended application.',
  approve: 'Show the plan that a guard holds, and approve it.',
  regions: 'List the regions of a platform, and whether they accept changes.',
  replicas: 'List the controllers that share a ledger, and the leader of each platform.',
  monitor: 'Draw the monitoring history of the components of an application.',
  export: 'Write existing resources as manifests, and prove that they change nothing.',
  adopt: 'Adopt existing resources into the ledger, unchanged. Sends nothing.',
  orphans: 'List and remove what removed applications left on the platform.',
  schema: 'Print the JSON Schema of a kind, or list the kinds.',
  explain: 'Explain a kind and its fields.',
  docs: 'Show a page of the documentation, or the cause and remedy of an error code.',
  fmt: 'Format manifests and configuration, and keep their comments.',
  ledger: 'Inspect the ledger, and resolve manually what observation cannot.',
  sandbox: "Run the platform's API as a server on this machine.",
  conformance: 'Check a server of the API against what Portolan expects of it.',
  demo: 'Demonstrate Portolan on a sandbox, in half a minute.',
  whoami: 'Show who the token is at a running controller, and its roles.',
  config: 'Show every setting with its value and its origin.',
  completion: 'Print the completion script of a shell: bash, zsh or fish.',
  [COMPLETE_COMMAND]: 'List the words that can stand at the cursor, for the completion scripts.',
  version: 'Print the versions of Portolan and of Node.',
};

/** Loaders of the commands. The file of a command is imported when the command line names it. */
const FILES: Readonly<Record<Exclude<keyof typeof SUMMARIES, 'ledger' | 'orphans'>, CommandEntry['load']>> = {
  init: async () => (await import('./commands/init/init.ts')).initCommand,
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  apply: async () => (await import('./commands/apply.ts')).applyCommand,
  run: async () => (await import('./commands/run.ts')).runCommand,
  status: async () => (await import('./commands/status/status.ts')).statusCommand,
  tree: async () => (await import('./commands/tree/tree.ts')).treeCommand,
  commits: async () => (await import('./commands/commits.ts')).commitsCommand,
  attention: async () => (await import('./commands/attention.ts')).attentionCommand,
  events: async () => (await import('./commands/events.ts')).eventsCommand,
  history: async () => (await import('./commands/history/history.ts')).historyCommand,
  sync: async () => (await import('./commands/requests.ts')).syncCommand,
  suspend: async () => (await import('./commands/requests.ts')).suspendCommand,
  resume: async () => (await import('./commands/requests.ts')).resumeCommand,
  approve: async () => (await import('./commands/approve.ts')).approveCommand,
  regions: async () => (await import('./commands/regions.ts')).regionsCommand,
  replicas: async () => (await import('./commands/replicas.ts')).replicasCommand,
  monitor: async () => (await import('./commands/monitor/monitor.ts')).monitorCommand,
  export: async () => (await import('./commands/export/export.ts')).exportCommand,
  adopt: async () => (await import('./commands/adopt.ts')).adoptCommand,
  schema: async () => (await import('./commands/schema.ts')).schemaCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  docs: async () => (await import('./commands/docs/docs.ts')).docsCommand,
  fmt: async () => (await import('./commands/fmt.ts')).fmtCommand,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandboxCommand,
  conformance: async () => (await import('./commands/conformance/conformance.ts')).conformanceCommand,
  demo: async () => (await import('./commands/demo/demo.ts')).demoCommand,
  whoami: async () => (await import('./commands/whoami.ts')).whoamiCommand,
  config: async () => (await import('./commands/config/config.ts')).configCommand,
  completion: async () => (await import('./commands/completion/completion.ts')).completionCommand,
  [COMPLETE_COMMAND]: async () => (await import('./commands/completion/completion.ts')).completeCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

const ALIASES: Readonly<Record<string, string>> = { plan: 'diff' };

const LEDGER_COMMANDS = entriesOf(LEDGER_SUMMARIES, (name) => ({ load: LEDGER_FILES[name] }));

export const COMMANDS: readonly (CommandEntry | CommandGroup)[] = entriesOf(SUMMARIES, (name) =>
  name === 'ledger'
    ? { commands: LEDGER_COMMANDS }
    : name === 'orphans'
      ? { commands: ORPHANS_COMMANDS, defaultName: 'list' }
      : { load: FILES[name] },
);

function entriesOf<Name extends string, Rest>(summaries: Readonly<Record<Name, string>>, restOf: (name: Name) => Rest) {
  return (Object.keys(summaries) as Name[]).map((name) => ({ name, summary: summaries[name], ...restOf(name) }));
}

/**
 * Runs one command line.
 * @param words the words after the program's name.
 * @returns the exit code. Errors of users, the network or files are reported and not thrown.
 */
export async function runProgram(words: readonly string[], around: ProcessSurroundings): Promise<ExitCode> {
  const { color, rest } = takeColor(words);
  // Most programs accept these two flags.
  const args = rest[0] === '-V' || rest[0] === '--version' ? ['version', ...rest.slice(1)] : rest;
  try {
    return await runCommand(args, { ...around, terminal: withColor(around.terminal, color, around.env) });
  } catch (error) {
    return reportError(error, around);
  }
}

/** Runs a command line without the options of the program itself. */
async function runCommand(args: readonly string[], around: ProcessSurroundings): Promise<ExitCode> {
  const redaction = createRedaction();
  maskInlinePasswords([...args, around.env['PORTOLAN_LEDGER'] ?? ''], redaction);
  const shown = guarded(withLiveRegion(showable(redacting(around.terminal, redaction), around.env)), around.env);
  const surroundings: Surroundings = {
    ...around,
    redaction,
    live: shown.live,
    terminal: fittingErrors(shown.terminal),
    overrides: [],
    declarations: new Map(),
  };
  let exitCode: ExitCode = EXIT.ok;
  let inForce = surroundings;
  const program = await buildProgram(args, surroundings, {
    prepare: async (path, command, definition) => {
      applyEnvironment(path, command, surroundings.env);
      if (path !== COMPLETE_COMMAND && path !== 'config') await checkEnvironment(path, command, args, surroundings);
      inForce = await surroundingsOf(command, definition, surroundings);
    },
    invoke: async (work) => {
      exitCode = await runWhileRead(work, inForce);
    },
  });
  try {
    if (args.length === 0) {
      surroundings.terminal.err.write(program.helpInformation());
      return EXIT.invalid;
    }
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.invalid;
    return reportError(error, surroundings);
  }
}

/** Refuses unknown variables with our prefix. The check is loaded only when such a variable is set. */
async function checkEnvironment(
  path: string,
  command: CommandUnknownOpts,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<void> {
  if (!Object.keys(surroundings.env).some((name) => name.startsWith('PORTOLAN_'))) return;
  const { checkVariables } = await import('./session/unknown-variables.ts');
  const everyCommand = () => buildProgram('all', surroundings, notRunning);
  await checkVariables(path, command, args, surroundings, everyCommand);
}

interface Running {
  readonly invoke: Invoke;
  /** Called before the action of a command, when its options are known. */
  prepare(path: string, command: CommandUnknownOpts, definition: CommandDefinition): Promise<void>;
}

const notRunning: Running = { async invoke() {}, async prepare() {} };

/**
 * Builds the program with the names of all its commands, and with the options of those that `named` names.
 * @param named the words after the program's name, or `all`.
 */
async function buildProgram(
  named: readonly string[] | 'all',
  surroundings: Surroundings,
  { invoke, prepare }: Running,
): Promise<CommandUnknownOpts> {
  const program = new Command('portolan')
    .description('Keeps the ports, gateway rules and store installs of an application platform in sync with git.')
    .addOption(colorOption())
    .option('-V, --version', 'print the version')
    .helpCommand('help [command]', 'Show the help of a command.')
    .addHelpText('after', EXIT_CODE_HELP);
  bindOutput(program, surroundings);
  const tree: CommandTree = { build: (args) => buildProgram(args, surroundings, notRunning), run: runProgram };
  await addCommands(program as unknown as Command, COMMANDS, named, (command, path, definition) => {
    definition.define(command, invoke, tree);
    if (command.options.some(({ long }) => long === '--config')) command.addOption(setOption());
    describeCommand(command, definition.help);
    describeEnvironment(path, command.options);
    command.hook('preAction', (_, action) => prepare(path, action, definition));
  });
  return program;
}

/**
 * Adds every command with its summary, and lets `define` add the rest of the named one, or of all.
 * @param named the words after those of `parent`.
 * @param prefix the words of `parent`, each with a dash after it: `ledger-`.
 */
async function addCommands(
  parent: Command,
  entries: readonly (CommandEntry | CommandGroup)[],
  named: readonly string[] | 'all',
  define: (command: Command, path: string, definition: CommandDefinition) => void,
  prefix = '',
  defaultName?: string,
): Promise<void> {
  for (const entry of entries) {
    const { name, summary } = entry;
    const command = parent
      .command(name, { hidden: name === COMPLETE_COMMAND, isDefault: name === defaultName })
      .summary(summary)
      .description(summary);
    const alias = ALIASES[name];
    if (alias !== undefined) command.alias(alias);
    if (named !== 'all' && !isNamed(entry, named)) continue;
    const path = `${prefix}${name}`;
    if ('commands' in entry) {
      command.helpCommand('help [command]', 'Show the help of a command.');
      const words = named === 'all' ? [] : named.slice(1);
      const unnamed = defaultOf(entry, words);
      const rest = named === 'all' ? named : [...(unnamed === undefined ? [] : [unnamed]), ...words];
      await addCommands(command as unknown as Command, entry.commands, rest, define, `${path}-`, unnamed);
    } else {
      define(command as unknown as Command, path, await entry.load());
    }
  }
}

/** Returns the subcommand of a group that runs because no word names one: only options follow, or nothing. */
function defaultOf({ defaultName }: CommandGroup, words: readonly string[]): string | undefined {
  return words[0]?.startsWith('-') === false ? undefined : defaultName;
}

/** The command is the first word, or the second after `help`. Options belong to commands and come later. */
function isNamed({ name }: Pick<CommandEntry, 'name'>, args: readonly string[]): boolean {
  const named = args[0] === 'help' ? args[1] : args[0];
  return named !== undefined && (named === name || named === ALIASES[name]);
}

function bindOutput(program: Command, { terminal, env }: Surroundings): void {
  const shown = speaksUtf8(env) ? (text: string) => text : inAscii;
  program
    .exitOverride()
    .configureHelp(helpConfiguration)
    .showHelpAfterError('(run the command with --help to see its options)')
    .configureOutput({
      writeOut: (text) => terminal.out.write(shown(helpText(text, terminal.out.columns))),
      writeErr: (text) => terminal.err.write(text),
      outputError: (text, write) => write(usageError(text)),
      getOutHelpWidth: () => terminal.out.columns,
      getErrHelpWidth: () => terminal.err.columns,
      getOutHasColors: () => terminal.out.color,
      getErrHasColors: () => terminal.err.color,
    });
}
