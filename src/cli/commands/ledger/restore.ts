import { Option } from '@commander-js/extra-typings';
import type { RestoreReport } from '../../../ledger/backup.ts';
import { fileExists } from '../../../ledger/files.ts';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { confirm } from '../../terminal/confirm.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { actorOf, ledgerFileOption, type LedgerOptions, ledgerPath } from './opening.ts';
import { ledgerFlag, writeJson } from './words.ts';

const HELP = `
The ledger that was there is kept beside the restored one. What was done since the backup is not in it: no install or
upgrade is sent until a person has looked and confirmed each application (portolan ledger confirm SCOPE).

Examples:
  portolan ledger restore portolan-2026-11-20.db`;

export const restoreCommand: CommandDefinition = {
  help: {
    about:
      'Puts a backup where the ledger is, and keeps the one that was there beside it. What was done since the backup is not on record then, so installs wait for ledger confirm.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
    seeAlso: ['ledger backup', 'ledger confirm', 'ledger verify'],
  },
  define(command, invoke) {
    command
      .argument('<file>', 'a backup')
      .addOption(new Option('-y, --yes', 'go ahead without a question'))
      .addOption(ledgerFileOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((file, options) => invoke((surroundings) => restore(file, options, surroundings)));
  },
};

interface RestoreOptions extends LedgerOptions {
  readonly yes?: true | undefined;
  readonly output: 'text' | 'json';
}

async function restore(file: string, options: RestoreOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal, clock, random } = surroundings;
  const path = ledgerPath(options);
  const question = `Put ${file} in the place of the ledger ${path}, which is kept beside it?`;
  if (fileExists(path) && options.yes !== true && !(await confirm(terminal, question, '--yes'))) {
    terminal.err.write('Nothing was changed.\n');
    return EXIT.ok;
  }
  const { restoreLedger } = await import('../../../ledger/backup.ts');
  const report = await restoreLedger(path, file, { clock, random, actor: actorOf('ledger restore', surroundings) });
  if (options.output === 'json') writeJson({ ledger: report }, terminal);
  else terminal.out.write(account(file, report, options));
  return EXIT.ok;
}

function account(file: string, { path, replaced, epoch }: RestoreReport, options: LedgerOptions): string {
  const lines = [
    `${safeLine(path)} is ${safeLine(file)} again, at epoch ${epoch}`,
    ...(replaced === undefined ? [] : [`the ledger that was there is kept as ${safeLine(replaced)}`]),
    `No install or upgrade is sent until its application is confirmed: portolan ledger confirm SCOPE${ledgerFlag(options)}`,
  ];
  return `${lines.join('\n')}\n`;
}
