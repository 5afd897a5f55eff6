import {
  type ControllerApi,
  type EventStream,
  type Standing,
  notOrphaned,
  unknownApplication,
  type Within,
} from '../controller/api.ts';
import { invalidInput } from '../model/errors.ts';
import { type ResourceId, resourceId, type ScopeKey } from '../model/ids.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { ApplicationStatus, ControllerEvent } from '../model/status.ts';
import type { Caller } from './caller.ts';
import type { Permission, Permissions } from './permissions.ts';
import * as refusals from './refusals.ts';
import { limitedCommits, limitedEvent, limitedPlan, limitedStatus } from './scoped-views.ts';

/**
 * Returns the controller as a caller may see and use it. Routes get nothing else, so none of them can forget a check. An
 * application that the caller may not see answers as one that does not exist.
 * @param permissionsNow returns the permissions at the time of the call: a reload applies to requests that are under way.
 */
export function scopedApi(
  api: ControllerApi,
  caller: Caller | undefined,
  permissionsNow: () => Permissions,
): ControllerApi {
  const guard = createGuard(api, caller, permissionsNow);
  return {
    startedMs: api.startedMs,
    leads: (unit) => api.leads(unit),
    ...views(api, guard),
    ...fleetViews(api, guard),
    ...commands(api, guard),
    ...manualCommands(api, guard),
    ...plans(api, guard),
    ...records(api, guard),
  };
}

type Guard = ReturnType<typeof createGuard>;

function createGuard(api: ControllerApi, caller: Caller | undefined, permissionsNow: () => Permissions) {
  const covering =
    (wanted: Permission): Within =>
    (scope) =>
      permissionsNow().may(wanted, scope);
  const isVisible = covering('viewer');
  const wrongRole = (wanted: Permission, where: ResourceId | 'all'): Error =>
    refusals.wrongRole(caller, permissionsNow(), wanted, where);
  /** Requires a permission for an application. @throws as for an unknown one if the caller may not see it. */
  const demand = (wanted: Permission, id: ResourceId): ApplicationStatus => {
    const found = api.application(id);
    if (found === undefined || !isVisible(found.scope)) throw unknownApplication(id);
    if (!permissionsNow().may(wanted, found.scope)) throw wrongRole(wanted, id);
    return found;
  };
  return {
    covering,
    isVisible,
    has: (wanted: Permission): boolean => permissionsNow().hasForAll(wanted),
    seesAll: (): boolean => permissionsNow().hasForAll('viewer'),
    visible: (): readonly ApplicationStatus[] => api.applications().filter(({ scope }) => isVisible(scope)),
    demand,
    /** Reads something of an application. @throws as `demand`, also if the caller may not see it any more after the reading. */
    readOf: async <Read>(id: ResourceId, read: (id: ResourceId) => Promise<Read>): Promise<Read> => {
      const found = await read(demand('viewer', id).id);
      demand('viewer', id);
      return found;
    },
    /** Requires a permission for a scope of which an application was removed. */
    demandScope: (wanted: Permission, scope: ScopeKey): ScopeKey => {
      if (!isVisible(scope)) throw notOrphaned(scope);
      if (!permissionsNow().may(wanted, scope)) throw wrongRole(wanted, resourceId('Application', scope));
      return scope;
    },
    /** Returns a plan without the applications that the caller may not see now. */
    limited: (document: PlanDocument): PlanDocument =>
      permissionsNow().hasForAll('viewer') ? document : limitedPlan(document, isVisible),
    /** Requires a permission for everything. */
    demandForAll: (wanted: Permission): void => {
      if (!permissionsNow().hasForAll(wanted)) throw wrongRole(wanted, 'all');
    },
  };
}

function views(
  api: ControllerApi,
  { demand, demandForAll, isVisible, readOf, seesAll, visible }: Guard,
): Pick<
  ControllerApi,
  | 'status'
  | 'applications'
  | 'application'
  | 'details'
  | 'resource'
  | 'orphans'
  | 'events'
  | 'monitoring'
  | 'dependencies'
  | 'replicas'
