import type { LedgerOperation } from '../ledger/ledger.ts';
import { type Core, publish } from './core.ts';
import type { EventDraft } from './events.ts';
import { type AppRecord, type Kept, saveRecord } from './ledger-records.ts';
import { platformUnit } from './replicas/leadership.ts';
import { leading } from './replicas/unit-ledgers.ts';

/**
 * Saves a decision of an operator, and then puts it in force. If saving fails, nothing was decided. The source may have removed the
 * application meanwhile, and named it again: then it has another record.
 */
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
    const { id } = record;
    const present = core.records.get(id) ?? record;
    // A pass may have changed other members meanwhile.
    for (const one of new Set([record, present])) one.kept = { ...one.kept, ...change };
    core.decided.set(id, { ...core.decided.get(id), ...change });
    publish(core, record, record.revision, [decision.event]);
    // It may also have saved them after the decision, without it. The present content of the ledger is not known.
    present.written = '';
    await saveRecord(sourceLedger, present);
  });
}
