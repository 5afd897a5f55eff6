import type { ApplyEvent, Origin } from '../reconcile/apply/world.ts';
import type { LedgerOperation } from '../ledger/ledger.ts';
import { isLedgerLost } from '../ledger/errors.ts';
import type { Lead } from '../ledger/shared.ts';
import { recordOfSource } from '../ledger/source-ledger.ts';
import { PortolanError } from '../model/errors.ts';
import { kindName, type ResourceId } from '../model/ids.ts';
import type { ResourceStatus } from '../model/status.ts';
import { after, NOT_NEEDED } from '../runtime/clock.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { type Prepared, reconcile, type Seen, type Work } from '../reconcile/reconcile.ts';
import { shownLines } from '../reconcile/shown.ts';
import { DaemonPolicy, type Passed } from './daemon-policy.ts';
import { type Requeue, reportNewDrift, judgePass } from './judge-pass.ts';
import { modeOf } from './conditions.ts';
import { appliedKept } from './commit-marks.ts';
import { type Core, logExpected, reachMilestone, publish, RESYNC, resyncMs, untilResyncMs, worldOf } from './core.ts';
import { trackDrift } from './drift.ts';
import type { EventDraft } from './events.ts';
import { hasWritten, healthAfter, type HealthResult } from './health.ts';
import { checkHealth } from './health-check.ts';
import { keepObserved, keepPlan, NO_DOUBTS, NONE_HIDDEN, saveRecord, type AppRecord } from './ledger-records.ts';
import { remindOfSuspended } from './reminders.ts';
import { platformUnit } from './replicas/leadership.ts';
import { takeOver } from './replicas/moved-record.ts';
import { ledgerBy, mayNotContinue } from './replicas/unit-ledgers.ts';
import { noteScope } from './resolved-scope.ts';
import type { Waiting } from './slots.ts';
import { finishedEvents, startedEvent, eventsOf } from './apply-events.ts';

/** A pass that takes longer counts as slow, and its slot becomes free for another application. */
const SLOW_PASS_MS = 1_000;
/** Interval at which an application that waits for a slot tries to get one. */
const SLOT_RETRY_MS = 10_000;

/** Interval at which an application tries again that waits until this process has loaded the accepted revision. */
const BEHIND_RETRY_MS = 5_000;

/** Runs one pass of an application for the work queue, and requeues the application. */
export async function workOn(
  core: Core,
  id: ResourceId,
  because: readonly string[],
  wantedMs: MonotonicMs,
): Promise<void> {
  const { records, slots, queue, options, leadership } = core;
  const record = records.get(id);
  if (record === undefined) return;
  const lead = leadership.of(platformUnit(record.status.platform));
  // The leader of the platform works on it. A gain of the platform requests a pass.
  if (lead === undefined) return;
  if (core.intake.isBehind) {
    queue.addAfter(id, BEHIND_RETRY_MS, 'waits for the accepted revision');
    return;
  }
  // A failure counts only until a new commit changes the application.
  const hasFailed = record.status.failures > 0 && !record.isUntried;
  if (!slots.enter(id, hasFailed, because)) {
    // `leave` names the next application that waits. This timer covers the case that the named one does not use its
    // slot.
    queue.addAfter(id, SLOT_RETRY_MS, 'waits for a slot');
    return;
  }
  const done = new AbortController();
  after(options.clock, SLOW_PASS_MS, done.signal, () => {
    requeueWaiting(core, slots.slow(id));
    // A slow pass frees its slot. The next resync is requested now, so that the queue checks whether another key may
    // start.
    queue.addAfter(id, resyncMs(core), RESYNC);
  });
  try {
    await core.unitWork.run(lead.unit, () => runPass(core, record, lead, { because, wantedMs }));
  } catch (error) {
    if (isNotLeader(error)) {
      // By a commit that this process has not followed, another one may lead the application.
      options.log.info(error.message, { application: id });
      queue.addAfter(id, BEHIND_RETRY_MS, 'waits for the accepted revision');
      return;
    }
    // Every write that was sent is in the ledger, so the pass can be retried.
    logExpected(core, error);
    queue.addRateLimited(id, 'the ledger could not be written');
  } finally {
    record.isRunning = false;
    done.abort(NOT_NEEDED);
    requeueWaiting(core, slots.leave(id));
    if (records.get(id) !== record) abandon(core, record);
  }
}

