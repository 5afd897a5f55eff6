import { Argument } from '@commander-js/extra-typings';
import type { CommandDefinition, CommandTree, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { SCRIPTS, type Shell, SHELLS } from './scripts.ts';

const HELP = `
Examples:
  source <(portolan completion bash)     # in ~/.bashrc, for every shell
  source <(portolan completion zsh)     # in ~/.zshrc, behind compinit
  portolan completion fish > ~/.config/fish/completions/portolan.fish`;

export const completionCommand: CommandDefinition = {
  isData: true,
  help: {
    about:
      'Prints a script that completes commands, flags, choices, kinds and the names of resources and applications in the manifests at hand. It asks nobody and opens no ledger.',
    exitCodes: [EXIT.ok, EXIT.invalid],
    seeAlso: ['explain'],
  },
  define(command, invoke) {
    command
      .addArgument(new Argument('<shell>', 'whose completion it is').choices(SHELLS))
      .addHelpText('after', HELP)
      .action((shell: Shell) =>
        invoke(async ({ terminal }) => {
          terminal.out.write(SCRIPTS[shell]);
          return EXIT.ok;
        }),
      );
  },
};

/** What the scripts ask at each Tab: a line per candidate, and what to make of them. It never fails. */
export const completeCommand: CommandDefinition = {
  isData: true,
  help: { about: 'Asked by the scripts of portolan completion.', exitCodes: [EXIT.ok], seeAlso: ['completion'] },
  define(command, invoke, tree) {
    command
      .argument('[words...]', 'the words behind the program, up to the cursor')
      .action((words) => invoke((surroundings) => answer(words, tree, surroundings)));
  },
};

async function answer(words: readonly string[], tree: CommandTree, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal, env } = surroundings;
  try {
    const [{ complete }, { namesAtHand }] = await Promise.all([import('./candidates.ts'), import('./at-hand.ts')]);
    const completion = complete(words, await tree.build(words), namesAtHand(surroundings.declarations, env));
    const lines =
      completion.type === 'files' ? [] : completion.words.map(({ value, description }) => `${value}\t${description}`);
    terminal.out.write([...lines, `:${completion.type}`].map((line) => `${line}\n`).join(''));
  } catch {
    // A word in the prompt would be worse than no completion; the command itself says what is wrong.
  }
  return EXIT.ok;
}
