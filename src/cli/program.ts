import { Command, CommanderError } from '@commander-js/extra-typings';
import type { CommandDefinition, ProcessSurroundings, Surroundings } from './command.ts';
import { applyEnvironment, describeEnvironment } from './env-options.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { createRedaction, redacting } from './redaction.ts';
import { reportError } from './report.ts';

/** A command as `--help` lists it, and the file that knows the rest. */
interface CommandEntry {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
}

const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'validate',
    summary: 'Check manifests and configuration offline: every fault at once, with its place.',
    load: async () => (await import('./validate.ts')).validateCommand,
  },
  {
    name: 'plan',
    alias: 'diff',
    summary: 'Show what apply would change, and why. Reads only.',
    load: async () => (await import('./plan.ts')).planCommand,
  },
  {
    name: 'apply',
    summary: 'Make the platform as the manifests say.',
    load: async () => (await import('./apply.ts')).applyCommand,
  },
  {
    name: 'status',
    summary: 'Show how each resource stands. Reads only.',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'regions',
    summary: 'List the data centers of a platform, and whether they take changes.',
    load: async () => (await import('./regions.ts')).regionsCommand,
  },
  {
    name: 'monitor',
    summary: 'Draw the monitoring history of the components of an application.',
    load: async () => (await import('./monitor.ts')).monitorCommand,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a kind, or the kinds there are.',
    load: async () => (await import('./schema.ts')).schemaCommand,
  },
  {
    name: 'sandbox',
    summary: "Run the platform's API as a server on this machine.",
    load: async () => (await import('./sandbox.ts')).sandboxCommand,
  },
  {
    name: 'demo',
    summary: 'Show the whole thing at work on a sandbox, in half a minute.',
    load: async () => (await import('./demo.ts')).demoCommand,
  },
  {
    name: 'version',
    summary: 'Print the version of Portolan and of the Node it runs on.',
    load: async () => (await import('./version.ts')).versionCommand,
  },
];

const EXIT_CODE_HELP = `
Exit codes:
  0  done, or in sync, or a dry run that found changes
  1  something failed
  2  changes pending, only with --detailed-exitcode
  3  manifests, configuration or arguments invalid
  4  held: a guard or an unresolved intent needs a person
  5  the platform cannot be reached or refuses the credentials
  6  another controller holds the ledger
  130  interrupted; what was in flight is recorded

Every option has a twin in the environment, named in its help. A flag goes before the environment, and the environment
before a file.`;

/**
 * Runs one command line.
 * @param args what stands behind the program's name.
 * @returns the exit code; nothing is thrown for anything that a user, the network or a file does.
 */
export async function runProgram(args: readonly string[], around: ProcessSurroundings): Promise<ExitCode> {
  const redaction = createRedaction();
  const surroundings: Surroundings = { ...around, redaction, terminal: redacting(around.terminal, redaction) };
  let exitCode: ExitCode = EXIT.ok;
  const program = new Command('portolan')
    .description("Keeps an application platform's ports, gateway rules and store installs as a git repository says.")
    .helpCommand('help [command]', 'Show the help of a command.')
    .addHelpText('after', EXIT_CODE_HELP);
  bindOutput(program, surroundings);
  for (const entry of COMMANDS) {
    const command = program.command(entry.name).summary(entry.summary).description(entry.summary);
    if (entry.alias !== undefined) command.alias(entry.alias);
    if (!isNamed(entry, args)) continue;
    const definition = await entry.load();
    definition.define(command as unknown as Command, async (work) => {
      exitCode = await work(surroundings);
    });
    describeEnvironment(entry.name, command.options);
    command.hook('preAction', (_, action) => applyEnvironment(entry.name, action, surroundings.env));
  }
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

/** The command is the first word, or the second behind `help`: options belong to commands and come after. */
function isNamed(entry: CommandEntry, args: readonly string[]): boolean {
  const named = args[0] === 'help' ? args[1] : args[0];
  return named !== undefined && (named === entry.name || named === entry.alias);
}

function bindOutput(program: Command, { terminal }: Surroundings): void {
  program
    .exitOverride()
    .showHelpAfterError('(run the command with --help to see what it takes)')
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.err.write(text),
      getOutHelpWidth: () => terminal.out.columns,
      getErrHelpWidth: () => terminal.err.columns,
      getOutHasColors: () => terminal.out.color,
      getErrHasColors: () => terminal.err.color,
    });
}
