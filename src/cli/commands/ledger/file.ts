import type { RestoreReport } from '../../../ledger/backup.ts';
import { fileExists } from '../../../ledger/files.ts';
import type { InventoryCoverage, LedgerFinding } from '../../../ledger/verify.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { writePrivateLines } from '../../session/files.ts';
import { durationArgument, integerArgument } from '../../session/options.ts';
import { confirm } from '../../terminal/terminal.ts';
import { count } from '../../terminal/text.ts';
import {
  actorOf,
  existingLedgerPath,
  ledgerFileOption,
  type LedgerOptions,
  ledgerOptions,
  ledgerPath,
  refuseToOverwrite,
  writingLedger,
} from './opening.ts';
import { ledgerFlag, writeJson, writeResult } from './words.ts';

/** Commands that work on the ledger's file. Each loads its code when it runs. */

export const backupCommand = defineCommand({
  about:
    'Writes a copy of the ledger as of one moment, which only its owner may read. Works beside a running controller, and is what ledger restore takes.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger restore', 'ledger verify', 'ledger export'],
  examples: `
Works beside a controller that writes. The copy is whole, of one moment, and only its owner may read it. A plain copy of
the file is not a backup: what was written last stands beside it.

Examples:
  portolan ledger backup "portolan-$(date +%F).db"`,
  parameters: (command) =>
    ledgerOptions(
      command.argument('<file>', 'where the copy goes').option('--overwrite', 'replace an older copy of that name'),
    ),
  async run(surroundings, options, [file]) {
    const path = existingLedgerPath(options);
    refuseToOverwrite(file, path, options.overwrite === true);
    const { backUpLedger } = await import('../../../ledger/backup.ts');
    const backup = backUpLedger(path, file);
    const text = `${safeLine(backup.path)} holds ${safeLine(path)} as of its transaction ${backup.serial}\n`;
    writeResult(options, surroundings, { ledger: path, backup }, text);
  },
});

export const restoreCommand = defineCommand({
  about:
    'Puts a backup where the ledger is, and keeps the one that was there beside it. What was done since the backup is not on record then, so installs wait for ledger confirm.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger backup', 'ledger confirm', 'ledger verify'],
  examples: `
The ledger that was there is kept beside the restored one. What was done since the backup is not in it: no install or
upgrade is sent until a person has looked and confirmed each application (portolan ledger confirm SCOPE).

Examples:
  portolan ledger restore portolan-2026-11-20.db`,
  parameters: (command) =>
    ledgerOptions(command.argument('<file>', 'a backup').option('-y, --yes', 'go ahead without a question')),
  async run(surroundings, options, [file]) {
    const { terminal, clock, random } = surroundings;
    const path = ledgerPath(options);
    const question = `Put ${file} in the place of the ledger ${path}, which is kept beside it?`;
    if (fileExists(path) && options.yes !== true && !(await confirm(terminal, question, '--yes'))) {
      terminal.err.write('Nothing was changed.\n');
      return;
    }
    const { restoreLedger } = await import('../../../ledger/backup.ts');
    const actor = actorOf('ledger restore', surroundings);
    const ledger = await restoreLedger(path, file, { clock, random, actor });
    writeResult(options, surroundings, { ledger }, restored(file, ledger, options));
  },
});

function restored(file: string, { path, replaced, epoch }: RestoreReport, options: LedgerOptions): string {
  const lines = [
    `${safeLine(path)} is ${safeLine(file)} again, at epoch ${epoch}`,
    ...(replaced === undefined ? [] : [`the ledger that was there is kept as ${safeLine(replaced)}`]),
    `No install or upgrade is sent until its application is confirmed: portolan ledger confirm SCOPE${ledgerFlag(options)}`,
  ];
  return `${lines.join('\n')}\n`;
}

