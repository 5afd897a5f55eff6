import { isDeepStrictEqual } from 'node:util';
import type { LedgerOperation } from '../ledger/ledger.ts';
import type { Lead } from '../ledger/shared.ts';
import { recordOfSource } from '../ledger/source-ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import { bugText } from './bugs.ts';
import { type Core, known, publish } from './core.ts';
import type { EventDraft } from './events.ts';
import {
  type AppRecord,
  digestWithoutTimes,
  type Kept,
  nothingKept,
  notStoredBy,
  restoreRecord,
  type Stored,
  writeRecord,
} from './ledger-records.ts';
import { platformUnit } from './replicas/leadership.ts';
import { takeOver, takeOverInTurn } from './replicas/moved-record.ts';
import { pause } from './replicas/pause.ts';
import { leading, ledgerBy } from './replicas/unit-ledgers.ts';

interface Decision {
  readonly change: Partial<Kept>;
  readonly line: LedgerOperation;
  readonly event: EventDraft;
  /** It counts only while `Kept` has this number: it must undo no decision that another leader has confirmed meanwhile. */
  readonly takeovers?: number;
}

/** Interval at which the ledger is asked what it has recorded. */
const ASK_AGAIN_MS = 500;

/**
 * Saves a decision of an operator, and then puts it in force. If saving fails, the ledger says what is in force, as soon as it answers:
 * the decision may be recorded. Until then nothing else is saved of the application.
 * @throws the error of the ledger, at once.
 */
export async function decide(core: Core, record: AppRecord, decision: Decision): Promise<void> {
  const { id, status, turns } = record;
  await leading(core, platformUnit(status.platform), async (lead) => {
    const saved = Promise.withResolvers<void>();
    // A pass that saves after this turn saves the decision, too, because it is in force by then.
    turns
      .run(id, () => save(core, { record, now: core.records.get(id) ?? record, lead, decision, saved }))
      .catch((error: unknown) => core.options.log.error(`a bug in Portolan: ${bugText(error)}`));
    await saved.promise;
  });
}

/**
 * Returns the record of an application as the ledger has it, for a decision to change nothing: another controller may have stored a decision
 * that this process has not read.
 * @throws PortolanError as `takeOver`.
 */
export async function verified(core: Core, id: ResourceId): Promise<AppRecord> {
  const record = known(core, id);
  if (core.leadership.isShared)
    await leading(core, platformUnit(record.status.platform), (lead) => takeOver(core, record, lead));
  return known(core, id);
}

interface Saving {
  readonly record: AppRecord;
  /** The record of the application when its turn begins: the source may have removed it meanwhile, and named it again. */
  readonly now: AppRecord;
  readonly lead: Lead;
  readonly decision: Decision;
  /** Resolves or rejects before the turn ends. */
  readonly saved: PromiseWithResolvers<void>;
}

async function save(core: Core, saving: Saving): Promise<void> {
  const { record, now, lead, decision, saved } = saving;
  const { change, line, event } = decision;
  let next = now;
  let mayBeRecorded: boolean;
  try {
    if (now.moved !== undefined) await takeOverInTurn(core, now, lead);
    if (decision.takeovers !== undefined && decision.takeovers !== now.kept.takeovers)
      throw notStoredBy(lead.unit, now);
    next = { ...now, kept: { ...now.kept, ...change } };
    await writeRecord(ledgerBy(core, lead), next, [line]);
    now.written = next.written;
    putInForce(core, saving, change);
    publish(core, record, record.revision, [event]);
    return saved.resolve();
  } catch (error) {
    now.moved ??= next.moved;
    saved.reject(error);
    if (!(error instanceof PortolanError)) return;
    mayBeRecorded = next !== now && error.code !== 'controller/not-leader';
  }
  // Nothing is written for an application that may be suspended.
  if (change.suspended) putInForce(core, saving, change);
  const found = await whenAnswered(core, record, lead);
  if (found === undefined) return;
  const names = Object.keys(change) as (keyof Kept)[];
  const recorded = Object.fromEntries(names.map((name) => [name, found.kept[name]])) as Partial<Kept>;
  now.written = digestWithoutTimes(found);
  putInForce(core, saving, recorded);
  if (mayBeRecorded && isDeepStrictEqual(recorded, change)) publish(core, record, record.revision, [event]);
  core.queue.add(record.id, 'the ledger answered');
}

/** A pass may have changed other members meanwhile, and the source may have given the application another record. */
function putInForce(core: Core, { record, now }: Pick<Saving, 'record' | 'now'>, change: Partial<Kept>): void {
  const { id } = record;
  for (const one of new Set([record, now, core.records.get(id) ?? now])) one.kept = { ...one.kept, ...change };
  core.decided.set(id, { ...core.decided.get(id), ...change });
}

/** @returns the record in the ledger; undefined: this version does not understand it, or another process decides about it by now. */
async function whenAnswered(core: Core, record: AppRecord, lead: Lead): Promise<Stored | undefined> {
  const over = AbortSignal.any([lead.over, core.stop]);
  while (!over.aborted) {
    try {
      const statusLedger = ledgerBy(core, lead);
      // A commit that is under way, such as one that waits for a standby, cannot be read yet. The next one waits for it.
      if (statusLedger.isShared) await recordOfSource(statusLedger, [], lead.unit);
      const found = await restoreRecord(statusLedger, record.id);
      return found === 'unreadable' ? undefined : (found ?? { status: record.status, kept: nothingKept });
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      await pause(core.options.clock, ASK_AGAIN_MS, over);
    }
  }
  return undefined;
}
