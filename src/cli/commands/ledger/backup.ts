import { Option } from '@commander-js/extra-typings';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { existingLedgerPath, ledgerFileOption, type LedgerOptions } from './opening.ts';
import { refuseToOverwrite } from './target.ts';
import { writeJson } from './words.ts';

const HELP = `
Works beside a controller that writes. The copy is whole, of one moment, and only its owner may read it. A plain copy of
the file is not a backup: what was written last stands beside it.

Examples:
  portolan ledger backup "portolan-$(date +%F).db"`;

export const backupCommand: CommandDefinition = {
  help: {
    about:
      'Writes a copy of the ledger as of one moment, which only its owner may read. Works beside a running controller, and is what ledger restore takes.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
    seeAlso: ['ledger restore', 'ledger verify', 'ledger export'],
  },
  define(command, invoke) {
    command
      .argument('<file>', 'where the copy goes')
      .addOption(new Option('--overwrite', 'replace an older copy of that name'))
      .addOption(ledgerFileOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((file, options) => invoke((surroundings) => backup(file, options, surroundings)));
  },
};

interface BackupOptions extends LedgerOptions {
  readonly overwrite?: true | undefined;
  readonly output: 'text' | 'json';
}

async function backup(file: string, options: BackupOptions, { terminal }: Surroundings): Promise<ExitCode> {
  const path = existingLedgerPath(options);
  refuseToOverwrite(file, path, options.overwrite === true);
  const { backUpLedger } = await import('../../../ledger/backup.ts');
  const report = backUpLedger(path, file);
  if (options.output === 'json') writeJson({ ledger: path, backup: report }, terminal);
  else terminal.out.write(`${safeLine(report.path)} holds ${safeLine(path)} as of its transaction ${report.serial}\n`);
  return EXIT.ok;
}
