import { Option } from '@commander-js/extra-typings';
import { adoptByHand, objectsNamed } from '../../../reconcile/resolution/books-by-hand.ts';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { ledgerFileOption, type LedgerOptions, sourceFilterOption, writingLedger } from './opening.ts';
import { requiredReason, writeJson } from './words.ts';

const HELP = `
For rules that are on record as seen but not ours, or as ours but never seen: a person says that one of them is ours, and
with --id which one it is. What is not on record at all is adopted by apply --adopt, which looks at it first.

Examples:
  portolan ledger adopt HttpGatewayRule/shop-www --id 9d2f0a1a42eb94c856e683e1e8bcc7f5 --reason "looked it up in the console"`;

export const adoptCommand: CommandDefinition = {
  help: {
    about:
      'Ties a rule to the object of the platform that it is, by its id, where observation finds several that it could be or none. Only the ledger changes.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.locked],
    seeAlso: ['adopt', 'ledger list', 'ledger forget'],
  },
  define(command, invoke) {
    command
      .argument('<name>', 'uid of an object, or resource (Kind/name) with one object')
      .addOption(new Option('--id <id>', "the platform's id of the rule (http_rule_id)"))
      .addOption(new Option('--reason <text>', 'why, for the history (required)'))
      .addOption(ledgerFileOption())
      .addOption(sourceFilterOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((name, options) => invoke((surroundings) => adopt(name, options, surroundings)));
  },
};

interface AdoptOptions extends LedgerOptions {
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  readonly source?: string | undefined;
  readonly output: 'text' | 'json';
}

async function adopt(name: string, options: AdoptOptions, surroundings: Surroundings): Promise<ExitCode> {
  const reason = requiredReason(options.reason);
  const { terminal } = surroundings;
  const adopted = await writingLedger('ledger adopt', options, surroundings, async (world) =>
    adoptByHand(world, await objectsNamed(world, name, options.source), options.id, reason),
  );
  if (options.output === 'json') writeJson({ adopted }, terminal);
  else {
    const id =
      adopted.remoteId === null
        ? 'its id is not known, so this server can be asked nothing about it'
        : `id ${adopted.remoteId}`;
    terminal.out.write(`adopted ${safeLine(adopted.uid)} (${safeLine(id)})\nNothing was sent to the platform.\n`);
  }
  return EXIT.ok;
}
