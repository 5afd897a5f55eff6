import type { LedgerOperation } from '../ledger/ledger.ts';
import { type Core, publish } from './core.ts';
import type { EventDraft } from './events.ts';
import { type AppRecord, type Kept, saveRecord } from './ledger-records.ts';

/** Saves a decision of an operator, and then puts it in force. If saving fails, nothing was decided. */
export async function decide(
  core: Core,
  record: AppRecord,
  decision: { readonly change: Partial<Kept>; readonly line: LedgerOperation; readonly event: EventDraft },
): Promise<void> {
  const { change } = decision;
  const next = { ...record, kept: { ...record.kept, ...change } };
  await saveRecord(core.sourceLedger, next, [decision.line]);
  // A pass may have changed other members meanwhile.
  record.kept = { ...record.kept, ...change };
  publish(core, record, record.revision, [decision.event]);
  // It may also have saved them after the decision, without it. The present content of the ledger is not known.
  record.written = '';
  await saveRecord(core.sourceLedger, record);
}
