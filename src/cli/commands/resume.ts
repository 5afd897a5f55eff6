import type { CommandDefinition } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { openServer } from '../server/client.ts';
import { applicationArgument, serverOption, tokenFileOption } from '../server/options.ts';

const EXAMPLES = `
Examples:
  portolan resume --server http://127.0.0.1:7780 shop`;

export const resumeCommand: CommandDefinition = {
  help: {
    about:
      'Ends the suspension of an application: the controller looks at it again at once. Needs a token of an operator.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
    seeAlso: ['suspend', 'status', 'events'],
  },
  define(command, invoke) {
    command
      .argument('<name>', 'the application', applicationArgument)
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addHelpText('after', EXAMPLES)
      .action((name, options) =>
        invoke(async (surroundings) => {
          const server = openServer(options, surroundings);
          await server.post(`applications/${encodeURIComponent(name)}/resume`, 'id');
          surroundings.terminal.out.write(`Application/${name} goes on\n`);
          return EXIT.ok;
        }),
      );
  },
};
