import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import { invalidInput } from '../../model/errors.ts';

/** What every command that talks to a server takes. */
export interface ServerFlags {
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** `--server URL`: a running controller, for commands that can do without one too. */
export const serverOption = () =>
  new Option('--server <url>', 'ask this running controller (portolan run), such as http://127.0.0.1:7780');

export const tokenFileOption = () =>
  new Option(
    '--token-file <file>',
    'file with the token for --server; without it the variable PORTOLAN_SERVER_TOKEN has it',
  );

/** Adds the options that name a running controller. */
export function addServerOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command.addOption(serverOption()).addOption(tokenFileOption());
}

/** Name of an application as a person gives it, with or without its kind. @returns `metadata.name`. */
export function applicationArgument(text: string): string {
  return text.replace(/^Application\//, '');
}

/** @throws PortolanError `cli/no-server` */
export function requiredServer(server: string | undefined): string {
  if (server !== undefined) return server;
  throw invalidInput(
    'cli/no-server',
    'No server is named, so nobody was asked.',
    'Pass --server with the address of the running controller, or set PORTOLAN_SERVER.',
  );
}
