import type { Ledger } from '../ledger/ledger.ts';
import { noLedger } from '../ledger/none.ts';
import type { Surroundings } from './command.ts';

/** Where the ledger is when nothing is said: beside the configuration, in the working directory. */
const DEFAULT_FILE = 'portolan.db';

export interface OpenLedgerOptions {
  /** `--ledger`: a file, `none`, or absent for the default. */
  readonly ledger?: string | undefined;
  /** Who opens it, for whoever finds it locked. */
  readonly actor: string;
  /** Takes no lock, creates nothing, and works beside a writer. */
  readonly readOnly: boolean;
}

/** The ledger of a command. `isKnown` is false for `none`: ownership and attribution are then unknown. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  readonly isKnown: boolean;
}

/**
 * Opens the ledger that a command line names.
 * @throws PortolanError of `openSqliteLedger`: `ledger/locked`, `ledger/missing` (reading), …
 */
export async function openLedger(options: OpenLedgerOptions, { clock, random }: Surroundings): Promise<OpenedLedger> {
  if (options.ledger === 'none') return { ledger: noLedger, isKnown: false };
  // The database is loaded only where there is one to open.
  const { openSqliteLedger } = await import('../ledger/sqlite.ts');
  const { actor, readOnly } = options;
  const ledger = await openSqliteLedger(options.ledger ?? DEFAULT_FILE, { clock, random, actor, readOnly });
  return { ledger, isKnown: true };
}
