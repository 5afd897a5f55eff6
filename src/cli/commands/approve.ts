import type { CommandDefinition } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { openServer } from '../server/client.ts';
import { applicationArgument, serverOption, tokenFileOption } from '../server/options.ts';

const EXAMPLES = `
Examples:
  portolan status --server http://127.0.0.1:7780      # has the digest of what waits for approval
  portolan approve --server http://127.0.0.1:7780 shop 3f9a...`;

/** Lets the one plan through that has this digest; a plan that differs by anything needs a word of its own. */
export const approveCommand: CommandDefinition = {
  help: {
    about:
      'A guard that held a change names the digest of its plan. This lets through that plan, and no other: when anything in it is different by then, it is held again. Needs a token of an operator.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
    seeAlso: ['plan', 'status', 'events'],
  },
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
