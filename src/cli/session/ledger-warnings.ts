import { instant } from '../../ledger/errors.ts';
import { placeOfCopy } from '../../ledger/retirement.ts';
import type { SqliteLedgerOptions } from '../../ledger/sqlite.ts';
import { safeLine } from '../../model/text.ts';
import type { Surroundings } from './command.ts';

/** Returns what warns about a ledger that is an older copy, or one that is only read since it was copied. */
export function ledgerWarnings({ err }: Surroundings['terminal']) {
  return {
    onOlder: ({ path, serial, expected }) => {
      err.write(
        `warning: the ledger ${safeLine(path)} is an older copy: its serial is ${serial}, and ${safeLine(path)}.serial says ${expected}. Installs and upgrades are held until each application is confirmed: portolan ledger confirm SCOPE\n`,
      );
    },
    onRetired: (location, retirement) => {
      err.write(
        `warning: the ledger ${safeLine(location)} was copied to ${safeLine(placeOfCopy(retirement))} at ${instant(retirement.atMs)}, and does not know what was done since (--ledger ${safeLine(retirement.copy)} reads that one)\n`,
      );
    },
  } satisfies Pick<SqliteLedgerOptions, 'onOlder' | 'onRetired'>;
}
