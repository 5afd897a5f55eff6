import type { InventoryCoverage, LedgerFinding } from '../../../ledger/verify.ts';
import { safeLine } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { count } from '../../terminal/text.ts';
import { existingLedgerPath, ledgerFileOption, type LedgerOptions } from './opening.ts';
import { writeJson } from './words.ts';

const HELP = `
Checks the file's structure and schema, that no line of the history was changed, moved or taken out since it was written,
and that the objects are those that the history recorded. A ledger from an earlier version is covered from the moment when
this version first opened it for writing; the output says from which serial.
Reads only, beside whoever writes. Ends with 1 when something is not as it was written.

Examples:
  portolan ledger verify --ledger /var/lib/portolan/portolan.db`;

export const verifyCommand: CommandDefinition = {
  help: {
    about:
      'Checks the file of the ledger, its schema, the chain of its history, each line of which seals the one before it, and the objects, which the history seals as well. Writes nothing.',
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
  const { inventoryCoverage, verifySqliteLedger } = await import('../../../ledger/verify.ts');
  const findings = verifySqliteLedger(path);
  const inventory = inventoryCoverage(path);
  const exitCode = findings.length === 0 ? EXIT.ok : EXIT.failed;
  if (options.output === 'json') {
    writeJson({ ledger: path, findings, inventory: inventory ?? null }, terminal);
    return exitCode;
  }
  if (findings.length === 0) {
    terminal.out.write(`${safeLine(path)} is whole, and its history is as it was written\n`);
    if (inventory !== undefined && inventory.objects > 0) terminal.out.write(`${coverageText(inventory)}\n`);
    return exitCode;
  }
  for (const finding of findings) terminal.out.write(`${safeLine(sentence(finding))}\n`);
  terminal.err.write(
    `${count(findings.length, 'finding')}. Keep a copy of ${safeLine(path)} and what stands beside it, and restore a backup: portolan ledger restore BACKUP.\n`,
  );
  return exitCode;
}

function coverageText({ objects, since }: InventoryCoverage): string {
  if (since === undefined)
    return 'Its objects could not be checked: an earlier version wrote it. They are covered once this version has opened it for writing.';
  return `Its ${count(objects, 'object')} ${objects === 1 ? 'is' : 'are'} as recorded${since === 0 ? '' : ` since serial ${since}; what happened to them before is not covered`}.`;
}

function sentence({ area, scope, message }: LedgerFinding): string {
  return `${area}${scope === undefined ? '' : ` of ${scope}`}: ${message}`;
}
