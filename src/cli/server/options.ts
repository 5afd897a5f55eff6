import type { Command, OptionValues } from '@commander-js/extra-typings';
import { invalidInput } from '../../model/errors.ts';

/** The flags of every command that talks to a server. */
export interface ServerFlags {
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Adds the options that name a running controller. Some commands also work without one. */
export function addServerOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .option('--server <url>', 'use this running controller (portolan run), such as http://127.0.0.1:7780')
    .option('--token-file <file>', 'file with the token for --server (default: the variable PORTOLAN_SERVER_TOKEN)');
}

/** Parses the name of an application, with or without its kind. @returns `metadata.name`. */
export function applicationArgument(text: string): string {
  return text.replace(/^Application\//, '');
}

/** Returns the address of the server. @throws PortolanError `cli/no-server` when there is none. */
export function requiredServer(server: string | undefined): string {
  if (server !== undefined) return server;
  throw invalidInput(
    'cli/no-server',
    'The command requires a server.',
    'Pass --server with the address of a running controller, or set PORTOLAN_SERVER.',
  );
}
