import { isPostgres, ledgerArgument } from '../../../ledger/address.ts';
import type { CopyReport } from '../../../ledger/copy.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { copyForControllers } from '../../../ledger/retirement.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand, type Surroundings } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { openLedger } from '../../session/open-ledger.ts';
import { outputOption } from '../../session/options.ts';
import { count } from '../../terminal/text.ts';
import { actorOf, ledgerOptions, ledgerPath } from './opening.ts';
import { writeResult } from './words.ts';

export const copyCommand = defineCommand({
  about:
    'Copies a ledger between a file and PostgreSQL, in either direction, and verifies that every row is the same. The target must not contain a ledger with records, and no process may hold either.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger backup', 'ledger verify'],
  examples: `
The ledger that was copied is retired: nothing opens it for writing any more, because neither would know what is installed with the
other. To try a move, copy a backup of it (\`portolan ledger backup\`), which retires only that.

Examples:
  portolan ledger copy portolan.db 'postgres://portolan_owner@db.example.com/portolan?sslrootcert=ca.pem'
  portolan ledger copy postgres://portolan_owner@db.example.com/portolan portolan.db`,
  parameters: (command) =>
    command
      .argument('<from>', 'the ledger: a file or a postgres:// URL', ledgerArgument)
      .argument('<to>', 'a new file, or the URL of a database', ledgerArgument)
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, options, [from, to]) {
    const [{ copyLedger }, { placeOf }] = await Promise.all([
      import('../../../ledger/copy.ts'),
      import('./postgres.ts'),
    ]);
    const { clock, hostName } = surroundings;
    const copy = await copyLedger(placeOf(from, surroundings), placeOf(to, surroundings), clock, hostName);
    writeResult(options, surroundings, { copy }, describe(copy));
  },
});

function describe({ from, to, serial, epoch, tables: { object, intent, history } }: CopyReport): string {
  const rows = [
    count(object.rows, 'object'),
    count(intent.rows, 'request'),
    `${count(history.rows, 'line')} of history`,
  ].join(', ');
  return (
    `copied ${safeLine(from)} to ${safeLine(to)}: ${rows}, at transaction ${serial} and epoch ${epoch}; every row is the same\n` +
    `From now on, use only ${safeLine(copyForControllers(to))}: ${safeLine(from)} is retired, and nothing opens it for writing any more.\n`
  );
}

export const migrateCommand = defineCommand({
  about:
    'Creates the tables of a ledger, or migrates them to this version. Commands that write do it by themselves, unless the role of PostgreSQL that they use must not change tables.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.locked],
  seeAlso: ['ledger verify', 'ledger copy'],
  examples: `
In PostgreSQL, steps that the version before understands are made while its replicas lead. Any other step is refused with exit code 6
until no process leads. Afterwards, run examples/postgres/grants.sql again: new tables have no privileges for the controllers.

Examples:
  portolan ledger migrate --ledger postgres://portolan_owner@db.example.com/portolan`,
  parameters: (command) => ledgerOptions(command),
  async run(surroundings, options) {
    const named = ledgerPath(options);
    const { location, lineage, epoch } = isPostgres(named)
      ? await (await import('./postgres.ts')).migrateDatabase(named, surroundings)
      : await migrateFile(named, surroundings);
    const text = `${safeLine(location)} has the tables of this version\n`;
    writeResult(options, surroundings, { ledger: { location, lineage, epoch } }, text);
  },
});

async function migrateFile(path: string, surroundings: Surroundings): Promise<Ledger> {
  const actor = actorOf('ledger migrate', surroundings);
  const { ledger } = await openLedger({ ledger: path, actor, readOnly: false }, surroundings);
  await ledger.close();
  return ledger;
}
