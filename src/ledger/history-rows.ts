import type { ScopeKey } from '../model/ids.ts';
import type { HistoryRow } from '../model/owned.ts';
import type { Ledger } from './ledger.ts';

/** Rows that are read at once. */
const PAGE = 1_000;

/** Yields the rows of a scope, newest first. */
export async function* historyRows(ledger: Ledger, scope: ScopeKey): AsyncGenerator<HistoryRow> {
  let beforeSerial: number | undefined;
  for (;;) {
    const rows = await ledger.history({ scope, limit: PAGE, ...(beforeSerial === undefined ? {} : { beforeSerial }) });
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) {
      yield* rows;
      return;
    }
    // The rows of one transaction have one serial, and the page may end among them.
    const whole = rows.filter(({ serial }) => serial !== last.serial);
    if (whole.length === 0) throw new Error(`transaction ${last.serial} has more than ${PAGE} rows`);
    yield* whole;
    beforeSerial = last.serial + 1;
  }
}
