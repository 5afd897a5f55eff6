import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CommandDefinition, CommandTree, Invoke, ProcessSurroundings, Surroundings } from './session/command.ts';
import { colorOption, takeColor, withColor } from './terminal/color.ts';
import { ASKED } from './commands/completion/asked.ts';
import { inAscii, speaksUtf8 } from './terminal/drawing/glyphs.ts';
import { applyEnvironment, describeEnvironment } from './session/env-options.ts';
import { EXIT, EXIT_CODE_HELP, type ExitCode } from './session/exit-codes.ts';
import { guarded } from './terminal/guarded.ts';
import { withLiveRegion } from './terminal/live-region.ts';
import { describeCommand, helpConfiguration, helpText, usageError } from './terminal/help.ts';
import { setOption } from './session/options.ts';
import { createRedaction, redacting } from './session/redaction.ts';
import { reportError } from './session/report.ts';
import { showable, surroundingsOf, whileRead } from './session/surroundings.ts';

/** A command as `--help` lists it. */
export interface CommandFace {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
}

/** A command, and the file that knows the rest. */
export interface CommandEntry extends CommandFace {
  readonly load: () => Promise<CommandDefinition>;
  /** Programs call it, not people: no help lists it. */
  readonly hidden?: true;
}

/** A word that only its commands stand behind: `ledger list`. */
export interface CommandGroup extends CommandFace {
  readonly commands: readonly CommandEntry[];
}

