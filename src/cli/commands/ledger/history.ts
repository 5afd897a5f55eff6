import { Option } from '@commander-js/extra-typings';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { integerArgument, outputOption } from '../../session/options.ts';
import { ledgerFileOption, type LedgerOptions, readingLedger } from './opening.ts';
import { historyTable, writeJson } from './words.ts';

const LIMIT = 50;

const EXAMPLES = `
Examples:
  portolan ledger history
  portolan ledger history --scope default/team-a/region-1/42 --limit 200
  portolan ledger history --uid default:default/team-a/region-1/42:StoreInstall:install/shop-db`;

export const historyCommand: CommandDefinition = {
  help: {
    about:
      'Lists what was sent, answered, recorded and decided by hand, newest first. Works beside a running controller.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
    seeAlso: ['ledger show', 'events'],
  },
  define(command, invoke) {
    command
      .addOption(ledgerFileOption())
      .addOption(new Option('--scope <scope>', 'only this application: platform/team/region/appId'))
      .addOption(new Option('--uid <uid>', 'only this object'))
      .addOption(
        new Option('--limit <n>', 'at most so many lines').argParser(integerArgument(1, 1_000_000)).default(LIMIT),
      )
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', EXAMPLES)
      .action((options) => invoke((surroundings) => history(options, surroundings)));
  },
};

interface HistoryOptions extends LedgerOptions {
  readonly scope?: string | undefined;
  readonly uid?: string | undefined;
  readonly limit: number;
  readonly output: 'text' | 'json';
}

async function history(options: HistoryOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { scope, uid, limit, output } = options;
  const { terminal } = surroundings;
  const found = await readingLedger(options, surroundings, (ledger) =>
    ledger.history({
      ...(scope === undefined ? {} : { scope }),
      ...(uid === undefined ? {} : { uid }),
      limit: limit + 1,
    }),
  );
  const rows = found.slice(0, limit);
  const hasMore = found.length > limit;
  if (output === 'json') {
    writeJson({ history: rows, hasMore }, terminal);
    return EXIT.ok;
  }
  terminal.out.write(rows.length === 0 ? 'No line of history.\n' : historyTable(rows, scope === undefined));
  if (hasMore) terminal.err.write(`There is more: the newest ${limit} are shown. --limit shows as many as you say.\n`);
  return EXIT.ok;
}
