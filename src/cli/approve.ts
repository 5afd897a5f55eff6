import type { CommandDefinition } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { openServer } from './server/client.ts';
import { applicationArgument, serverOption, tokenFileOption } from './server/options.ts';

const EXAMPLES = `
Examples:
  portolan status --server http://127.0.0.1:7780      # has the digest of what waits for approval
  portolan approve --server http://127.0.0.1:7780 shop 3f9a...`;

/** Lets the one plan through that has this digest; a plan that differs by anything needs a word of its own. */
export const approveCommand: CommandDefinition = {
  define(command, invoke) {
    command
      .argument('<name>', 'the application', applicationArgument)
      .argument('<digest>', 'of the plan, as status and plan show it')
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addHelpText('after', EXAMPLES)
      .action((name, digest, options) =>
        invoke(async (surroundings) => {
          const server = openServer(options, surroundings);
          await server.post(`applications/${encodeURIComponent(name)}/approve`, 'id', { digest });
          surroundings.terminal.out.write(`the plan ${digest} of Application/${name} is approved\n`);
          return EXIT.ok;
        }),
      );
  },
};