function isNotLeader(error: unknown): error is PortolanError {
  return error instanceof PortolanError && error.code === 'controller/not-leader';
}

/** Frees the scope of an application that was removed during its last pass, which may have left something behind. */
function abandon({ claims, refreshOrphans }: Core, { id, status }: AppRecord): void {
  claims.release(id);
  void refreshOrphans(status.platform);
}

function requeueWaiting({ queue }: Core, next: Waiting | undefined): void {
  if (next === undefined) return;
  for (const reason of next.because) queue.add(next.id, reason, 'routine');
}

/** Drift as the pass first observed it. It is reported at once, because the pass may correct it. */
interface FirstObservation {
  resources: readonly ResourceStatus[];
  /** Rows for the history. */
  readonly lines: LedgerOperation[];
}

/** Why and since when a pass is wanted. */
interface Request {
  readonly because: readonly string[];
  readonly wantedMs: MonotonicMs;
}

async function runPass(core: Core, record: AppRecord, lead: Lead, { because, wantedMs }: Request): Promise<void> {
  const { options, queue } = core;
  const { clock, log } = options;
  if (record.moved !== undefined) await takeOver(core, record, lead);
  const { revision, work: wanted } = record;
  const checked = await checkHealth(core, record, lead, because);
  if (checked !== undefined) return requeue(core, record, checked);
  const gate = await core.gates.admit(record);
  if (lead.over.aborted || isMoved(record, lead)) return;
  if (gate.type === 'paused') {
    // No pass runs, so the rest of the status stays as it is.
    record.status = { ...record.status, pause: gate.pause };
    queue.addAfter(record.id, gate.nextCheckMs - clock.now() + 50, 'the end of a pause');
    return;
  }
  record.passes += 1;
  record.passedMs = clock.monotonic();
  record.isRunning = true;
  log.debug('pass started', { application: record.id, revision, because: because.join(', ') });
  const first: FirstObservation = { resources: record.status.resources, lines: [] };
  const policy = new DaemonPolicy(core, { record, revision, ledger: ledgerBy(core, lead), wantedMs }, (prepared) => {
    if (!lead.over.aborted) notePlan(core, record, revision, prepared, first);
  });
  const result = await attempt(core, { record, revision, lead, policy });
  const { outcome } = result;
  if (outcome.type !== 'refused' && outcome.error !== undefined && isLedgerLost(outcome.error))
    core.lose(outcome.error);
  const closed = await core.gates.report(record, result.outcome);
  const passed = closed === null ? result : { ...result, pause: closed };
  if (mayNotContinue(core, lead) && isInterrupted(passed)) return;
  // Nothing can be recorded any more. The next leader observes what was sent.
  if (lead.over.aborted) return;
  if (outcome.type !== 'unobserved' && noteScope(record, wanted, outcome.plan.scope, clock.now())) first.resources = [];
  const health = await healthAfter(core, record, passed);
  if (lead.over.aborted) return;
  if (isMoved(record, lead)) return endMoved(core, record, lead, passed, revision, first);
  await finishPass(core, record, lead, { passed, health, first, revision, wanted });
}

/** Returns whether a commit has moved an application away since a pass began, or away and back. Its next pass was requested then. */
function isMoved({ status, moved }: AppRecord, { unit }: Lead): boolean {
  return platformUnit(status.platform) !== unit || moved !== undefined;
}

/**
 * Ends the pass of an application that a commit moved to another platform meanwhile. Its status belongs to the leader of that one,
 * where its next pass observes it.
 */
