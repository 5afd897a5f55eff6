import { groupByApplication } from '../manifest/group.ts';
import type { ResourceId } from '../model/ids.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { ApplicationStatus, Condition } from '../model/status.ts';
import { amount, someOf } from '../plan/words.ts';
import type { Work } from '../reconcile/reconcile.ts';
import { createSharedReadings } from '../reconcile/shared-readings.ts';
import { Account, type AccountState, newer } from './account.ts';
import { desiredDigest, isMarked, keptOf, markedKept } from './commit-marks.ts';
import { notObserved, withSince } from './conditions.ts';
import { type Core, reachMilestone } from './core.ts';
import { logStanding } from './event-lines.ts';
import { draftEvent, draftProblem } from './events.ts';
import type { AcceptedReading } from './acceptance.ts';
import {
  saveFact,
  restoreFact,
  restoreRecord,
  digestWithoutTimes,
  NO_DOUBTS,
  NONE_HIDDEN,
  type AppRecord,
} from './ledger-records.ts';
import { changedPlaces, findOrphans } from './orphans.ts';
import { platformUnit, sourceUnit } from './replicas/leadership.ts';
import { keptUnreadable } from './replicas/moved-record.ts';
import { ledgerFor } from './replicas/unit-ledgers.ts';
import { dropStaleScope } from './resolved-scope.ts';
import { workOf } from '../reconcile/work.ts';

/** A shared reading is never the basis of a write, so its age only delays the detection of drift. */
const SHARED_READINGS_AGE_MS = 15_000;

/** Applications that are processed before the event loop turns. They take a few ms. */
const PART_SIZE = 256;

/** Up to this many changed applications are read one by one. A listing would read all applications. */
const ALONE_MAX = 8;

/** Applications that a message names. */
const NAMED_MAX = 20;

/**
 * Makes the accepted source the desired state, and requeues the applications that changed.
 * @param isOfAnother another process has accepted it, and reports it.
 */
export async function follow(core: Core, latest: AcceptedReading | undefined, isOfAnother = false): Promise<void> {
  if (latest === undefined) return;
  const { records, queue, options } = core;
  const { accepted } = latest;
  const leadsSource = !isOfAnother && core.leadership.of(sourceUnit(options.source)) !== undefined;
  const isNew = core.account.snapshot !== accepted.snapshot;
  core.decided.clear();
  const turn = (): Promise<void> => options.clock.sleep(0);
  const works = await worksOf(accepted.desired, turn);
  // Steps that may fail come first: an application that was changed only in part would look unchanged in the retry.
  const added = await addedRecords(core, works, turn);
  if (isNew) core.account = await openAccount(core, accepted.snapshot, accepted.owned);
  const roundMs = core.configuration.settings.controller.resyncIntervalMs / 2;
  core.shared = createSharedReadings(
    works.map(({ application }) => application.spec),
    core.options.clock,
    { ageMs: Math.min(SHARED_READINGS_AGE_MS, roundMs), roundMs },
  );
  const removed = removedFrom(records, works);
  for (const id of removed) remove(core, id);
  if (works.length >= PART_SIZE) await turn();
  const changed: ResourceId[] = [];
  for (const work of works) {
    const { id } = work.application;
    const known = records.get(id);
    const record = known ?? (added.get(id) as AppRecord);
    if (known === undefined) record.kept = { ...record.kept, ...core.decided.get(id) };
    records.set(id, record);
    if (known === undefined && isLed(core, record)) logStanding(options.log, record);
    if (known !== undefined && isSameWork(known.work, work)) moveUnchanged(record, latest);
    else {
      applyChange(core, record, work, latest);
      record.isAlone = known !== undefined;
      changed.push(record.id);
      if (changed.length % PART_SIZE === 0) await turn();
    }
  }
  core.intake.noteFollowed(accepted);
  // For many applications, a listing or two finds those that are in sync already.
  if (changed.length > ALONE_MAX) for (const id of changed) (records.get(id) as AppRecord).isAlone = false;
  for (const [count, id] of changed.entries()) {
    if ((count + 1) % PART_SIZE === 0) await turn();
    // A new commit ends the backoff of earlier failures. The leader of another platform works on its applications.
    if (isLed(core, records.get(id) as AppRecord)) queue.restart(id, 'git');
  }
  if (works.length >= PART_SIZE) await turn();
  const isOfCommit = (id: ResourceId): boolean => isMarked(records.get(id), accepted.revision);
  core.commits.follow(accepted.revision, { changed: changed.filter(isOfCommit).length, removed: removed.length }, [
    ...removed,
    ...changed.filter((id) => !added.has(id) || isOfCommit(id)),
  ]);
  // One replica reports and records what concerns the whole source.
  if (!leadsSource) return;
  if (isNew || changed.length + removed.length > 0) reportAccepted(core, latest, changed, removed);
  await core.sharedState?.saveCommits();
  const places = changedPlaces(core);
  if (places === undefined) return;
  if (works.length >= PART_SIZE) await turn();
  await findOrphans(core, places);
}

