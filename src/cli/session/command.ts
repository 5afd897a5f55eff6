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

/** The command that the completion scripts ask. It is no part of the help: nobody types it. */
export const ASKED = '__complete';

/** The kinds that the program knows. Each is loaded when a command needs it. */
export interface KindLoader {
  /** Kinds of documents. */
  declared(): Promise<Declarations>;
  /** Kinds that are reconciled, with all that it takes. */
  reconciled(): Promise<ReconciledKinds>;
}

/** What is around the program. Only `main.ts` makes a real one. */
export interface ProcessSurroundings {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the installed package: examples and schemas are in it. */
  readonly packageRoot: string;
  /** Who runs it, for ledgers and locks: `alice on host-1, pid 4711`. */
  readonly who: string;
  /** Where files may be made that nobody needs for long. */
  readonly temporaryFolder: string;
  readonly kinds: KindLoader;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Aborted when nobody reads standard output any more. What only shows goes no further; what changes things does. */
  readonly unread?: AbortSignal;
  /** Calls back on each SIGHUP from now on; without a listener that ends the process. @returns how to stop it. */
  readonly onHangup?: (listener: () => void) => () => void;
  /** From now on rather take more time than more memory. Code that is loaded after it is compiled anew. */
  readonly spareMemory?: () => void;
  /** Starts a thread that reads and parses sources. Absent: they are read and parsed in this one. */
  readonly openThread?: OpenThread;
  /** `process.versions.node`, and so on: what `version` prints. */
  readonly runtimeVersions: { readonly node: string; readonly platform: string };
}

/** Everything a command may touch of the process it runs in. */
export interface Surroundings extends ProcessSurroundings {
  /** Whoever reads a secret adds it here: `terminal` masks it from then on. */
  readonly redaction: Redaction;
  /** The bottom of `terminal`, for what is going on. */
  readonly live: LiveRegion;
  /** What flags and variables say in place of the operator's configuration. */
  readonly overrides: readonly Override[];
  /** Kinds of documents. */
  readonly declarations: Declarations;
}

/** Runs a command's work and keeps its exit code for main. */
export type Invoke = (work: (surroundings: Surroundings) => Promise<ExitCode>) => Promise<void>;

/** @param words the words after the program's name. */
export type RunCommandLine = (words: readonly string[], around: ProcessSurroundings) => Promise<ExitCode>;

/** The commands of the program, for the few commands that are about commands. */
export interface CommandTree {
  /**
   * Every command with its summary, and with its arguments and options those that a command line names, or all of them:
   * each costs the import of its file.
   */
  build(named: readonly string[] | 'all'): Promise<CommandUnknownOpts>;
  /** Runs a command line, for the commands that run others. */
  readonly run: RunCommandLine;
}

/** What the help of a command says beside its options and examples. */
export interface CommandHelp {
  /** What it is for, what it reads and what it changes: a paragraph. */
  readonly about: string;
  readonly exitCodes: readonly ExitCode[];
  /** Commands by their words: `ledger list`. */
  readonly seeAlso: readonly string[];
}

/** One command. Its file is imported only when the command is named on the command line. */
export interface CommandDefinition {
  readonly help: CommandHelp;
  /** Standard output is for programs, whatever the locale: a schema, manifests, a script. */
  readonly isData?: true;
  /** It may go on showing for ever, and does nothing else: it ends when nobody reads it any more. */
  readonly goesOn?: true;
  /** Adds arguments, options, help text and the action to a command that has its name and summary already. */
  define(command: Command, invoke: Invoke, tree: CommandTree): void;
}

/** What a command is written as: its help, its arguments and options, and what it does with them. */
export interface CommandParts<Args extends unknown[], Options extends OptionValues>
  extends CommandHelp,
    Pick<CommandDefinition, 'isData' | 'goesOn'> {
  /** Stands behind the options in the help: remarks and examples. */
  readonly examples?: string;
  /** Adds arguments and options; the types of those that `run` gets are inferred from it. */
  readonly parameters: (command: Command) => Command<Args, Options>;
  /** @returns what the command ends with; nothing stands for a good end. */
  readonly run: (
    surroundings: Surroundings,
    options: Options,
    args: Args,
    called: { readonly command: CommandUnknownOpts; readonly tree: CommandTree },
  ) => Promise<ExitCode | void>;
}

/** What a command line makes of the options of a command. */
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
