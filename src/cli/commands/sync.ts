import { Option } from '@commander-js/extra-typings';
import { PortolanError } from '../../model/errors.ts';
import type { CommandDefinition, Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { openServer } from '../server/client.ts';
import { applicationArgument, serverOption, tokenFileOption, type ServerFlags } from '../server/options.ts';
import { count } from '../terminal/text.ts';

const EXAMPLES = `
Examples:
  portolan sync --server http://127.0.0.1:7780 shop
  portolan sync --all`;

export const syncCommand: CommandDefinition = {
  help: {
    about:
      'Asks a running controller to look at an application at once rather than when its time comes. What comes of it is told by events. Needs a token of an operator.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
    seeAlso: ['events', 'status', 'run'],
  },
  define(command, invoke) {
    command
      .argument('[name]', 'the application', applicationArgument)
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addOption(new Option('--all', 'look at the source and at every application'))
      .addHelpText('after', EXAMPLES)
      .action((name, options) => invoke((surroundings) => sync(name, options, surroundings)));
  },
};

/** Asks for a look; what comes of it is told by `portolan events` and `portolan status`. */
async function sync(
  name: string | undefined,
  options: ServerFlags & { readonly all?: boolean | undefined },
  surroundings: Surroundings,
): Promise<ExitCode> {
  if ((name === undefined) === (options.all !== true)) throw oneOrAll();
  const server = openServer(options, surroundings);
  const path = name === undefined ? 'sync' : `applications/${encodeURIComponent(name)}/sync`;
  const { syncing } = (await server.post(path, 'syncing')) as { readonly syncing: readonly string[] };
  const what = name === undefined ? `the source and ${count(syncing.length, 'application')}` : `Application/${name}`;
  surroundings.terminal.out.write(`asked for a look at ${what}; portolan events --follow tells what comes of it\n`);
  return EXIT.ok;
}

function oneOrAll(): PortolanError {
  return new PortolanError({
    code: 'cli/one-or-all',
    disposition: 'invalid',
    message: 'Either one application or --all is wanted. Nothing was done.',
    remedy: 'Run portolan sync NAME, or portolan sync --all.',
  });
}
