import type { BackupReport, RestoreReport } from '../../../ledger/backup.ts';
import { isPostgres } from '../../../ledger/address.ts';
import { commandText } from '../../../ledger/commands.ts';
import { fileExists } from '../../../ledger/files.ts';
import type { InventoryCoverage, LedgerFinding } from '../../../ledger/verify.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand, type Surroundings } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { writePrivateLines } from '../../session/files.ts';
import { ledgerWarnings } from '../../session/ledger-warnings.ts';
import { durationArgument, integerArgument } from '../../session/options.ts';
import { confirm, writeJson } from '../../terminal/terminal.ts';
import { count } from '../../terminal/text.ts';
import {
  actorOf,
  existingLedgerPath,
  ledgerFileOption,
  type LedgerOptions,
  ledgerOptions,
  ledgerPath,
  refuseToOverwrite,
  writeLedger,
} from './opening.ts';
import { ledgerFlag, writeResult } from './words.ts';

/** Commands that work on the ledger's file. Each loads its code when it runs. */

export const backupCommand = defineCommand({
  about:
    'Writes a consistent copy of the ledger for ledger restore, which only its owner may read. Works while a controller runs.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger restore', 'ledger verify', 'ledger export'],
  examples: `
A plain copy of the file is not a backup: the latest transactions are in another file beside it.

Examples:
  portolan ledger backup "portolan-$(date +%F).db"`,
  parameters: (command) =>
    ledgerOptions(command.argument('<file>', 'file for the copy').option('--overwrite', 'replace an existing file')),
  async run(surroundings, options, [file]) {
    const path = existingLedgerPath(options);
    refuseToOverwrite(file, path, options.overwrite === true);
    const backup = isPostgres(path)
      ? await (await import('./postgres.ts')).backUpDatabase(path, file, surroundings)
      : await backUpFile(path, file, surroundings);
    const text = `${safeLine(backup.path)} is a copy of ${safeLine(path)} at transaction ${backup.serial}\n`;
    writeResult(options, surroundings, { ledger: path, backup }, text);
  },
});

async function backUpFile(path: string, file: string, surroundings: Surroundings): Promise<BackupReport> {
  await warnIfCopied(path, surroundings);
  return (await import('../../../ledger/backup.ts')).backUpLedger(path, file);
}

/** For commands that do not open the file as a ledger: where it was copied, it knows nothing that was done since. */
async function warnIfCopied(path: string, { terminal }: Surroundings): Promise<void> {
  const { standingIfReadable } = await import('../../../ledger/backup.ts');
  const retired = standingIfReadable(path, { readOnly: true })?.retired;
  if (retired !== undefined) ledgerWarnings(terminal).onRetired(path, retired);
}

export const restoreCommand = defineCommand({
  about:
    'Replaces the ledger with a backup, and keeps the former ledger beside it. The backup does not know what was done since, so installs wait for ledger confirm.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger backup', 'ledger confirm', 'ledger verify'],
  examples: `
No install or upgrade is sent until a person has checked and confirmed each application (portolan ledger confirm SCOPE).

Examples:
  portolan ledger restore portolan-2026-11-20.db`,
  parameters: (command) =>
    ledgerOptions(command.argument('<file>', 'a backup').option('-y, --yes', 'do not ask for confirmation')),
  async run(surroundings, options, [file]) {
    const { terminal } = surroundings;
    const path = ledgerPath(options);
    const place = isPostgres(path) ? 'in a file beside the backup' : 'beside it';
    const question = `Replace the ledger ${path} with ${file}, and keep the former ledger ${place}?`;
    if (
      (isPostgres(path) || fileExists(path)) &&
      options.yes !== true &&
      !(await confirm(terminal, question, '--yes'))
    ) {
      terminal.err.write('Nothing was changed.\n');
      return;
    }
    const ledger = isPostgres(path)
      ? await (await import('./postgres.ts')).restoreDatabase(path, file, surroundings)
      : await restoreFile(path, file, surroundings);
    writeResult(options, surroundings, { ledger }, describeRestore(file, ledger, options));
  },
});