const LEDGER_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'list',
    summary: 'List what the ledger holds, and every request whose outcome is not known.',
    load: async () => (await import('./commands/ledger/list.ts')).listCommand,
  },
  {
    name: 'show',
    summary: 'Show everything about one object, resource or intent, with its history.',
    load: async () => (await import('./commands/ledger/show.ts')).showCommand,
  },
  {
    name: 'history',
    summary: 'Show what was done and recorded, newest first.',
    load: async () => (await import('./commands/ledger/history.ts')).historyCommand,
  },
  {
    name: 'resolve',
    summary: 'Say what became of a request whose outcome is not known.',
    load: async () => (await import('./commands/ledger/resolve.ts')).resolveCommand,
  },
  {
    name: 'confirm',
    summary: 'Confirm that installing into an application is safe.',
    load: async () => (await import('./commands/ledger/confirm.ts')).confirmCommand,
  },
  {
    name: 'rebind',
    summary: 'Confirm that a platform with another URL or other regions is the same platform.',
    load: async () => (await import('./commands/ledger/rebind.ts')).rebindCommand,
  },
  {
    name: 'retry',
    summary: 'Try again what was held because it did not take.',
    load: async () => (await import('./commands/ledger/retry.ts')).retryCommand,
  },
  {
    name: 'adopt',
    summary: 'Say that a rule on record is ours, and which one it is.',
    load: async () => (await import('./commands/ledger/adopt.ts')).adoptCommand,
  },
  {
    name: 'forget',
    summary: 'Drop objects from the ledger only; on the platform they stay.',
    load: async () => (await import('./commands/ledger/forget.ts')).forgetCommand,
  },
  {
    name: 'verify',
    summary: 'Check that the ledger is whole and its history is as it was written.',
    load: async () => (await import('./commands/ledger/verify.ts')).verifyCommand,
  },
  {
    name: 'backup',
    summary: 'Copy the ledger, as of one moment, to a file.',
    load: async () => (await import('./commands/ledger/backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    summary: "Put a backup in the ledger's place.",
    load: async () => (await import('./commands/ledger/restore.ts')).restoreCommand,
  },
  {
    name: 'compact',
    summary: 'Forget old history and settled requests, and give the space back.',
    load: async () => (await import('./commands/ledger/compact.ts')).compactCommand,
  },
  {
    name: 'export',
    summary: 'Write the whole ledger as lines of JSON.',
    load: async () => (await import('./commands/ledger/export.ts')).exportCommand,
  },
];

export const COMMANDS: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'init',
    summary: 'Begin a working folder: configuration, a first manifest, schemas for editors.',
    load: async () => (await import('./commands/init/init.ts')).initCommand,
  },
  {
    name: 'validate',
    summary: 'Check manifests and configuration offline: every fault at once, with its place.',
    load: async () => (await import('./commands/validate.ts')).validateCommand,
  },
  {
    name: 'plan',
    alias: 'diff',
    summary: 'Show what apply would change, and why. Reads only.',
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    name: 'apply',
    summary: 'Make the platform as the manifests say.',
    load: async () => (await import('./commands/apply.ts')).applyCommand,
  },
  {
    name: 'run',
    summary: 'Keep the platform as a source says, for as long as it runs.',
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    name: 'status',
    summary: 'Show how each resource stands. Reads only.',
    load: async () => (await import('./commands/status/status.ts')).statusCommand,
  },
  {
    name: 'tree',
    summary: 'Show an application with its installs, components, ports and rules, and how each stands. Reads only.',
    load: async () => (await import('./commands/tree/tree.ts')).treeCommand,
  },
  {
    name: 'events',
    summary: 'Show what a running controller did and saw.',
    load: async () => (await import('./commands/events.ts')).eventsCommand,
  },
  {
    name: 'sync',
    summary: 'Have a running controller look at an application now.',
    load: async () => (await import('./commands/sync.ts')).syncCommand,
  },
  {
    name: 'suspend',
    summary: 'Have a running controller leave an application alone.',
    load: async () => (await import('./commands/suspend.ts')).suspendCommand,
  },
  {
    name: 'resume',
    summary: 'Have a running controller go on with a suspended application.',
    load: async () => (await import('./commands/resume.ts')).resumeCommand,
  },
  {
    name: 'approve',
    summary: 'Let through the one plan that a guard refused, by its digest.',
    load: async () => (await import('./commands/approve.ts')).approveCommand,
  },
  {
    name: 'regions',
    summary: 'List the data centers of a platform, and whether they take changes.',
    load: async () => (await import('./commands/regions.ts')).regionsCommand,
  },
  {
    name: 'monitor',
    summary: 'Draw the monitoring history of the components of an application.',
    load: async () => (await import('./commands/monitor/monitor.ts')).monitorCommand,
  },
  {
    name: 'export',
    summary: 'Write what is there as manifests, and prove that they change nothing.',
    load: async () => (await import('./commands/export/export.ts')).exportCommand,
  },
  {
    name: 'adopt',
    summary: 'Put what exists on record as ours, as it is. Sends nothing.',
    load: async () => (await import('./commands/adopt.ts')).adoptCommand,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a kind, or the kinds there are.',
    load: async () => (await import('./commands/schema.ts')).schemaCommand,
  },
  {
    name: 'explain',
    summary: 'Say what a kind and each of its fields mean.',
    load: async () => (await import('./commands/explain.ts')).explainCommand,
  },
  {
    name: 'fmt',
    summary: 'Lay manifests and configuration out the way all are, comments kept.',
    load: async () => (await import('./commands/fmt.ts')).fmtCommand,
  },
  {
    name: 'ledger',
    summary: 'Look into the durable memory, and settle by hand what observation cannot.',
    commands: LEDGER_COMMANDS,
  },
  {
    name: 'sandbox',
    summary: "Run the platform's API as a server on this machine.",
    load: async () => (await import('./commands/sandbox.ts')).sandboxCommand,
  },
  {
    name: 'conformance',
    summary: 'Check a server of the API against what Portolan expects of it.',
    load: async () => (await import('./commands/conformance/conformance.ts')).conformanceCommand,
  },
  {
    name: 'demo',
    summary: 'Show the whole thing at work on a sandbox, in half a minute.',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    name: 'config',
    summary: 'Show every setting, its value, and where it comes from.',
    load: async () => (await import('./commands/config/config.ts')).configCommand,
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell: bash, zsh or fish.',
    load: async () => (await import('./commands/completion/completion.ts')).completionCommand,
  },
  {
    name: ASKED,
    summary: 'Say what may stand at the cursor; the completion scripts ask it.',
    hidden: true,
    load: async () => (await import('./commands/completion/completion.ts')).completeCommand,
  },
  {
    name: 'version',
    summary: 'Print the version of Portolan and of the Node it runs on.',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
];