> {
  return {
    status: (within) => {
      if (seesAll()) return api.status(within);
      const isWithin: Within = (scope) => isVisible(scope) && (within?.(scope) ?? true);
      return limitedStatus(api.status(isWithin), api.applications(), isWithin);
    },
    applications: () => (seesAll() ? api.applications() : visible()),
    application: (id) => {
      const found = api.application(id);
      return found !== undefined && isVisible(found.scope) ? found : undefined;
    },
    details: async (id) => {
      const known = api.application(id);
      if (known === undefined || !isVisible(known.scope)) return undefined;
      const found = await api.details(id);
      return found !== undefined && isVisible(found.scope) ? found : undefined;
    },
    resource: async (id, resource) => readOf(id, (of) => api.resource(of, resource)),
    orphans: () => api.orphans().filter(({ scope }) => isVisible(scope)),
    events: scopedEvents(api.events, (event) => (seesAll() ? event : limitedEvent(event, isVisible))),
    monitoring: async (id, window) => {
      demand('viewer', id);
      const reading = await api.monitoring(id, window);
      if (!isVisible(reading.scope)) throw unknownApplication(id);
      return reading;
    },
    dependencies: async () => {
      demandForAll('viewer');
      return api.dependencies();
    },
    replicas: async () => {
      demandForAll('viewer');
      return api.replicas();
    },
  };
}

/** Lists of applications, and the commits as far as they changed applications that the caller may see. */
function fleetViews(
  api: ControllerApi,
  { isVisible, seesAll }: Guard,
): Pick<ControllerApi, 'standings' | 'commits' | 'findCommit'> {
  const standings = (): readonly Standing[] =>
    seesAll() ? api.standings() : api.standings().filter(({ status }) => isVisible(status.scope));
  return {
    standings,
    commits: () => (seesAll() ? api.commits() : limitedCommits(api.commits(), standings())),
    findCommit: async (prefix) => {
      const found = await api.findCommit(prefix);
      if (seesAll() || found.found !== 'one') return found;
      const { id, committedMs } = found.commit;
      return { ...found, commit: { id, committedMs } };
    },
  };
}

function commands(
  api: ControllerApi,
  { covering, demand, demandForAll, has, seesAll, visible }: Guard,
): Pick<ControllerApi, 'sync' | 'pokeSource' | 'suspend' | 'resume' | 'approve' | 'rebind'> {
  return {
    sync: async (ids, by) => {
      if (ids !== 'all')
        return api.sync(
          ids.map((id) => demand('operate', id).id),
          by,
        );
      if (has('operate')) return api.sync('all', by);
      const mayOperate = covering('operate');
      const own = visible().filter(({ scope }) => mayOperate(scope));
      return api.sync(
        own.map(({ id }) => id),
        by,
      );
    },
    // It only makes the next read of the source earlier, as a webhook does.
    pokeSource: (because) => api.pokeSource(because),
    suspend: async (id, by, reason) => api.suspend(demand('operate', id).id, by, reason),
    resume: async (id, by) => api.resume(demand('operate', id).id, by),
    approve: async (id, digest, by) => {
      const { approval } = demand('approve', id);
      // The controller would explain the digest by plans of other applications.
      if (!seesAll() && approval?.digest !== digest) throw rejectedDigest(id, approval?.digest);
      return api.approve(id, digest, by);
    },
    rebind: async (platform, by, reason) => {
      demandForAll('admin');
      return api.rebind(platform, by, reason);
    },
  };
}

function rejectedDigest(id: ResourceId, digest: string | undefined): Error {
  if (digest === undefined)
    return invalidInput(
      'controller/nothing-to-approve',
      `The digest was rejected. No plan of ${id} waits for an approval. Nothing was approved.`,
      'Run portolan status: it shows the plans that wait for an approval, and each hold with its remedy.',
    );
  return invalidInput(
    'controller/other-plan',
    `The digest was rejected. The plan of ${id} that waits for an approval has the digest ${digest}. Nothing was approved.`,
    `Run portolan approve ${id.slice(id.indexOf('/') + 1)}: it shows this plan and asks.`,
  );
}

/** Manual decisions about the ledger, of an admin of the application. */
function manualCommands(
  api: ControllerApi,
  { demand, demandScope, limited, readOf }: Guard,
): Pick<
  ControllerApi,
  | 'doubts'
  | 'resolve'
  | 'retry'
  | 'forget'
  | 'adoptById'
  | 'planAdoption'
  | 'adopt'
  | 'planPrune'
  | 'prune'
  | 'forgetOrphan'
