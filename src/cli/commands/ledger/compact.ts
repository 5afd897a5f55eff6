import { Option } from '@commander-js/extra-typings';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { durationArgument, integerArgument, outputOption } from '../../session/options.ts';
import { count } from '../../terminal/text.ts';
import { actorOf, existingLedgerPath, ledgerFileOption, type LedgerOptions } from './opening.ts';
import { writeJson } from './words.ts';

const HELP = `
Objects, facts and requests without a known outcome always stay; settled requests stay for 30 days at least. The history
can still be verified afterwards. To keep what goes, export it first.

Examples:
  portolan ledger compact
  portolan ledger compact --keep 720h --keep-per-object 20`;

export const compactCommand: CommandDefinition = {
  help: {
    about:
      'Drops settled requests and old lines of history, keeps what is ours and all that is in doubt, and gives the space back to the disk.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.locked],
    seeAlso: ['ledger backup', 'ledger history'],
  },
  define(command, invoke) {
    command
      .addOption(
        new Option('--keep <duration>', 'history younger than this stays (default: 2160h, 90 days)').argParser(
          durationArgument,
        ),
      )
      .addOption(
        new Option('--keep-per-object <n>', 'so many lines of each object stay, however old (default: 50)').argParser(
          integerArgument(0, 1_000_000),
        ),
      )
      .addOption(ledgerFileOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((options) => invoke((surroundings) => compact(options, surroundings)));
  },
};

interface CompactOptions extends LedgerOptions {
  readonly keep?: number | undefined;
  readonly keepPerObject?: number | undefined;
  readonly output: 'text' | 'json';
}

async function compact(options: CompactOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { keep, keepPerObject } = options;
  const { terminal, clock, random } = surroundings;
  const path = existingLedgerPath(options);
  const { openSqliteLedger } = await import('../../../ledger/sqlite.ts');
  const actor = actorOf('ledger compact', surroundings);
  const ledger = await openSqliteLedger(path, { clock, random, actor });
  try {
    const removed = await ledger.compact({
      nowMs: clock.now(),
      actor,
      ...(keep === undefined ? {} : { keepMs: keep }),
      ...(keepPerObject === undefined ? {} : { keepPerObject }),
    });
    if (options.output === 'json') writeJson({ ledger: path, removed }, terminal);
    else
      terminal.out.write(
        `removed ${count(removed.history, 'line')} of history, ${count(removed.intents, 'settled request')}, ${count(removed.snapshots, 'snapshot')}\n`,
      );
  } finally {
    await ledger.close();
  }
  return EXIT.ok;
}
