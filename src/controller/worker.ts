import type { ApplyEvent } from '../reconcile/apply/world.ts';
import type { LedgerOperation } from '../ledger/ledger.ts';
import { isLedgerLost } from '../ledger/errors.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { ResourceStatus } from '../model/status.ts';
import { after } from '../runtime/clock.ts';
import { type Prepared, reconcile, type Seen } from '../reconcile/reconcile.ts';
import { shownLines } from '../reconcile/shown.ts';
import { DaemonPolicy, type Passed } from './daemon-policy.ts';
import { type Requeue, driftDetected, judgePass } from './aftermath.ts';
import { modeOf } from './conditions.ts';
import { type Core, expected, milestone, publish, resyncMs, worldOf } from './core.ts';
import { followDrift } from './drift.ts';
import type { EventDraft } from './events.ts';
import { healthAfter } from './health.ts';
import { keepRecord, type AppRecord } from './ledger-records.ts';
import { remindOfSuspended } from './reminders.ts';
import type { Waiting } from './slots.ts';
import { applyFinished, applyStarted, eventsOf } from './tell.ts';

/** A pass that takes longer counts as one in trouble: its place is another's. */
const SLOW_PASS_MS = 1_000;
/** How often one that waits for a place asks for it by itself. */
const PLACE_EVERY_MS = 10_000;

/** What the work queue calls for one application: one pass, and when it is to be looked at again. */
export async function work(core: Core, id: ResourceId, because: readonly string[]): Promise<void> {
  const { records, slots, queue, options } = core;
  const record = records.get(id);
  // What a new commit wants of it has not failed yet.
  const hasFailed = record !== undefined && record.status.failures > 0 && !record.isFresh;
  if (record === undefined) return;
  if (!slots.enter(id, hasFailed, because)) {
    // Whoever leaves a place names the next one; if that one has no use for it any more, this is how nobody is forgotten.
    queue.addAfter(id, PLACE_EVERY_MS, 'waits for a place');
    return;
  }
  const done = new AbortController();
  after(options.clock, SLOW_PASS_MS, done.signal, () => {
    wake(core, slots.slow(id));
    // Another may begin in its place; asking for what comes anyway lets the queue look.
    queue.addAfter(id, resyncMs(core), 'resync');
  });
  try {
    await onePass(core, record, because);
  } catch (error) {
    // The ledger could not be written: nothing was sent that is not recorded, and it is tried again.
    expected(core, error);
    queue.addRateLimited(id, 'the ledger could not be written');
  } finally {
    record.isRunning = false;
    done.abort();
    wake(core, slots.leave(id));
  }
}

function wake({ queue }: Core, next: Waiting | undefined): void {
  if (next === undefined) return;
  for (const reason of next.because) queue.add(next.id, reason, 'routine');
}

/** Drift as the pass saw it first, told at once: afterwards it may be put right. */
interface FirstLook {
  resources: readonly ResourceStatus[];
  readonly lines: LedgerOperation[];
}

async function onePass(core: Core, record: AppRecord, because: readonly string[]): Promise<void> {
  const { options, sourceLedger, configuration, queue } = core;
  const { clock, log } = options;
  const { revision, work: wanted } = record;
  const gate = await core.gates.before(record);
  if (gate.type === 'paused') {
    // Nothing is asked, so nothing of what was known before changes.
    record.status = { ...record.status, pause: gate.pause };
    queue.addAfter(record.id, gate.lookAgainMs - clock.now() + 50, 'the end of a pause');
    return;
  }
  record.passes += 1;
  record.isRunning = true;
  log.debug('looking', { application: record.id, revision, because: because.join(', ') });
  const look: FirstLook = { resources: record.status.resources, lines: [] };
  const policy = new DaemonPolicy(core, record, revision, (prepared) =>
    planned(core, record, revision, prepared, look),
  );
  const result = await passOrError(core, record, revision, policy);
  const { outcome } = result;
  if (outcome.type !== 'refused' && outcome.error !== undefined && isLedgerLost(outcome.error))
    core.lose(outcome.error);
  const closed = await core.gates.after(record, result.outcome);
  const passed = closed === null ? result : { ...result, pause: closed };
  if (core.stop.aborted && isCutOff(passed)) return;
  const after = judgePass({
    record,
    passed,
    seen: look.resources,
    ...(await healthAfter(core, record, passed)),
    revision,
    nowMs: clock.now(),
  });
  record.isRunning = false;
  if (record.work === wanted) tried(core, record, revision);
  const { suspendedNotifyAfterMs } = configuration.settings.controller;
  publish(core, record, revision, [
    ...applyFinished(record.id, revision, passed.outcome),
    ...after.events,
    ...remindOfSuspended(record, suspendedNotifyAfterMs, clock.now()),
  ]);
  await keepRecord(sourceLedger, record, [...look.lines, ...after.lines]);
  // After the record, which a fault in what is only shown must not cost.
  if (passed.seen !== undefined) await observe(core, record, passed.seen);
  again(core, record, after.next);
}

