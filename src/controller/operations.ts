import { historyRowsOf, historyWithin } from '../ledger/history-rows.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { ApplicationStatus, ControllerStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { canonicalUrl } from '../platform/url.ts';
import { rebindPlatform } from '../reconcile/resolution/manual-changes.ts';
import { decidedStatus, fleetState } from './application-state.ts';
import { yes } from './conditions.ts';
import { type Core, known } from './core.ts';
import { decide, verified } from './decide.ts';
import type { ControllerApi, Standing, Within } from './api.ts';
import { PlanTotals, rejectedDigest } from './approvals.ts';
import { draftEvent } from './events.ts';
import { historyRow, observedOf, type AppRecord } from './ledger-records.ts';
import { manualCommands } from './manual.ts';
import { orphanCommands } from './orphan-commands.ts';
import { adoptionCommands } from './adoption.ts';
import { dependenciesOf } from './dependencies.ts';
import { createMonitoringReads } from './monitoring.ts';
import { planFiles, planWorks } from './planning.ts';
import { soleReplica } from './replicas/sole-replica.ts';
import { applicationSuspended } from './problem-events.ts';
import { platformUnit } from './replicas/leadership.ts';
import { leading } from './replicas/unit-ledgers.ts';
import { resourceDetails, sourcePositions } from './resource-details.ts';

/** Creates the interface of the controller for the HTTP server, notifications and metrics. */
export function createApi(core: Core, startedMs: EpochMs): ControllerApi {
  const { records, options } = core;
  const totals = new PlanTotals();
  const readMonitoring = createMonitoringReads(core);
  return {
    startedMs,
    status: (within) => statusOf(core, startedMs, within),
    applications: () => [...records.values()].map((record) => shown(core, record)).sort(byId),
    application: (id) => {
      const record = records.get(id);
      return record && shown(core, record);
    },
    async details(id) {
      const record = records.get(id);
      if (record === undefined) return undefined;
      return { ...shown(core, record), observed: observedOf(record), sources: sourcePositions(record) };
    },
    resource: (id, resource) => resourceDetails(core, id, resource),
    standings: standingsOf(core),
    commits: () => core.commits.list(),
    findCommit: (prefix) => options.feed.findCommit(prefix),
    orphans: () => core.found?.orphans ?? [],
    events: core.events,
    leads: (unit) => core.leadership.of(unit) !== undefined,
    pokeSource: async (because) => {
      options.log.debug('the source may have changed', { because });
      options.feed.poke();
    },
    ...applicationCommands(core, totals),
    ...platformCommands(core),
    ...manualCommands(core),
    ...adoptionCommands(core),
    ...orphanCommands(core),
    plan: async (ids, signal) => {
      const planned = recordsOf(core, ids);
      const works = planned.map(({ work }) => work);
      return totals.note(await planWorks(core, works, signal));
    },
    async planManifests(files, request, signal) {
      const planned = await planFiles(core, files, request, signal);
      if (planned.type === 'planned') totals.note(planned.document);
      return planned;
    },
    monitoring: async (id, window) => readMonitoring(id, known(core, id), window),
    dependencies: dependenciesOf(core),
    replicas: async () => soleReplica(core, startedMs),
    ...ledgerViews(core),
  };
}

/** Returns the read-only views of the ledger. */
function ledgerViews(core: Core): Pick<ControllerApi, 'history' | 'objects' | 'intents'> {
  const { ledger } = core.sourceLedger;
  const scopeOf = (id: ResourceId): ScopeKey | null => known(core, id).status.scope;
  const pause = (): Promise<void> => core.options.clock.sleep(0);
  return {
    async history({ application, resource, within, limit, beforeSerial }) {
      const scope = application === undefined ? undefined : scopeOf(application);
      // An application that was never resolved has no history.
      if (scope === null || (scope !== undefined && within?.(scope) === false)) return [];
      if (resource !== undefined && scope !== undefined)
        return Array.fromAsync(historyRowsOf(ledger, { scope, resource, limit, beforeSerial, pause }));
      if (scope === undefined && within !== undefined)
        return historyWithin(ledger, within, { limit, beforeSerial, pause });
      return ledger.history({ limit, scope, beforeSerial });
    },
    async objects(id) {
      const scope = scopeOf(id);
      return scope === null ? [] : ledger.objects({ scope });
    },
    async intents(id) {
      const scope = id === 'all' ? undefined : scopeOf(id);
      if (scope === null) return [];
      return ledger.intents({ scope, states: ['open', 'unknown'] });
    },
  };
}

/** Returns the records of applications. @throws PortolanError as `known`. */
function recordsOf(core: Core, ids: readonly ResourceId[] | 'all'): readonly AppRecord[] {
  return ids === 'all' ? [...core.records.values()] : ids.map((id) => known(core, id));
}

/**
 * Returns a function that returns the standings. Their order is kept as long as the applications are the same, and nothing is
 * copied: a list of ten thousand would fill the young generation of the heap.
 */
function standingsOf({ records }: Core): () => readonly Standing[] {
  let known: readonly AppRecord[] = [];
  let sorted: readonly AppRecord[] = [];
  const isSame = (): boolean => {
    let at = 0;
    for (const record of records.values()) if (known[at++] !== record) return false;
    return at === known.length;
  };
  return () => {
    if (isSame()) return sorted;
    known = [...records.values()];
    sorted = known.toSorted(byId);
    return sorted;
  };
}

