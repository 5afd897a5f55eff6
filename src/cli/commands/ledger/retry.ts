import { objectsNamed, retryByHand } from '../../../reconcile/resolution/books-by-hand.ts';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { count } from '../../terminal/text.ts';
import { ledgerFileOption, type LedgerOptions, sourceFilterOption, writingLedger } from './opening.ts';
import { writeJson } from './words.ts';

const HELP = `
What the platform accepted three times without doing it is held, so that nothing is written for ever. After you have
seen to the cause, this lets the next apply try it again.

Examples:
  portolan ledger retry default:default/team-a/region-1/42:Component:port/6f3c1d5e/8080
  portolan ledger retry Component/shop-web`;

export const retryCommand: CommandDefinition = {
  help: {
    about:
      'What the platform accepted and did not make is held after three attempts. This lets the next apply try it again.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
    seeAlso: ['ledger list', 'apply'],
  },
  define(command, invoke) {
    command
      .argument('<name>', 'uid of an object, or resource (Kind/name) for all its objects')
      .addOption(ledgerFileOption())
      .addOption(sourceFilterOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((name, options) => invoke((surroundings) => retry(name, options, surroundings)));
  },
};

interface RetryOptions extends LedgerOptions {
  readonly source?: string | undefined;
  readonly output: 'text' | 'json';
}

async function retry(name: string, options: RetryOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  const released = await writingLedger('ledger retry', options, surroundings, async (world) =>
    retryByHand(world, await objectsNamed(world, name, options.source)),
  );
  if (options.output === 'json') {
    writeJson({ retried: released.map(({ uid, failures }) => ({ uid, failures })) }, terminal);
    return EXIT.ok;
  }
  terminal.out.write(
    released.length === 0
      ? `${safeLine(name)} has no failure on record; nothing was changed\n`
      : `${released.map(({ uid, failures }) => `${safeLine(uid)}: ${count(failures, 'failure')} forgiven\n`).join('')}The next apply tries again.\n`,
  );
  return EXIT.ok;
}
