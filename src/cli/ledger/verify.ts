import type { LedgerFinding } from '../../ledger/verify.ts';
import { safeLine } from '../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { outputOption } from '../options.ts';
import { count } from '../text.ts';
import { existingLedgerPath, ledgerFileOption, type LedgerOptions } from './opening.ts';
import { writeJson } from './words.ts';

const HELP = `
Checks the file's structure, and that no line of the history was changed, moved or taken out since it was written.
Reads only, beside whoever writes. Ends with 1 when something is not as it was written.

Examples:
  portolan ledger verify --ledger /var/lib/portolan/portolan.db`;

export const verifyCommand: CommandDefinition = {
  help: {
    about:
      'Checks the file of the ledger, its schema and the chain of its history, each line of which seals the one before it. Writes nothing.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
    seeAlso: ['ledger backup', 'ledger restore'],
  },
  define(command, invoke) {
    command
      .addOption(ledgerFileOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((options) => invoke((surroundings) => verify(options, surroundings)));
  },
};

async function verify(
  options: LedgerOptions & { readonly output: 'text' | 'json' },
  { terminal }: Surroundings,
): Promise<ExitCode> {
  const path = existingLedgerPath(options);
  const { verifySqliteLedger } = await import('../../ledger/verify.ts');
  const findings = verifySqliteLedger(path);
  const exitCode = findings.length === 0 ? EXIT.ok : EXIT.failed;
  if (options.output === 'json') {
    writeJson({ ledger: path, findings }, terminal);
    return exitCode;
  }
  if (findings.length === 0) {
    terminal.out.write(`${safeLine(path)} is whole, and its history is as it was written\n`);
    return exitCode;
  }
  for (const finding of findings) terminal.out.write(`${safeLine(sentence(finding))}\n`);
  terminal.err.write(
    `${count(findings.length, 'finding')}. Keep a copy of ${safeLine(path)} and what stands beside it, and restore a backup: portolan ledger restore BACKUP.\n`,
  );
  return exitCode;
}

function sentence({ area, scope, message }: LedgerFinding): string {
  return `${area}${scope === undefined ? '' : ` of ${scope}`}: ${message}`;
}
