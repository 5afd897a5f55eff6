import type { Lead } from '../../ledger/shared.ts';
import { recordOfSource } from '../../ledger/source-ledger.ts';
import { PortolanError } from '../../model/errors.ts';
import type { ResourceId } from '../../model/ids.ts';
import { desiredDigest, keptOf, markedKept } from '../commit-marks.ts';
import type { Core } from '../core.ts';
import {
  type AppRecord,
  digestWithoutTimes,
  type Kept,
  NO_DOUBTS,
  NONE_HIDDEN,
  nothingKept,
  notStoredBy,
  parseStored,
  platformIn,
  replacing,
  statusFact,
  type Stored,
} from '../ledger-records.ts';
import { dropStaleScope } from '../resolved-scope.ts';
import { platformUnit } from './leadership.ts';
import { ledgerBy } from './unit-ledgers.ts';

/**
 * Takes over the stored record of an application that a commit has moved to a platform that this process leads. The former leader may
 * have confirmed decisions that this process has not read, so nothing is sent or stored before. The transaction replaces exactly the text
 * that was taken over, and only while the revision is the accepted one: from then on, the former leader is refused. So is this process, if
 * a later revision has moved the application away, whether it knows of it or not.
 * @throws PortolanError `controller/not-leader` if a revision is accepted that this process has not followed, and those of the ledger.
 */
export function takeOver(core: Core, record: AppRecord, lead: Lead): Promise<void> {
  return record.turns.run(record.id, () => takeOverInTurn(core, record, lead));
}

/** Does the same as `takeOver`, for a caller whose turn it is. */
export async function takeOverInTurn(core: Core, record: AppRecord, lead: Lead): Promise<void> {
  const statusLedger = ledgerBy(core, lead);
  const { ledger, source } = statusLedger;
  const key = statusFact(source, record.id);
  for (let refused: string | undefined; ; ) {
    // Another commit may move it meanwhile.
    const { moved } = record;
    const text = await ledger.fact(key);
    const { platform } = record.status;
    if (platformUnit(platform) !== lead.unit) throw notStoredBy(lead.unit, record);
    const isOwn = text === undefined || platformIn(text) === platform;
    if (isOwn && moved === undefined) return;
    // The same text was refused: the revision is not the accepted one.
    if (text !== undefined && text === refused) throw notStoredBy(lead.unit, record);
    if (text !== undefined) takeText(core, record, text);
    if (!isOwn) record.kept = { ...record.kept, takeovers: record.kept.takeovers + 1 };
    try {
      if (!isOwn) await recordOfSource(statusLedger, replacing(statusLedger, record, text), lead.unit);
    } catch (error) {
      if (!(error instanceof PortolanError) || error.code !== 'ledger/conflict') throw error;
      refused = text;
      continue;
    }
    if (record.moved === moved) record.moved = undefined;
    return;
  }
}

function takeText(core: Core, record: AppRecord, text: string): void {
  const stored = parseStored(text);
  if (stored === undefined) record.kept = keptUnreadable(core, record.id);
  else takeStored(record, stored, false);
  beginPasses(record);
}

/**
 * Takes over what the leader of an application stored. Its manifests are those of this process.
 * @param isBehind the leader may have newer manifests than this process.
 */
export function takeStored(record: AppRecord, stored: Stored, isBehind: boolean): void {
  const { work, revision, changedRevision } = record;
  const { labels, spec } = work.application;
  const digest = desiredDigest(work);
  const kept = keptOf(stored);
  // The leader has moved an application that is in sync, and that no later commit changed, without storing it.
  const isMoved =
    kept.digest === digest &&
    stored.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  const lastAppliedRevision = isMoved && revision !== '' ? revision : stored.status.lastAppliedRevision;
  record.kept = isBehind || changedRevision === '' ? kept : markedKept(kept, digest, changedRevision);
  record.status = { ...stored.status, labels, platform: spec.platform, region: spec.region, lastAppliedRevision };
  dropStaleScope(record);
  forgetPasses(record);
}

/** Forgets what only the process knows that works on an application. Ages stand still until it continues. */
export function forgetPasses(record: AppRecord): void {
  record.observed = null;
  record.plan = null;
  record.hidden = NONE_HIDDEN;
  record.doubts = NO_DOUBTS;
  record.watchedMs = undefined;
  record.approvedSnapshot = undefined;
  record.passes = 0;
}

/** Prepares an application for the first pass of this process. As after a restart, it is tried at once. */
export function beginPasses(record: AppRecord): void {
  record.status = { ...record.status, failures: 0 };
  record.isUntried = true;
  record.written = digestWithoutTimes(record);
}

/** Suspends an application whose record cannot be understood: it may have been suspended, and only a person knows. */
export function keptUnreadable({ options: { log, clock } }: Core, id: ResourceId): Kept {
  const reason = 'its record in the ledger cannot be understood';
  log.error(`a bug in Portolan: ${id} is suspended, because ${reason}`, { application: id });
  return { ...nothingKept, suspended: { by: 'portolan', reason, sinceMs: clock.now() } };
}
