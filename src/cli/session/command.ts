import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import type { ReconciledKinds } from '../../kinds/define.ts';
import type { Declarations } from '../../kinds/kind.ts';
import type { Override } from '../../configuration/overrides.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { OpenThread } from '../../runtime/thread.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { LiveRegion } from '../terminal/live-region.ts';
import type { Redaction } from './redaction.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Names the command that the completion scripts run. The help does not list it. */
export const COMPLETE_COMMAND = '__complete';

/** Loads the kinds that the program knows, when a command needs them. */
export interface KindLoader {
  /** Returns the kinds of documents. */
  declared(): Promise<Declarations>;
  /** Returns the kinds that are reconciled, with everything that reconciling them takes. */
  reconciled(): Promise<ReconciledKinds>;
}

/** Holds the process around the program. Only `main.ts` makes a real one. */
export interface ProcessSurroundings {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the installed package. It contains examples and schemas. */
  readonly packageRoot: string;
  /** The user and process that run the program, for ledgers and locks: `alice on host-1, pid 4711`. */
  readonly who: string;
  /** Name of the machine or the container. */
  readonly hostName?: string;
  /** Folder for temporary files. */
  readonly temporaryFolder: string;
  readonly kinds: KindLoader;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Aborted when standard output has no reader any more. A command that only shows something then ends; a command that
   * changes something continues.
   */
  readonly unread?: AbortSignal;
  /**
   * Calls `listener` on each SIGHUP, and at once if there was one before. Without a listener, SIGHUP ends the process, except `run`.
   * @returns a function that removes the listener.
   */
  readonly onHangup?: (listener: () => void) => () => void;
  /** Trades time for memory from now on. Code that was loaded before this call is not affected. */
  readonly spareMemory?: () => void;
  /** Starts a thread that reads and parses sources. Absent: this thread reads and parses them. */
  readonly openThread?: OpenThread;
  /** The versions that `version` prints, such as `process.versions.node`. */
  readonly runtimeVersions: { readonly node: string; readonly platform: string };
  readonly usage: () => ProcessUsage;
}

/** The resident set of the process, and the heap of its main thread. */
export interface ProcessUsage {
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly heapLimitBytes: number;
}

/** Holds everything that a command may touch of the process it runs in. */
export interface Surroundings extends ProcessSurroundings {
  /** Secrets that were read. Code that reads a secret adds it here, and `terminal` masks it from then on. */
  readonly redaction: Redaction;
  /** The bottom lines of `terminal`, which show progress. */
  readonly live: LiveRegion;
  /** Values of flags and variables that override the operator's configuration. */
  readonly overrides: readonly Override[];
  /** Kinds of documents. */
  readonly declarations: Declarations;
}

/** Runs a command and keeps its exit code for main. */
export type Invoke = (work: (surroundings: Surroundings) => Promise<ExitCode>) => Promise<void>;

/** @param words the words after the program's name. */
export type RunCommandLine = (words: readonly string[], around: ProcessSurroundings) => Promise<ExitCode>;

/** Holds the commands of the program, for the few commands that work on commands. */
export interface CommandTree {
  /**
   * Returns the program with the summary of every command, and with arguments and options of the commands that a command
   * line names, or of all. Each of those costs the import of its file.
   */
  build(named: readonly string[] | 'all'): Promise<CommandUnknownOpts>;
  /** Runs a command line, for commands that run other commands. */
  readonly run: RunCommandLine;
}

/** Holds the help of a command beside its options and examples. */
export interface CommandHelp {
  /** One paragraph: purpose, what the command reads, and what it changes. */
  readonly about: string;
  readonly exitCodes: readonly ExitCode[];
  /** Related commands by their words: `ledger list`. */
  readonly seeAlso: readonly string[];
}

/** Describes one command. Its file is imported only when the command line names the command. */
export interface CommandDefinition {
  readonly help: CommandHelp;
  /** Programs read standard output, whatever the locale: a schema, manifests, a script. */
  readonly isData?: true;
  /** The command may show something forever and does nothing else, so it ends when its output has no reader any more. */
  readonly isEndless?: true;
  /** Adds arguments, options, help text and the action to a command that has its name and summary already. */
  define(command: Command, invoke: Invoke, tree: CommandTree): void;
}

/** Holds the parts of a command: help, arguments and options, and the function that runs it. */
export interface CommandParts<Args extends unknown[], Options extends OptionValues>
  extends CommandHelp,
    Pick<CommandDefinition, 'isData' | 'isEndless'> {
  /** Remarks and examples, shown in the help after the options. */
  readonly examples?: string;
  /** Adds arguments and options. The types of the options and arguments that `run` receives are inferred from it. */
  readonly parameters: (command: Command) => Command<Args, Options>;
  /** @returns the exit code; nothing means success. */
  readonly run: (
    surroundings: Surroundings,
    options: Options,
    args: Args,
    called: { readonly command: CommandUnknownOpts; readonly tree: CommandTree },
  ) => Promise<ExitCode | void>;
}

/** The option values that a command line gives to a command. */
export type OptionsOf<Parameters extends (command: Command) => CommandUnknownOpts> = ReturnType<
  ReturnType<Parameters>['opts']
>;

/** Returns the definition of a command. */
export function defineCommand<Args extends unknown[], Options extends OptionValues>({
  about,
  exitCodes,
  seeAlso,
  examples,
  parameters,
  run,
  ...rest
}: CommandParts<Args, Options>): CommandDefinition {
  return {
    ...rest,
    help: { about, exitCodes, seeAlso },
    define(bare, invoke, tree) {
      const command = parameters(bare);
      if (examples !== undefined) command.addHelpText('after', examples);
      command.action(() =>
        invoke(
          async (surroundings) =>
            (await run(surroundings, command.opts(), command.processedArgs, { command, tree })) ?? EXIT.ok,
        ),
      );
    },
  };
}