async function restoreFile(path: string, file: string, surroundings: Surroundings): Promise<RestoreReport> {
  const { clock, random } = surroundings;
  const { restoreLedger } = await import('../../../ledger/backup.ts');
  return restoreLedger(path, file, { clock, random, actor: actorOf('ledger restore', surroundings) });
}

function describeRestore(
  file: string,
  { path, replaced, epoch, refused = [] }: RestoreReport,
  options: LedgerOptions,
): string {
  const lines = [
    `restored ${safeLine(path)} from ${safeLine(file)}, at epoch ${epoch}`,
    ...(replaced === undefined ? [] : [`the former ledger is kept as ${safeLine(replaced)}`]),
    ...refused.map((command) => `refused, because it had no result: ${safeLine(commandText(command))}`),
    `No install or upgrade is sent until its application is confirmed: portolan ledger confirm SCOPE${ledgerFlag(options)}`,
  ];
  return `${lines.join('\n')}\n`;
}

export const exportCommand = defineCommand({
  isData: true,
  about: 'Writes the whole ledger as lines of JSON, for other programs. It is not a backup.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger backup', 'ledger list'],
  examples: `
Writes one line for the ledger itself, then one for each snapshot, fact, object, intent and line of history, all from the
same moment. Works while a controller runs. To restore a ledger, use ledger backup.

Examples:
  portolan ledger export | jq -c 'select(.type == "object")'
  portolan ledger export ledger.ndjson`,
  parameters: (command) =>
    command
      .argument('[file]', 'output file (default: standard output)')
      .option('--overwrite', 'replace an existing file')
      .addOption(ledgerFileOption()),
  async run(surroundings, options, [file = '-']) {
    const { terminal } = surroundings;
    const path = existingLedgerPath(options);
    const isFile = file !== '-';
    if (isFile) refuseToOverwrite(file, path, options.overwrite === true);
    const lines = isPostgres(path)
      ? await (await import('./postgres.ts')).exportDatabase(path, isFile ? file : undefined, surroundings)
      : await exportFile(path, isFile ? file : undefined, surroundings);
    if (lines !== undefined) terminal.err.write(`${count(lines, 'line')} in ${safeLine(file)}\n`);
  },
});

/** @returns the number of lines in the file; undefined without a file. */
async function exportFile(path: string, file: string | undefined, surroundings: Surroundings) {
  const { terminal } = surroundings;
  await warnIfCopied(path, surroundings);
  const { exportNdjson } = await import('../../../ledger/export.ts');
  if (file !== undefined) return writePrivateLines(file, exportNdjson(path));
  for (const line of exportNdjson(path)) terminal.out.write(`${line}\n`);
  return undefined;
}

export const compactCommand = defineCommand({
  about:
    'Removes resolved requests and old history, keeps managed objects and requests in doubt, and frees disk space.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.locked],
  seeAlso: ['ledger backup', 'ledger history'],
  examples: `
Objects, facts and requests without a known outcome always stay; resolved requests stay for at least 30 days. The history
can still be verified afterwards. To keep a copy of what is removed, export the ledger first.

Examples:
  portolan ledger compact
  portolan ledger compact --keep 720h --keep-per-object 20`,
  parameters: (command) =>
    ledgerOptions(
      command
        .option('--keep <duration>', 'keep history younger than this (default: 2160h, 90 days)', durationArgument)
        .option(
          '--keep-per-object <n>',
          'keep this many lines of each object, however old (default: 50)',
          integerArgument(0, 1_000_000),
        ),
    ),
  async run(surroundings, options) {
    const { keep, keepPerObject } = options;
    const removed = await writeLedger('ledger compact', options, surroundings, ({ ledger, clock, actor }) =>
      ledger.compact({ nowMs: clock.now(), actor, keepMs: keep, keepPerObject }),
    );
    const text = `removed ${count(removed.history, 'line')} of history, ${count(removed.intents, 'resolved request')}, ${count(removed.snapshots, 'snapshot')}\n`;
    writeResult(options, surroundings, { ledger: ledgerPath(options), removed }, text);
  },
});

