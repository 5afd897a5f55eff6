import type { Command } from '@commander-js/extra-typings';
import { invalidInput } from '../../model/errors.ts';
import { openServer } from '../server/client.ts';
import { addServerOptions, applicationArgument, type ServerFlags } from '../server/options.ts';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { count } from '../terminal/text.ts';

/** Commands that send a request to a running controller. */

const EXIT_CODES = [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted];

const forApplication = (command: Command) =>
  addServerOptions(command.argument('<name>', 'the application', applicationArgument));

/** Posts a request about one application. @param verb the last part of its address. */
async function request(name: string, verb: string, body: object | undefined, flags: ServerFlags, around: Surroundings) {
  await openServer(flags, around).post(`applications/${encodeURIComponent(name)}/${verb}`, 'id', body);
}

export const syncCommand = defineCommand({
  about:
    'Requests an immediate sync of an application from a running controller. portolan events shows the result. Needs a token with the role operate.',
  exitCodes: EXIT_CODES,
  seeAlso: ['events', 'status', 'run'],
  examples: `
Examples:
  portolan sync --server http://127.0.0.1:7780 shop
  portolan sync --all`,
  parameters: (command) =>
    addServerOptions(command.argument('[name]', 'the application', applicationArgument)).option(
      '--all',
      'sync the source and every application',
    ),
  async run(surroundings, options, [name]) {
    if ((name === undefined) === (options.all !== true))
      throw invalidInput(
        'cli/one-or-all',
        'The command requires either one application or --all.',
        'Run portolan sync NAME, or portolan sync --all.',
      );
    const server = openServer(options, surroundings);
    const path = name === undefined ? 'sync' : `applications/${encodeURIComponent(name)}/sync`;
    const { syncing } = (await server.post(path, 'syncing')) as { readonly syncing: readonly string[] };
    const what = name === undefined ? `the source and ${count(syncing.length, 'application')}` : `Application/${name}`;
    surroundings.terminal.out.write(`sync of ${what} requested; portolan events --follow shows the result\n`);
  },
});

export const suspendCommand = defineCommand({
  about:
    'Makes a running controller write nothing for an application until it is resumed, also after a restart. The platform stays as it is. Needs a token with the role operate.',
  exitCodes: EXIT_CODES,
  seeAlso: ['resume', 'status', 'events'],
  examples: `
Examples:
  portolan suspend --server http://127.0.0.1:7780 shop --reason 'database is being moved, see OPS-17'`,
  parameters: (command) =>
    forApplication(command).option('--reason <text>', 'reason, shown with the suspended application', 'not given'),
  async run(surroundings, { reason, ...flags }, [name]) {
    await request(name, 'suspend', { reason }, flags, surroundings);
    surroundings.terminal.out.write(
      `Application/${name} is suspended: nothing is written for it until portolan resume ${name}\n`,
    );
  },
});

export const resumeCommand = defineCommand({
  about: 'Ends the suspension of an application. The controller syncs it at once. Needs a token with the role operate.',
  exitCodes: EXIT_CODES,
  seeAlso: ['suspend', 'status', 'events'],
  examples: `
Examples:
  portolan resume --server http://127.0.0.1:7780 shop`,
  parameters: forApplication,
  async run(surroundings, flags, [name]) {
    await request(name, 'resume', undefined, flags, surroundings);
    surroundings.terminal.out.write(`Application/${name} is resumed\n`);
  },
});