export const exportCommand = defineCommand({
  isData: true,
  about: 'Writes all that the ledger holds as lines of JSON, for reading elsewhere. It is no backup.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger backup', 'ledger list'],
  examples: `
One line for the ledger itself, then one per snapshot, fact, object, intent and line of history, as of one moment. Works
beside a controller that writes. It is for reading elsewhere; to put a ledger back, make a backup.

Examples:
  portolan ledger export | jq -c 'select(.type == "object")'
  portolan ledger export ledger.ndjson`,
  parameters: (command) =>
    command
      .argument('[file]', 'where it goes (default: standard output)')
      .option('--overwrite', 'replace a file of that name')
      .addOption(ledgerFileOption()),
  async run({ terminal }, options, [file = '-']) {
    const path = existingLedgerPath(options);
    const { exportNdjson } = await import('../../../ledger/export.ts');
    if (file === '-') {
      for (const line of exportNdjson(path)) terminal.out.write(`${line}\n`);
      return;
    }
    refuseToOverwrite(file, path, options.overwrite === true);
    const lines = writePrivateLines(file, exportNdjson(path));
    terminal.err.write(`${count(lines, 'line')} in ${safeLine(file)}\n`);
  },
});

export const compactCommand = defineCommand({
  about:
    'Drops settled requests and old lines of history, keeps what is ours and all that is in doubt, and gives the space back to the disk.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.locked],
  seeAlso: ['ledger backup', 'ledger history'],
  examples: `
Objects, facts and requests without a known outcome always stay; settled requests stay for 30 days at least. The history
can still be verified afterwards. To keep what goes, export it first.

Examples:
  portolan ledger compact
  portolan ledger compact --keep 720h --keep-per-object 20`,
  parameters: (command) =>
    ledgerOptions(
      command
        .option('--keep <duration>', 'history younger than this stays (default: 2160h, 90 days)', durationArgument)
        .option(
          '--keep-per-object <n>',
          'so many lines of each object stay, however old (default: 50)',
          integerArgument(0, 1_000_000),
        ),
    ),
  async run(surroundings, options) {
    const { keep, keepPerObject } = options;
    const removed = await writingLedger('ledger compact', options, surroundings, ({ ledger, clock, actor }) =>
      ledger.compact({
        nowMs: clock.now(),
        actor,
        ...(keep === undefined ? {} : { keepMs: keep }),
        ...(keepPerObject === undefined ? {} : { keepPerObject }),
      }),
    );
    const text = `removed ${count(removed.history, 'line')} of history, ${count(removed.intents, 'settled request')}, ${count(removed.snapshots, 'snapshot')}\n`;
    writeResult(options, surroundings, { ledger: ledgerPath(options), removed }, text);
  },
});

export const verifyCommand = defineCommand({
  about:
    'Checks the file of the ledger, its schema, the chain of its history, each line of which seals the one before it, and the objects, which the history seals as well. Writes nothing.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger backup', 'ledger restore'],
  examples: `
Checks the file's structure and schema, that no line of the history was changed, moved or taken out since it was written,
and that the objects are those that the history recorded. A ledger from an earlier version is covered from the moment when
this version first opened it for writing; the output says from which serial.
Reads only, beside whoever writes. Ends with 1 when something is not as it was written.

Examples:
  portolan ledger verify --ledger /var/lib/portolan/portolan.db`,
  parameters: ledgerOptions,
  async run({ terminal }, options) {
    const path = existingLedgerPath(options);
    const { inventoryCoverage, verifySqliteLedger } = await import('../../../ledger/verify.ts');
    const findings = verifySqliteLedger(path);
    const inventory = inventoryCoverage(path);
    if (options.output === 'json') writeJson({ ledger: path, findings, inventory: inventory ?? null }, terminal);
    else if (findings.length === 0) {
      terminal.out.write(`${safeLine(path)} is whole, and its history is as it was written\n`);
      if (inventory !== undefined && inventory.objects > 0) terminal.out.write(`${coverageText(inventory)}\n`);
    } else {
      for (const finding of findings) terminal.out.write(`${safeLine(sentence(finding))}\n`);
      terminal.err.write(
        `${count(findings.length, 'finding')}. Keep a copy of ${safeLine(path)} and what stands beside it, and restore a backup: portolan ledger restore BACKUP.\n`,
      );
    }
    return findings.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

function coverageText({ objects, since }: InventoryCoverage): string {
  if (since === undefined)
    return 'Its objects could not be checked: an earlier version wrote it. They are covered once this version has opened it for writing.';
  return `Its ${count(objects, 'object')} ${objects === 1 ? 'is' : 'are'} as recorded${since === 0 ? '' : ` since serial ${since}; what happened to them before is not covered`}.`;
}

function sentence({ area, scope, message }: LedgerFinding): string {
  return `${area}${scope === undefined ? '' : ` of ${scope}`}: ${message}`;
}
