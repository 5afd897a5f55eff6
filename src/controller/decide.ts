import type { LedgerOperation } from '../ledger/ledger.ts';
import { type Core, publish } from './core.ts';
import type { EventDraft } from './events.ts';
import { type AppRecord, type Kept, saveRecord } from './ledger-records.ts';
import { platformUnit } from './replicas/leadership.ts';
import { leading } from './replicas/unit-ledgers.ts';

/** Saves a decision of an operator, and then puts it in force. If saving fails, nothing was decided. */
export async function decide(
  core: Core,
  record: AppRecord,
  decision: { readonly change: Partial<Kept>; readonly line: LedgerOperation; readonly event: EventDraft },
): Promise<void> {
  const { change } = decision;
  await leading(core, platformUnit(record.status.platform), async ({ ledger }) => {
    const sourceLedger = { ...core.sourceLedger, ledger };
    const next = { ...record, kept: { ...record.kept, ...change } };
    await saveRecord(sourceLedger, next, [decision.line]);
    // A pass may have changed other members meanwhile.
    record.kept = { ...record.kept, ...change };
    publish(core, record, record.revision, [decision.event]);
    // It may also have saved them after the decision, without it. The present content of the ledger is not known.
    record.written = '';
    await saveRecord(sourceLedger, record);
  });
}