/** Returns each application with its resources. The event loop turns after every part of a new fleet. */
async function worksOf(desired: DesiredState, turn: () => Promise<void>): Promise<readonly Work[]> {
  const works: Work[] = [];
  for (const group of groupByApplication(desired)) {
    works.push(workOf(group));
    if (works.length % PART_SIZE === 0) await turn();
  }
  return works;
}

/** Returns records for the applications that have none, once it is known which of the others another replica has stored. */
async function addedRecords(
  core: Core,
  works: readonly Work[],
  turn: () => Promise<void>,
): Promise<ReadonlyMap<ResourceId, AppRecord>> {
  if (core.intake.maySkip) await core.sharedState?.noteMoves();
  const added = new Map<ResourceId, AppRecord>();
  for (const work of works) {
    if (core.records.has(work.application.id)) continue;
    added.set(work.application.id, await newRecord(core, work));
    if (added.size % PART_SIZE === 0) await turn();
  }
  return added;
}

/**
 * Moves an unchanged application to the new revision. If it was in sync with the former revision, it is in sync with
 * this one.
 */
function moveUnchanged(record: AppRecord, { accepted }: AcceptedReading): void {
  const { conditions, lastAppliedRevision } = record.status;
  if (lastAppliedRevision === record.revision && conditions.some(isReady))
    record.status = { ...record.status, lastAppliedRevision: accepted.revision };
  record.revision = accepted.revision;
  record.snapshot = accepted.snapshot;
}

function applyChange(core: Core, record: AppRecord, work: Work, { accepted, reading }: AcceptedReading): void {
  release(core, record);
  const { labels, spec } = work.application;
  if (core.leadership.isShared && record.status.platform !== spec.platform) record.moved = { to: spec.platform };
  record.work = work;
  record.status = { ...record.status, labels, platform: spec.platform, region: spec.region };
  dropStaleScope(record);
  record.revision = accepted.revision;
  record.snapshot = accepted.snapshot;
  record.changedRevision = accepted.revision;
  record.isUntried = true;
  record.observedMs = reading.observedMs;
  record.committedMs = reading.commit?.committedMs ?? null;
  record.author = reading.commit?.author ?? null;
  record.kept = markedKept(record.kept, desiredDigest(work), accepted.revision);
  if (isLed(core, record)) reachMilestone(core, record, 'observed');
}

/** Returns the applications that the source does not name any more. */
function removedFrom(records: Core['records'], works: readonly Work[]): readonly ResourceId[] {
  const wanted = new Set(works.map((work) => work.application.id));
  return [...records.keys()].filter((id) => !wanted.has(id));
}

/** Returns whether this process works on an application. */
function isLed({ leadership }: Core, { status }: AppRecord): boolean {
  return leadership.of(platformUnit(status.platform)) !== undefined;
}

function isReady({ type, status }: Condition): boolean {
  return type === 'Ready' && status === 'True';
}

/** Returns whether both have the same desired state; positions in files do not count. */
function isSameWork(left: Work, right: Work): boolean {
  if (left === right) return true;
  if (!isSameResource(left.application, right.application) || left.resources.size !== right.resources.size)
    return false;
  for (const [id, resource] of right.resources) {
    const other = left.resources.get(id);
    if (other === undefined || !isSameResource(other, resource)) return false;
  }
  return true;
}

/** The loader returns the same objects for a file that did not change, so most comparisons are quick. */
function isSameResource(left: Resource, right: Resource): boolean {
  const same = (one: unknown, other: unknown): boolean => one === other || sameJson(one as Json, other as Json);
  return same(left.spec, right.spec) && same(left.labels, right.labels) && same(left.annotations, right.annotations);
}