/** Of what no manifest names; the platform decides how much of it there is, and every application keeps its lines. */
const UNNAMED_LINES_MAX = 100;

/** Keeps what kinds show of an observation, from what was read for it: views ask the platform for nothing. */
async function observe({ options: { clock, kinds, log } }: Core, record: AppRecord, seen: Seen): Promise<void> {
  try {
    const { lines } = await shownLines(seen, kinds, 'known');
    const unnamed = lines.filter(({ resource, state }) => resource === undefined || state === 'not-in-manifests');
    const left = new Set(unnamed.slice(UNNAMED_LINES_MAX));
    record.observed = {
      atMs: clock.now() - (clock.monotonic() - seen.observedAtMs),
      lines: lines.filter((line) => !left.has(line)),
      ...(left.size === 0 ? {} : { unnamedLeftOut: left.size }),
    };
  } catch (error) {
    // What is only shown must not cost an application its passes.
    log.error('a view failed, which is a fault of Portolan itself; what was shown before stays', {
      application: record.id,
      error: String(error),
    });
  }
}

/** What is wanted now was tried, by this pass. */
function tried(core: Core, record: AppRecord, revision: string): void {
  record.isFresh = false;
  const { lastAppliedRevision, conditions } = record.status;
  if (lastAppliedRevision !== revision) return;
  milestone(core, record, 'applied');
  if (conditions.some(({ type, status }) => type === 'Healthy' && status === 'True'))
    milestone(core, record, 'healthy');
}

/** Reading ended with the process: that says nothing of the application, and what was sent is recorded already. */
function isCutOff({ outcome }: Passed): boolean {
  return outcome.type !== 'refused' && outcome.error?.code === 'platform/stopped';
}

async function passOrError(core: Core, record: AppRecord, revision: string, policy: DaemonPolicy): Promise<Passed> {
  const { work: wanted } = record;
  let begun = false;
  const emit = (event: ApplyEvent): void => {
    if (event.type === 'started') {
      milestone(core, record, 'first-write');
      if (!begun) publish(core, record, revision, [applyStarted(record.id, revision)]);
      begun = true;
    }
    publish(core, record, revision, eventsOf(event));
    tellLog(core, record, revision, event);
  };
  // A newer wish, or the end of the process: what is in flight is finished, nothing new is begun.
  const stopRequested = (): 'interrupted' | undefined =>
    core.stop.aborted || record.work !== wanted ? 'interrupted' : undefined;
  try {
    const world = worldOf(core, wanted, record.snapshot, { emit, stopRequested });
    return policy.findings(await reconcile(wanted, world, policy.options, policy));
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    // The configuration lacks its platform, or a secret of that.
    return policy.findings({ type: 'unobserved', application: record.id, error });
  }
}

function planned(
  core: Core,
  record: AppRecord,
  revision: string,
  { plan, work: wanted }: Prepared,
  look: FirstLook,
): void {
  milestone(core, record, 'planned');
  const nowMs = core.options.clock.now();
  const { drifts, news } = followDrift(look.resources, plan, nowMs);
  const events: EventDraft[] = [];
  for (const one of news) {
    if (one.type !== 'detected') continue;
    const { event, lines } = driftDetected(one.resource, one.drift, nowMs);
    events.push(event);
    look.lines.push(...lines);
  }
  publish(core, record, revision, events);
  const before = new Map(look.resources.map((status) => [status.id, status]));
  look.resources = [...wanted.resources.values()].map((resource) => {
    const known = before.get(resource.id);
    // What is not looked at has not gone away either.
    const drift = modeOf(resource) === 'suspend' ? null : (drifts.get(resource.id) ?? known?.drift ?? null);
    const blank = { id: resource.id, application: record.id, mode: modeOf(resource), conditions: [], holds: [] };
    return { ...(known ?? blank), drift };
  });
}

function tellLog({ options: { log } }: Core, { status }: AppRecord, revision: string, event: ApplyEvent): void {
  if (event.type === 'finished') {
    const { action, result } = event;
    const fields = { scope: status.scope ?? event.scope, revision, status: result.status, cause: action.cause };
    const text = `${action.resource}: ${action.summary}`;
    if (result.status === 'failed' || result.status === 'in-doubt')
      log.warn(`${text}: ${result.answer.message}`, fields);
    else log.info(text, fields);
  }
  if (event.type === 'resolved')
    log.info(`${event.resource}: intent ${event.intent} of an earlier write: ${event.how}`, {
      scope: event.scope,
      revision,
    });
}

function again(core: Core, record: AppRecord, next: Requeue): void {
  const { queue, records, options } = core;
  const { id } = record;
  if (records.get(id) !== record) return;
  if (next.type === 'retry') queue.addRateLimited(id, 'it failed');
  else if (next.type === 'now') queue.restart(id, next.because);
  else {
    queue.forget(id);
    if (next.type === 'at') queue.addAfter(id, next.atMs - options.clock.now(), next.because);
    else record.isAlone = false;
    queue.addAfter(id, resyncMs(core), 'resync');
  }
}