function applicationCommands(core: Core, totals: PlanTotals): Pick<ControllerApi, 'suspend' | 'resume' | 'approve'> {
  const { clock } = core.options;
  return {
    async suspend(id, by, reason) {
      const record = known(core, id);
      const sinceMs = record.kept.suspended?.sinceMs ?? clock.now();
      await decide(core, record, {
        change: { suspended: { by, reason, sinceMs }, remindedMs: null },
        line: historyRow('suspended', { application: id, by, reason }),
        event: applicationSuspended(id, { by, reason }),
      });
      // A failing application keeps its backoff: otherwise each suspension would send requests at once.
      core.queue.add(id, `suspended by ${by}`);
    },
    async resume(id, by) {
      const shown = known(core, id);
      const { kept, moved } = shown;
      const record = kept.suspended === null || moved !== undefined ? await verified(core, id) : shown;
      const { suspended } = record.kept;
      if (suspended === null) return;
      const { takeovers } = moved === undefined ? kept : record.kept;
      const detail = { by, forMs: clock.now() - suspended.sinceMs };
      await decide(core, record, {
        change: { suspended: null, remindedMs: null },
        line: historyRow('resumed', { application: id, by }),
        event: draftEvent('application.resumed', `${id} was resumed by ${by}`, { detail }),
        takeovers,
      });
      core.queue.restart(id, `resumed by ${by}`);
    },
    async approve(id, digest, by) {
      const record = known(core, id);
      const { approval } = record.status;
      if (approval?.digest !== digest) throw rejectedDigest(core, totals, record, digest);
      const detail = { by, digest, refusals: approval.refusals.map(({ code }) => code) };
      const message = `${by} approved the plan ${digest.slice(0, 12)} of ${id}`;
      await decide(core, record, {
        change: { approved: { digest, by, atMs: clock.now() } },
        line: historyRow('approved', { application: id, ...detail }),
        event: draftEvent('approval.given', message, { detail }),
      });
      core.queue.restart(id, `approved by ${by}`);
    },
  };
}

function platformCommands(core: Core): Pick<ControllerApi, 'sync' | 'rebind'> {
  const { records, queue, options, sourceLedger } = core;
  return {
    async sync(ids, by) {
      const asked = recordsOf(core, ids);
      // A sync must observe the present state, so older listings are dropped; those of other platforms stay, because replicas sync one
      // platform after another.
      core.shared?.forget(new Set(asked.map(({ status }) => status.platform)));
      for (const record of asked) queue.restart(record.id, `sync requested by ${by}`);
      // A failure is logged, and retried.
      core.retrySource().catch(() => {});
      return asked.map(({ id }) => id).sort();
    },
    async rebind(platform, by, reason) {
      const url = canonicalUrl(core.configuration.client(platform).url);
      const former = await leading(core, platformUnit(platform), ({ ledger }) =>
        rebindPlatform({ ...sourceLedger, ledger }, platform, url, { reason, by }),
      );
      options.log.warn(`Platform/${platform} was rebound to ${url} by ${by}: ${reason}`, {
        before: former?.url ?? '',
      });
      core.shared?.forget();
      for (const record of records.values()) {
        if (record.work.application.spec.platform !== platform) continue;
        queue.restart(record.id, `rebound by ${by}`);
      }
      return { url, before: former?.url ?? null };
    },
  };
}

function shown({ queue }: Core, { status: passed, kept, isRunning, id }: AppRecord): ApplicationStatus {
  const status = decidedStatus(passed, kept);
  const dueMs = queue.nextDueMs(id);
  const nextAttemptMs = dueMs === undefined ? null : Math.round(dueMs);
  if (!isRunning) return { ...status, nextAttemptMs };
  const running = yes('Running', 'a pass is in progress');
  const conditions = status.conditions.map((one) => (one.type === 'Reconciling' ? { ...one, ...running } : one));
  return { ...status, nextAttemptMs, conditions };
}

function statusOf(core: Core, startedMs: EpochMs, within?: Within): ControllerStatus {
  const { options, intake, stop, found, queue } = core;
  const isWithin: Within = within ?? (() => true);
  const all = [...core.records.values()].filter(({ status }) => isWithin(status.scope));
  const count = (is: (status: ApplicationStatus, record: AppRecord) => boolean): number =>
    all.filter((record) => is(record.status, record)).length;
  const nowMs = options.clock.now();
  const isDue = (id: ResourceId): boolean => (queue.nextDueMs(id) ?? Number.POSITIVE_INFINITY) <= nowMs;
  return {
    version: options.version,
    startedMs,
    phase: stop.aborted ? 'draining' : intake.isFollowed ? 'running' : 'starting',
    source: intake.status(),
    regions: core.gates.regions(all),
    orphans: found?.orphans.filter(({ scope }) => isWithin(scope)).length ?? 0,
    counts: {
      applications: all.length,
      ready: count(({ conditions }) => conditions.some(({ type, status }) => type === 'Ready' && status === 'True')),
      drifted: count(({ resources }) => resources.some(({ drift }) => drift !== null)),
      held: count((status, { kept }) => fleetState(decidedStatus(status, kept)) === 'held'),
      failing: count(({ failures }) => failures > 0),
      suspended: count(
        (status, { kept }) => kept.suspended !== null || status.resources.some(({ mode }) => mode === 'suspend'),
      ),
      queued: within === undefined ? queue.depth : count((_, { id, isRunning }) => !isRunning && isDue(id)),
      running: within === undefined ? queue.running : count((_, { isRunning }) => isRunning),
    },
  };
}

function byId(left: Pick<AppRecord, 'id'>, right: Pick<AppRecord, 'id'>): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
