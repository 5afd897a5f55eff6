import { Option } from '@commander-js/extra-typings';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { writePrivateLines } from '../../session/files.ts';
import { count } from '../../terminal/text.ts';
import { existingLedgerPath, ledgerFileOption, type LedgerOptions } from './opening.ts';
import { refuseToOverwrite } from './target.ts';

const HELP = `
One line for the ledger itself, then one per snapshot, fact, object, intent and line of history, as of one moment. Works
beside a controller that writes. It is for reading elsewhere; to put a ledger back, make a backup.

Examples:
  portolan ledger export | jq -c 'select(.type == "object")'
  portolan ledger export ledger.ndjson`;

export const exportCommand: CommandDefinition = {
  isData: true,
  help: {
    about: 'Writes all that the ledger holds as lines of JSON, for reading elsewhere. It is no backup.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
    seeAlso: ['ledger backup', 'ledger list'],
  },
  define(command, invoke) {
    command
      .argument('[file]', 'where it goes (default: standard output)')
      .addOption(new Option('--overwrite', 'replace a file of that name'))
      .addOption(ledgerFileOption())
      .addHelpText('after', HELP)
      .action((file, options) => invoke((surroundings) => exportLedger(file, options, surroundings)));
  },
};

interface ExportOptions extends LedgerOptions {
  readonly overwrite?: true | undefined;
}

async function exportLedger(
  file: string | undefined,
  options: ExportOptions,
  { terminal }: Surroundings,
): Promise<ExitCode> {
  const path = existingLedgerPath(options);
  const { exportNdjson } = await import('../../../ledger/export.ts');
  if (file === undefined || file === '-') {
    for (const line of exportNdjson(path)) terminal.out.write(`${line}\n`);
    return EXIT.ok;
  }
  refuseToOverwrite(file, path, options.overwrite === true);
  const lines = writePrivateLines(file, exportNdjson(path));
  terminal.err.write(`${count(lines, 'line')} in ${safeLine(file)}\n`);
  return EXIT.ok;
}