> {
  return {
    planAdoption: async (id, resource, signal) =>
      limited(await api.planAdoption(demand('viewer', id).id, resource, signal)),
    adopt: async (id, resource, request, signal) => api.adopt(demand('admin', id).id, resource, request, signal),
    planPrune: async (scope, signal) => limited(await api.planPrune(demandScope('viewer', scope), signal)),
    prune: async (scope, request, signal) => api.prune(demandScope('admin', scope), request, signal),
    forgetOrphan: async (scope, resource, author, signal) =>
      api.forgetOrphan(demandScope('admin', scope), resource, author, signal),
    doubts: async (id) => readOf(id, (of) => api.doubts(of)),
    resolve: async (id, intent, request, signal) => api.resolve(demand('admin', id).id, intent, request, signal),
    retry: async (id, resource, by, signal) => api.retry(demand('admin', id).id, resource, by, signal),
    forget: async (id, resource, author, signal) => api.forget(demand('admin', id).id, resource, author, signal),
    adoptById: async (id, resource, request, signal) =>
      api.adoptById(demand('admin', id).id, resource, request, signal),
  };
}

function plans(
  api: ControllerApi,
  { demand, isVisible, limited, seesAll, visible }: Guard,
): Pick<ControllerApi, 'plan' | 'planManifests'> {
  return {
    plan: async (ids, signal) => {
      if (ids !== 'all') for (const id of ids) demand('viewer', id);
      const planned = ids === 'all' && !seesAll() ? visible().map(({ id }) => id) : ids;
      return limited(await api.plan(planned, signal));
    },
    planManifests: async (files, options, signal) => {
      const planned = await api.planManifests(files, seesAll() ? options : { ...options, within: isVisible }, signal);
      return planned.type === 'invalid' ? planned : { ...planned, document: limited(planned.document) };
    },
  };
}

function records(
  api: ControllerApi,
  { covering, demand, isVisible, seesAll }: Guard,
): Pick<ControllerApi, 'history' | 'objects' | 'intents'> {
  const mayOperate = covering('operate');
  return {
    history: async (query) => {
      if (query.application !== undefined) demand('viewer', query.application);
      if (seesAll()) return api.history(query);
      const rows = await api.history({ ...query, within: isVisible });
      return rows.filter(({ scope }) => isVisible(scope));
    },
    objects: async (id) => {
      const objects = await api.objects(demand('operate', id).id);
      return objects.filter(({ scope }) => mayOperate(scope));
    },
    intents: async (id) => {
      if (id !== 'all') demand('operate', id);
      const intents = await api.intents(id);
      return intents.filter(({ scope }) => mayOperate(scope));
    },
  };
}

/** Events that are read from the controller at once, to find those that the caller may see. */
const BATCH = 500;

/** Returns the events that the caller may see. @param shown returns undefined for an event that the caller may not see. */
function scopedEvents(
  events: EventStream,
  shown: (event: ControllerEvent) => ControllerEvent | undefined,
): EventStream {
  return {
    /** Changes with visible events only. Without one, it changes when old events are dropped. */
    get newest() {
      const stored = events.since(0, Number.MAX_SAFE_INTEGER).events;
      const last = stored.findLast((event) => shown(event) !== undefined);
      return last?.sequence ?? (stored[0]?.sequence ?? events.newest + 1) - 1;
    },
    since(sequence, limit) {
      const found: ControllerEvent[] = [];
      let read = events.since(sequence, BATCH);
      const { isComplete } = read;
      for (; read.events.length > 0; read = events.since(read.through, BATCH)) {
        for (const event of read.events) {
          const seen = shown(event);
          if (seen !== undefined) found.push(seen);
          if (found.length >= limit) return { events: found, isComplete, through: event.sequence };
        }
      }
      return { events: found, isComplete, through: read.through };
    },
    subscribe: (listener, of) =>
      events.subscribe((event) => {
        const seen = shown(event);
        if (seen !== undefined) listener(seen);
      }, of),
    ...(events.origin === undefined ? {} : { origin: events.origin }),
    ...(events.refresh === undefined ? {} : { refresh: () => events.refresh?.() ?? Promise.resolve(true) }),
  };
}