/**
 * Runs one command line.
 * @param words what stands behind the program's name.
 * @returns the exit code; nothing is thrown for anything that a user, the network or a file does.
 */
export async function runProgram(words: readonly string[], around: ProcessSurroundings): Promise<ExitCode> {
  const { color, rest } = takeColor(words);
  // As every other program has them.
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
  const surroundings: Surroundings = {
    ...around,
    redaction,
    ...guarded(withLiveRegion(showable(redacting(around.terminal, redaction), around.env)), around.env),
    overrides: [],
    declarations: new Map(),
  };
  let exitCode: ExitCode = EXIT.ok;
  let inForce = surroundings;
  const program = await buildProgram(args, surroundings, {
    prepare: async (path, command, definition) => {
      applyEnvironment(path, command, surroundings.env);
      if (path !== ASKED && path !== 'config') await checkEnvironment(path, command, args, surroundings);
      inForce = await surroundingsOf(command, definition, surroundings);
    },
    invoke: async (work) => {
      exitCode = await whileRead(work, inForce);
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

/** Variables that look like ours and do nothing. The check is loaded only where there is one of ours at all. */
async function checkEnvironment(
  path: string,
  command: CommandUnknownOpts,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<void> {
  const { env, terminal } = surroundings;
  if (!Object.keys(env).some((name) => name.startsWith('PORTOLAN_'))) return;
  const { checkVariables } = await import('./session/unknown-variables.ts');
  const everyCommand = () => buildProgram('all', surroundings, notRunning);
  await checkVariables({ path, command, args, env, terminal, everyCommand });
}

interface Running {
  readonly invoke: Invoke;
  /** Before the action of a command: what its options come to. */
  prepare(path: string, command: CommandUnknownOpts, definition: CommandDefinition): Promise<void>;
}

const notRunning: Running = { async invoke() {}, async prepare() {} };

/**
 * The program with all its commands, and those that `named` names defined.
 * @param named what stands behind the program's name, or `all`.
 */
async function buildProgram(
  named: readonly string[] | 'all',
  surroundings: Surroundings,
  { invoke, prepare }: Running,
): Promise<CommandUnknownOpts> {
  const program = new Command('portolan')
    .description("Keeps an application platform's ports, gateway rules and store installs as a git repository says.")
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
 * Adds every command with its summary, and lets `define` add the rest of the one that is named, or of all.
 * @param named what stands behind the words of `parent`.
 * @param prefix the words of `parent`, each with a dash behind it: `ledger-`.
 */
async function addCommands(
  parent: Command,
  entries: readonly (CommandEntry | CommandGroup)[],
  named: readonly string[] | 'all',
  define: (command: Command, path: string, definition: CommandDefinition) => void,
  prefix = '',
): Promise<void> {
  for (const entry of entries) {
    const hidden = 'hidden' in entry;
    const command = parent.command(entry.name, { hidden }).summary(entry.summary).description(entry.summary);
    if (entry.alias !== undefined) command.alias(entry.alias);
    if (named !== 'all' && !isNamed(entry, named)) continue;
    const path = `${prefix}${entry.name}`;
    if ('commands' in entry) {
      command.helpCommand('help [command]', 'Show the help of a command.');
      const rest = named === 'all' ? named : named.slice(1);
      await addCommands(command as unknown as Command, entry.commands, rest, define, `${path}-`);
    } else {
      define(command as unknown as Command, path, await entry.load());
    }
  }
}

/** The command is the first word, or the second behind `help`: options belong to commands and come after. */
function isNamed(entry: CommandFace, args: readonly string[]): boolean {
  const named = args[0] === 'help' ? args[1] : args[0];
  return named !== undefined && (named === entry.name || named === entry.alias);
}

function bindOutput(program: Command, { terminal, env }: Surroundings): void {
  const shown = speaksUtf8(env) ? (text: string) => text : inAscii;
  program
    .exitOverride()
    .configureHelp(helpConfiguration)
    .showHelpAfterError('(run the command with --help to see what it takes)')
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
