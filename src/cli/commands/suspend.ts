import { Option } from '@commander-js/extra-typings';
import type { CommandDefinition } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { openServer } from '../server/client.ts';
import { applicationArgument, serverOption, tokenFileOption } from '../server/options.ts';

const EXAMPLES = `
Examples:
  portolan suspend --server http://127.0.0.1:7780 shop --reason 'database is being moved, see OPS-17'`;

/** Nothing is written for an application until it is resumed, over restarts of the server too. */
export const suspendCommand: CommandDefinition = {
  help: {
    about:
      'Tells a running controller to write nothing for an application until it is resumed, over its restarts too. What the platform has stays as it is. Needs a token of an operator.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
    seeAlso: ['resume', 'status', 'events'],
  },
  define(command, invoke) {
    command
      .argument('<name>', 'the application', applicationArgument)
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addOption(new Option('--reason <text>', 'why, for whoever finds it suspended').default('not given'))
      .addHelpText('after', EXAMPLES)
      .action((name, options) =>
        invoke(async (surroundings) => {
          const server = openServer(options, surroundings);
          const path = `applications/${encodeURIComponent(name)}/suspend`;
          await server.post(path, 'id', { reason: options.reason });
          surroundings.terminal.out.write(
            `Application/${name} is suspended: nothing is written for it until portolan resume ${name}\n`,
          );
          return EXIT.ok;
        }),
      );
  },
};