export const verifyCommand = defineCommand({
  about:
    "Checks the ledger's file, its schema, the hash chain of its history, and the objects against the history. Writes nothing.",
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger backup', 'ledger restore'],
  examples: `
Checks the file's structure and schema, that no line of the history was changed, moved or removed after it was written,
and that the objects are those that the history recorded. A ledger from an earlier version is covered from the moment when
this version first opened it for writing; the output says from which serial. Works while a controller runs. Ends with 1
when the ledger is damaged or was changed.

Examples:
  portolan ledger verify --ledger /var/lib/portolan/portolan.db`,
  parameters: ledgerOptions,
  async run(surroundings, options) {
    const { terminal } = surroundings;
    const path = existingLedgerPath(options);
    const isDatabase = isPostgres(path);
    const { findings, inventory, unchecked } = isDatabase
      ? await (await import('./postgres.ts')).verifyDatabase(path, surroundings)
      : { ...(await verifyFile(path, surroundings)), unchecked: undefined };
    if (options.output === 'json')
      writeJson({ ledger: path, findings, inventory: inventory ?? null, unchecked: unchecked ?? null }, terminal);
    else if (findings.length === 0) {
      terminal.out.write(`${safeLine(path)} is intact, and its history is unchanged\n`);
      if (inventory !== undefined && inventory.objects > 0) terminal.out.write(`${coverageText(inventory)}\n`);
    } else {
      for (const finding of findings) terminal.out.write(`${safeLine(findingText(finding))}\n`);
      const isSchema = isDatabase && findings.every(({ area }) => area === 'schema');
      const remedy = isSchema ? SCHEMA_REMEDY : remedyFor(safeLine(path), isDatabase);
      terminal.err.write(`${count(findings.length, 'finding')}. ${remedy}\n`);
    }
    if (unchecked !== undefined) terminal.err.write(`${uncheckedText(safeLine(unchecked))}\n`);
    return findings.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

/** A restore fills the tables of a database, and does not make them. */
const SCHEMA_REMEDY =
  'No record was found to be damaged. Undo the changes of the schema as the owner of the tables; if that is not possible, put the tables ' +
  'aside, create them with portolan ledger migrate, and restore a backup.';

function remedyFor(path: string, isDatabase: boolean): string {
  const beside = isDatabase ? '' : ' and of the files beside it';
  return `Keep a copy of ${path}${beside}, and restore a backup: portolan ledger restore BACKUP.`;
}

function uncheckedText(reason: string): string {
  return (
    `Its tables, indexes and triggers were not compared with those of a new ledger (${reason}). For that, grant the role TEMPORARY on the ` +
    'database, or name the owner of the tables in the URL; a standby cannot compare them.'
  );
}

async function verifyFile(path: string, surroundings: Surroundings) {
  await warnIfCopied(path, surroundings);
  const { inventoryCoverage, verifySqliteLedger } = await import('../../../ledger/verify.ts');
  return { findings: verifySqliteLedger(path), inventory: inventoryCoverage(path) };
}

function coverageText({ objects, since }: InventoryCoverage): string {
  if (since === undefined)
    return 'Its objects could not be checked: an earlier version wrote it. They can be checked after this version has opened the ledger for writing.';
  return `Its ${count(objects, 'object')} ${objects === 1 ? 'is' : 'are'} as recorded${since === 0 ? '' : ` since serial ${since}; earlier changes are not covered`}.`;
}

function findingText({ area, scope, message }: LedgerFinding): string {
  return `${area}${scope === undefined ? '' : ` of ${scope}`}: ${message}`;
}
