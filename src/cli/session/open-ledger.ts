import { isPostgres } from '../../ledger/address.ts';
import { gone } from '../../ledger/errors.ts';
import { fileExists } from '../../ledger/files.ts';
import { readSerialMark } from '../../ledger/serial-file.ts';
import { type Ledger, noLedger } from '../../ledger/ledger.ts';
import { PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import type { Surroundings } from './command.ts';
import { ledgerWarnings } from './ledger-warnings.ts';

/** Path of the ledger when no other is named: beside the configuration, in the working directory. */
export const DEFAULT_LEDGER_FILE = 'portolan.db';

/** Lineage of the empty ledger that is used before a ledger exists. */
export const NO_LEDGER_YET = 'none yet';

interface OpenLedgerOptions {
  /** `--ledger`: a file, the URL of a database, `none`, or absent for the default. */
  readonly ledger?: string | undefined;
  /** The user and command that open it, shown to a process that finds it locked. */
  readonly actor: string;
  /** Takes no lock, creates nothing, and works beside a writer. */
  readonly readOnly: boolean;
}

/**
 * Opens the ledger that a command line names.
 * @returns `isKnown` is false for `none`: ownership and attribution are then unknown.
 * @throws PortolanError of `openSqliteLedger`: `ledger/locked`, `ledger/missing` (reading), …
 */
export async function openLedger(
  options: OpenLedgerOptions,
  surroundings: Surroundings,
): Promise<{ readonly ledger: Ledger; readonly isKnown: boolean }> {
  if (options.ledger === 'none') return { ledger: noLedger, isKnown: false };
  const { actor, readOnly } = options;
  const { clock, random, terminal } = surroundings;
  if (isPostgres(options.ledger)) {
    const { openPostgres } = await import('./postgres.ts');
    try {
      return { ledger: await openPostgres(options.ledger, { actor, readOnly }, surroundings), isKnown: true };
    } catch (error) {
      if (!readOnly || !(error instanceof PortolanError) || error.code !== 'ledger/missing') throw error;
      return noLedgerYet(options.ledger, terminal);
    }
  }
  const file = options.ledger ?? DEFAULT_LEDGER_FILE;
  // The database is loaded only when a file exists.
  if (readOnly && !fileExists(file)) {
    const mark = readSerialMark(file);
    if (mark !== undefined) throw gone(file, mark.serial);
    return noLedgerYet(file, terminal);
  }
  const { openSqliteLedger } = await import('../../ledger/sqlite.ts');
  const onRescued = (path: string): void => {
    terminal.err.write(`note: the ledger of this process was saved as ${safeLine(path)}\n`);
  };
  return {
    ledger: await openSqliteLedger(file, { clock, random, actor, readOnly, onRescued, ...ledgerWarnings(terminal) }),
    isKnown: true,
  };
}

/** A plan before any apply starts from an empty ledger. */
function noLedgerYet(location: string, { err }: Surroundings['terminal']) {
  err.write(
    `note: there is no ledger at ${safeLine(location)} yet, so this is the state before any apply (--ledger names another ledger)\n`,
  );
  return { ledger: { ...noLedger, location, lineage: NO_LEDGER_YET }, isKnown: true };
}