async function endMoved(
  core: Core,
  record: AppRecord,
  lead: Lead,
  passed: Passed,
  revision: string,
  { lines }: FirstObservation,
): Promise<void> {
  publish(core, record, revision, finishedEvents(record.id, revision, passed.outcome));
  if (lines.length > 0) await recordOfSource(ledgerBy(core, lead), lines, lead.unit);
}

interface Finished {
  readonly passed: Passed;
  readonly health: HealthResult;
  readonly first: FirstObservation;
  readonly revision: string;
  /** The application and its resources as the pass began with them. */
  readonly wanted: Work;
}

/** Judges a pass, reports and stores what it found, and requeues the application. */
async function finishPass(
  core: Core,
  record: AppRecord,
  lead: Lead,
  { passed, health, first, revision, wanted }: Finished,
): Promise<void> {
  const { clock } = core.options;
  const after = judgePass({ record, passed, seen: first.resources, ...health, revision, nowMs: clock.now() });
  record.isRunning = false;
  if (hasWritten(passed.outcome)) noteChange(record, clock.now());
  if (record.work === wanted) noteAttempt(core, record, revision);
  const { suspendedNotifyAfterMs } = core.configuration.settings.controller;
  publish(core, record, revision, [
    ...finishedEvents(record.id, revision, passed.outcome),
    ...after.events,
    ...remindOfSuspended(record, suspendedNotifyAfterMs, clock.now()),
  ]);
  await saveRecord(ledgerBy(core, lead), record, [...first.lines, ...after.lines]);
  if (passed.outcome.type !== 'unobserved') keepPlan(record, passed.outcome.plan);
  // Runs after the record is saved, so that a bug in a view cannot lose the record.
  if (passed.seen !== undefined) await observe(core, record, passed.seen);
  requeue(core, record, after.next);
}

/** Maximum number of lines that a view has for objects without a manifest. The platform may have any number of them. */
const UNNAMED_LINES_MAX = 100;

/** Stores what the kinds show of an observation. Views then need no request to the platform. */
async function observe({ options: { clock, kinds, log } }: Core, record: AppRecord, seen: Seen): Promise<void> {
  const isHidden = ([id, live]: [ResourceId, unknown]): boolean =>
    kinds.get(kindName(id))?.view.isShown?.(live) === false;
  const hidden = new Set([...seen.live].filter(isHidden).map(([id]) => id));
  record.hidden = hidden.size === 0 ? NONE_HIDDEN : hidden;
  const doubts = new Map(
    seen.inDoubt.flatMap(({ intent, evidence }) => (evidence === '' ? [] : [[intent.id, evidence]])),
  );
  record.doubts = doubts.size === 0 ? NO_DOUBTS : doubts;
  try {
    const { lines } = await shownLines(seen, kinds, 'known');
    const unnamed = lines.filter(({ resource, state }) => resource === undefined || state === 'not-in-manifests');
    const left = new Set(unnamed.slice(UNNAMED_LINES_MAX));
    keepObserved(record, {
      atMs: clock.now() - (clock.monotonic() - seen.observedAtMs),
      lines: lines.filter((line) => !left.has(line)),
      ...(left.size === 0 ? {} : { unnamedLeftOut: left.size }),
    });
  } catch (error) {
    // A bug in a view must not stop the passes of an application.
    const fields = { application: record.id, error: String(error) };
    log.error('a view failed because of a bug in Portolan; the last view stays', fields);
  }
}

/** Notes that a pass has changed the application. */
function noteChange(record: AppRecord, doneMs: EpochMs): void {
  const { kept, changedRevision } = record;
  const revision = kept.commits.at(-1)?.revision ?? changedRevision;
  record.kept = { ...kept, lastChange: { doneMs, revision } };
}

/** Notes that a pass has tried the present manifests, and reports the milestones that it reached. */
function noteAttempt(core: Core, record: AppRecord, revision: string): void {
  record.isUntried = false;
  const { lastAppliedRevision, conditions } = record.status;
  if (lastAppliedRevision !== revision) return;
  record.kept = appliedKept(record.kept, core.options.clock.now());
  reachMilestone(core, record, 'applied');
  if (conditions.some(({ type, status }) => type === 'Healthy' && status === 'True'))
    reachMilestone(core, record, 'healthy');
}