function remove(core: Core, id: ResourceId): void {
  const record = core.records.get(id);
  // A pass in progress keeps its scope until it ends.
  if (record?.isRunning === true) core.gates.forget(record);
  else if (record !== undefined) release(core, record);
  core.records.delete(id);
  core.queue.remove(id);
  core.slots.forget(id);
}

/** Frees the scope of an application until it is resolved again. */
function release({ claims, gates }: Core, record: AppRecord): void {
  claims.release(record.id);
  gates.forget(record);
}

async function openAccount(core: Core, snapshot: string, owned: number): Promise<Account> {
  const { sourceLedger, leadership, options } = core;
  const spent = await restoreFact<AccountState>(sourceLedger, 'account');
  if (spent?.snapshot === snapshot && leadership.isShared) return new Account(spent);
  // It was opened together with its snapshot. So another one has been accepted since.
  if (leadership.isShared) throw newer();
  const state = spent?.snapshot === snapshot ? spent : { snapshot, owned, changed: 0, removed: 0 };
  // Shares count from the objects at the time of acceptance, also after a restart.
  await saveFact(ledgerFor(core, sourceUnit(options.source)), 'account', state);
  return new Account(state);
}

async function newRecord(core: Core, work: Work): Promise<AppRecord> {
  const { sourceLedger, options } = core;
  const { id, labels, spec } = work.application;
  const nowMs = options.clock.now();
  const shared = core.sharedState?.take(id);
  // The ledger has what this process stored itself since it last read what others store.
  const isOwn = core.leadership.held(platformUnit(spec.platform)) !== undefined;
  const found = isOwn || shared === undefined ? await restoreRecord(sourceLedger, id) : shared;
  const stored = found === 'unreadable' ? undefined : found;
  const fresh: ApplicationStatus = {
    id,
    scope: null,
    platform: spec.platform,
    region: spec.region,
    labels,
    conditions: withSince(notObserved, [], null, nowMs),
    pause: null,
    approval: null,
    pending: null,
    lastAttemptedRevision: null,
    lastAppliedRevision: null,
    lastAttemptMs: null,
    lastSuccessMs: null,
    nextAttemptMs: null,
    failures: 0,
    lastError: null,
    resources: [],
  };
  // A new process retries at once: backoff does not survive a restart.
  const status = { ...fresh, ...stored?.status, failures: 0 };
  const kept = found === 'unreadable' ? keptUnreadable(core, id) : keptOf(stored);
  return {
    id,
    work,
    revision: '',
    snapshot: '',
    changedRevision: '',
    observedMs: nowMs,
    committedMs: null,
    author: null,
    status,
    kept,
    observed: null,
    plan: null,
    hidden: NONE_HIDDEN,
    doubts: NO_DOUBTS,
    moved: undefined,
    written: stored === undefined ? '' : digestWithoutTimes({ status, kept }),
    turns: core.recordTurns,
    watchedMs: undefined,
    approvedSnapshot: undefined,
    passes: 0,
    passedMs: undefined,
    isRunning: false,
    isUntried: true,
    isAlone: false,
    reached: { revision: '', milestones: new Set() },
  };
}

function reportAccepted(
  { events, records }: Core,
  { accepted }: AcceptedReading,
  changed: readonly ResourceId[],
  removed: readonly ResourceId[],
): void {
  const refusals = accepted.removalRefusals(1).map(({ message, override }) => `${message} (${override})`);
  const isQuiet = removed.length + refusals.length === 0;
  const message = [
    `${accepted.revision}: ${changed.length} of ${amount(records.size, 'application')} changed`,
    ...(removed.length === 0
      ? []
      : [
          `removed from git, and unmanaged from now on (their resources stay on the platform): ${someOf(removed, NAMED_MAX)}`,
        ]),
    ...(refusals.length === 0 ? [] : [`removals are refused: ${refusals.join('; ')}`]),
  ].join('. ');
  const detail = { snapshot: accepted.snapshot, changed: changed.slice(0, 100), removed: removed.slice(0, 100) };
  const facts = { revision: accepted.revision, detail };
  const [refusal] = accepted.removalRefusals(1);
  const problem =
    refusal === undefined
      ? { code: 'source/application-removed', remedy: 'Restore the Application in git to manage its resources again.' }
      : { code: refusal.code, remedy: 'Run portolan status: it shows the plans that require an approval.' };
  events.publish(
    isQuiet
      ? draftEvent('source.accepted', message, facts)
      : draftProblem('source.accepted', 'warning', message, problem, facts),
  );
}
