import { Option } from '@commander-js/extra-typings';
import { makesCopies, type ReconciledKinds } from '../../../kinds/define.ts';
import type { OwnedObject } from '../../../model/owned.ts';
import { forgetByHand, objectsNamed } from '../../../reconcile/resolution/books-by-hand.ts';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { ledgerFileOption, type LedgerOptions, sourceFilterOption, writingLedger } from './opening.ts';
import { requiredReason, warn, writeJson } from './words.ts';

const HELP = `
Nothing is sent to the platform: what the objects stand for stays there, and is not ours any more. While a manifest
names it, the next apply sees it as something that exists and is not ours.

Examples:
  portolan ledger forget HttpGatewayRule/shop-www --reason "deleted in the console, ticket 4711"
  portolan ledger forget default:default/team-a/region-1/42:Component:port/6f3c1d5e/8080 --reason "…"`;

export const forgetCommand: CommandDefinition = {
  help: {
    about:
      'Takes objects off the record: on the platform they stay as they are, and nothing prunes them any more. Only the ledger changes.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
    seeAlso: ['ledger list', 'ledger adopt'],
  },
  define(command, invoke) {
    command
      .argument('<name>', 'uid of an object, or resource (Kind/name) for all its objects')
      .addOption(new Option('--reason <text>', 'why, for the history (required)'))
      .addOption(ledgerFileOption())
      .addOption(sourceFilterOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((name, options) => invoke((surroundings) => forget(name, options, surroundings)));
  },
};

interface ForgetOptions extends LedgerOptions {
  readonly reason?: string | undefined;
  readonly source?: string | undefined;
  readonly output: 'text' | 'json';
}

async function forget(name: string, options: ForgetOptions, surroundings: Surroundings): Promise<ExitCode> {
  const reason = requiredReason(options.reason);
  const { terminal } = surroundings;
  const dropped = await writingLedger('ledger forget', options, surroundings, async (world) => {
    const objects = await objectsNamed(world, name, options.source);
    await forgetByHand(world, objects, reason);
    return objects;
  });
  const kinds = await surroundings.kinds.reconciled();
  const warnings = dropped.flatMap((object) => warningsOf(kinds, object));
  if (options.output === 'json') {
    writeJson({ forgotten: dropped, warnings }, terminal);
    return EXIT.ok;
  }
  for (const object of dropped) terminal.out.write(`forgot ${safeLine(object.uid)}\n`);
  terminal.out.write('Nothing was sent to the platform.\n');
  warn(warnings, terminal);
  return EXIT.ok;
}

/** What the ledger alone knew, and what follows from nobody knowing it. */
function warningsOf(kinds: ReconciledKinds, { kind, resource, scope, obligation }: OwnedObject): readonly string[] {
  const owed =
    obligation === null
      ? []
      : Object.entries(obligation).map(([field, value]) => `${field} = ${JSON.stringify(value)}`);
  return [
    ...(makesCopies(kinds, kind)
      ? [
          `while a manifest names ${resource}, an apply would install it a second time; that waits until somebody says that it is safe: portolan ledger confirm ${scope}`,
        ]
      : []),
    ...(owed.length === 0
      ? []
      : [`${resource} was changed for a moment and is not put back by itself any more: restore ${owed.join(', ')}`]),
  ];
}