/**
 * Returns whether the end of the process interrupted the reads. Nothing is known of the application then; writes that
 * were sent are in the ledger.
 */
function isInterrupted({ outcome }: Passed): boolean {
  return outcome.type !== 'refused' && outcome.error?.code === 'platform/stopped';
}

interface Attempt {
  readonly record: AppRecord;
  readonly revision: string;
  readonly lead: Lead;
  readonly policy: DaemonPolicy;
}

async function attempt(core: Core, { record, revision, lead, policy }: Attempt): Promise<Passed> {
  const { work: wanted } = record;
  let begun = false;
  const emit = (event: ApplyEvent): void => {
    if (event.type === 'started') {
      reachMilestone(core, record, 'first-write');
      if (!begun) publish(core, record, revision, [startedEvent(record.id, revision)]);
      begun = true;
    }
    publish(core, record, revision, eventsOf(event));
  };
  // After a new commit, or when the process may not continue, writes in flight are finished and no new one starts.
  const isOver = (): boolean => record.work !== wanted || core.records.get(record.id) !== record;
  const stopRequested = (): 'interrupted' | undefined =>
    mayNotContinue(core, lead) || isOver() ? 'interrupted' : undefined;
  try {
    const hooks = { emit, stopRequested };
    const world = worldOf(core, wanted, {
      snapshot: record.snapshot,
      hooks,
      origin: originOf(core, record, lead),
      lead,
    });
    return policy.conclude(await reconcile(wanted, world, policy.options, policy));
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    // The configuration has no such platform, or lacks a secret of it.
    return policy.conclude({ type: 'unobserved', application: record.id, error });
  }
}

/** Returns what the history records with the writes of the next pass: the last commit that changed the application. */
function originOf(core: Core, { id, changedRevision, author, committedMs }: AppRecord, lead: Lead): Origin {
  core.passes += 1;
  const run = `${lead.ledger.epoch}.${core.passes}`;
  const commit = { ...(author === null ? {} : { author }), ...(committedMs === null ? {} : { committedMs }) };
  return { run, application: id, revision: changedRevision, ...commit };
}

function notePlan(
  core: Core,
  record: AppRecord,
  revision: string,
  { plan, work: wanted }: Prepared,
  first: FirstObservation,
): void {
  reachMilestone(core, record, 'planned');
  const nowMs = core.options.clock.now();
  if (noteScope(record, wanted, plan.scope, nowMs)) first.resources = [];
  const { drifts, news } = trackDrift(first.resources, plan, nowMs);
  const events: EventDraft[] = [];
  for (const one of news) {
    if (one.type !== 'detected') continue;
    const { event, lines } = reportNewDrift(one.resource, one.drift, nowMs);
    events.push(event);
    first.lines.push(...lines);
  }
  publish(core, record, revision, events);
  const before = new Map(first.resources.map((status) => [status.id, status]));
  first.resources = [...wanted.resources.values()].map((resource) => {
    const known = before.get(resource.id);
    // Drift that has ended stays here, so that `judgePass` reports its end.
    const drift = modeOf(resource) === 'suspend' ? null : (drifts.get(resource.id) ?? known?.drift ?? null);
    const blank = { id: resource.id, application: record.id, mode: modeOf(resource), conditions: [], holds: [] };
    return { ...(known ?? blank), drift };
  });
}

function requeue(core: Core, record: AppRecord, next: Requeue): void {
  const { queue, records, options } = core;
  const { id } = record;
  if (records.get(id) !== record) return;
  if (next.type === 'retry') queue.addRateLimited(id, 'it failed');
  else if (next.type === 'now') queue.restart(id, next.because);
  else {
    queue.forget(id);
    if (next.type === 'at') queue.addAfter(id, next.atMs - options.clock.now(), next.because);
    else record.isAlone = false;
    queue.addAfter(id, untilResyncMs(core, record), RESYNC);
  }
}
