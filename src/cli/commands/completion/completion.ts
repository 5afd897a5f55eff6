import { Argument } from '@commander-js/extra-typings';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { textOfLines } from '../../terminal/text.ts';
import { SCRIPTS, SHELLS } from './scripts.ts';

export const completionCommand = defineCommand({
  isData: true,
  about:
    'Prints a script that completes commands, flags, choices, kinds and the names of resources and applications in the manifests at hand. It reads only local files, and no ledger.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['explain'],
  examples: `
Examples:
  source <(portolan completion bash)     # in ~/.bashrc, for every shell
  source <(portolan completion zsh)     # in ~/.zshrc, after compinit
  portolan completion fish > ~/.config/fish/completions/portolan.fish`,
  parameters: (command) => command.addArgument(new Argument('<shell>', 'the shell to complete').choices(SHELLS)),
  async run({ terminal }, _options, [shell]) {
    terminal.out.write(SCRIPTS[shell]);
  },
});

/**
 * Answers the completion scripts at each Tab: a line per candidate, and a last line with the kind of completion. It never
 * fails.
 */
export const completeCommand = defineCommand({
  isData: true,
  about: 'Run by the scripts of portolan completion.',
  exitCodes: [EXIT.ok],
  seeAlso: ['completion'],
  parameters: (command) => command.argument('[words...]', 'the words of the command line, up to the cursor'),
  async run({ terminal, env, declarations }, _options, [words], { tree }) {
    try {
      const [{ complete }, { readLocalNames }] = await Promise.all([
        import('./candidates.ts'),
        import('./local-names.ts'),
      ]);
      const completion = complete(words, await tree.build(words), readLocalNames(declarations, env));
      const lines =
        completion.type === 'files' ? [] : completion.words.map(({ value, description }) => `${value}\t${description}`);
      terminal.out.write(textOfLines([...lines, `:${completion.type}`]));
    } catch {
      // An error message in the prompt would be worse than no completion. The command itself reports the error.
    }
  },
});
