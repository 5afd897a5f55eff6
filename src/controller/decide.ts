import type { LedgerOperation } from '../ledger/ledger.ts';
import { type Core, publish } from './core.ts';
import type { EventDraft } from './events.ts';
import { type AppRecord, type Kept, writeRecord } from './ledger-records.ts';
import { platformUnit } from './replicas/leadership.ts';
import { leading, ledgerBy } from './replicas/unit-ledgers.ts';

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
  const { id, status, turns } = record;
  await leading(core, platformUnit(status.platform), (lead) =>
    // A pass that saves after this turn saves the decision, too, because it is in force by then.
    turns.run(id, async () => {
      const saved = core.records.get(id) ?? record;
      const next = { ...saved, kept: { ...saved.kept, ...change } };
      await writeRecord(ledgerBy(core, lead), next, [decision.line]);
      saved.written = next.written;
      // A pass may have changed other members meanwhile.
      for (const one of new Set([record, saved, core.records.get(id) ?? saved])) one.kept = { ...one.kept, ...change };
      core.decided.set(id, { ...core.decided.get(id), ...change });
      publish(core, record, record.revision, [decision.event]);
    }),
  );
}
