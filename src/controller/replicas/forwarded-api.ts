import { subjectOf } from '../../ledger/commands.ts';
import type { Command, LeaseUnit } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { ControllerStatus } from '../../model/status.ts';
import type { FoundCommit } from '../../source/feed.ts';
import type { Descent } from '../../source/revision.ts';
import type { ControllerApi, Dependencies } from '../api.ts';
import { type Core, known } from '../core.ts';
import { draftProblem } from '../events.ts';
import { createAsking } from './asking.ts';
import { partOfSync } from './command-errors.ts';
import { Commands } from './commands.ts';
import { type ForwardedPlans, forwardedPlans } from './forwarded-plans.ts';
import {
  carryOut,
  heldTo,
  isAwaited,
  isLong,
  type LeaderMethods,
  METHODS,
  type MethodName,
  onlyStops,
  scopeSeen,
  thingOf,
  unitOf,
  unlessMoved,
} from './forwarded-methods.ts';
import type { Replicas } from './group.ts';
import { byPlatform, type ForwardedParts, isConfigured, type Send, unitsOf } from './forwarded-parts.ts';
import { isCertain, platformUnit, sourceUnit } from './leadership.ts';
import type { DatabaseContact } from './shared-events.ts';

export interface Forwarded {
  readonly api: ControllerApi;
  /** Begins to carry out what other replicas order. */
  start(): void;
  close(): Promise<void>;
}

/**
 * Returns the controller of all replicas: what another one leads is asked of its leader, or ordered from it. Callers are checked
 * before this; the leaders trust the database.
 */
export function forwardedApi(parts: ForwardedParts): Forwarded {
  const { core, local, replicas, contact } = parts;
  const { options, leadership } = core;
  const { source, clock, log } = options;
  /** The signal of a caller who waits until the end. */
  const never = new AbortController().signal;
  const plans = forwardedPlans(parts, (...question) => ask(...question));
  const leader = leaderMethods(parts, plans);
  const commands = new Commands({
    shared: replicas.shared,
    leadership,
    units: () => unitsOf(core),
    sourceUnit: sourceUnit(source),
    clock,
    log,
    carryOut: (command, signal) => carryOut({ local, leader, records: core.records, source, clock }, command, signal),
    orderOf: thingOf,
    isAwaited,
    count: (unit, work) => void core.unitWork.run(unit, () => work),
    isLong,
    onlyStops,
    refused: (command, error, ageMs) => reportRefused(core, command, error, ageMs),
  });
  const asking = createAsking({ commands, replicas, contact });
  /** Asks the leader of a unit, which is another replica. */
  const ask: Send = (method, args, by, signal = never) => {
    const { isRead, patienceMs } = METHODS[method];
    const unit = unitOf(local, METHODS[method], args[0], source);
    const seen = { scope: scopeSeen(local, method, args[0]), ...heldTo(core.records, method, args[0]) };
    return asking.ask({ unit, method, args, ...seen, by, isRead, patienceMs, signal });
  };
  /** Asks the leader of a unit, or carries it out if this replica leads it. */
  const send = async <Answer>(
    method: MethodName,
    args: readonly unknown[],
    by: string,
    own: () => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer> => {
    const { of, isRead } = METHODS[method];
    const unit = unitOf(local, { of }, args[0], source);
    const lead = leadership.of(unit);
    // Without the database, a leader still shows the last state that it read. It decides only while no other one can lead.
    const isOwn = lead !== undefined && (isRead || isCertain(lead, clock));
    // No replica leads a platform that the configuration does not have.
    if (!isOwn && isConfigured(core, unit)) return (await ask(method, args, by, signal)) as Answer;
    if (isRead) return own();
    const thing = of === 'platform' ? unit : (args[0] as string);
    return commands.afterRecorded(unit, thing, unlessMoved(core.records, method, args[0], own));
  };
  const api: ControllerApi = {
    ...local,
    ...forwardedReads(parts, send),
    ...forwardedCommands(local, send),
    ...forwardedSyncs(parts, asking.order),
    ...plans.api,
    replicas: () => replicas.state(unitsOf(core)),
  };
  return { api, start: () => commands.start(), close: () => commands.close() };
}

type SendOwn = <Answer>(
  method: MethodName,
  args: readonly unknown[],
  by: string,
  own: () => Promise<Answer>,
  signal?: AbortSignal,
) => Promise<Answer>;

type Reads = Pick<
  ControllerApi,
  | 'status'
  | 'details'
  | 'resource'
  | 'doubts'
  | 'monitoring'
  | 'dependencies'
  | 'findCommit'
  | 'planAdoption'
  | 'planPrune'
>;

/** Returns the contact with the database, with the age of the oldest part of what this process shows of the others. */
function databaseOf({ sharedState }: Core, contact: DatabaseContact): DatabaseContact {
  const age = sharedState?.age();
  return age === undefined || age.ageMs <= contact.ageMs ? contact : { ...contact, ...age };
}

function forwardedReads({ core, local, replicas, contact }: ForwardedParts, send: SendOwn): Reads {
  const { source } = core.options;
  return {
    status: (within) =>
      withReports(
        core,
        { ...local.status(within), database: databaseOf(core, contact()) },
        replicas,
        within === undefined,
      ),
    async details(id) {
      if (local.application(id) === undefined) return undefined;
      try {
        return await send('details', [id], '', () => local.details(id));
      } catch (error) {
        // Only the last observation is missing then.
        if (error instanceof PortolanError) return local.details(id);
        throw error;
      }
    },
    async resource(id, resource) {
      known(core, id);
      return send('resource', [id, resource], '', () => local.resource(id, resource));
    },
    async doubts(id) {
      known(core, id);
      return send('doubts', [id], '', () => local.doubts(id));
    },
    monitoring: async (id, window) => send('monitoring', [id, window], '', () => local.monitoring(id, window)),
    planAdoption: (id, resource, signal) =>
      send('planAdoption', [id, resource], '', () => local.planAdoption(id, resource, signal), signal),
    planPrune: (scope, signal) => send('planPrune', [scope], '', () => local.planPrune(scope, signal), signal),
    async dependencies() {
      const own = await local.dependencies();
      const reports = replicas.others();
      const isOwn = (platform: string): boolean => core.leadership.of(platformUnit(platform)) !== undefined;
      const reported = reports.flatMap(({ platforms }) => platforms);
      const regions = reports.flatMap((report) => report.regions);
      return {
        ...own,
        platforms: own.platforms.map((one) =>
          isOwn(one.name) ? one : { ...(reported.find(({ name }) => name === one.name) ?? one), url: one.url },
        ),
        regions: own.regions.map((one) => (isOwn(one.platform) ? one : (regions.find(isSameRegion(one)) ?? one))),
      } satisfies Dependencies;
    },
    async findCommit(prefix) {
      const found = await send<FoundCommit>('findCommit', [source, prefix], '', () => local.findCommit(prefix));
      // The answer of another replica is JSON, without functions.
      if (found.found !== 'one' || typeof found.descent === 'function') return found;
      const { commit } = found as Extract<FoundCommit, { found: 'one' }>;
      const descent = (to: string) =>
        send('descent', [source, commit.id, to], '', () => descentOf(local, commit.id, to));
      return { found: 'one', commit, descent };
    },
  };
}

async function descentOf(local: ControllerApi, id: string, descendant: string): Promise<Descent> {
  const found = await local.findCommit(id);
  return found.found === 'one' ? found.descent(descendant) : 'unknown';
}

const isSameRegion =
  ({ platform, region }: { readonly platform: string; readonly region: string }) =>
  (other: { readonly platform: string; readonly region: string }): boolean =>
    other.platform === platform && other.region === region;

/** Returns the status with what other replicas report about the platforms that they lead. */
function withReports(core: Core, status: ControllerStatus, replicas: Replicas, isWhole: boolean): ControllerStatus {
  const reports = replicas.others();
  const regions = reports.flatMap((report) => report.regions);
  const sum = (of: 'queued' | 'running'): number =>
    status.counts[of] + (isWhole ? reports.reduce((total, report) => total + report[of], 0) : 0);
  return {
    ...status,
    regions: status.regions.map((one) => {
      if (core.leadership.of(platformUnit(one.platform)) !== undefined) return one;
      const reported = regions.find(isSameRegion(one));
      return reported === undefined ? one : { ...one, state: reported.state, message: reported.message };
    }),
    counts: { ...status.counts, queued: sum('queued'), running: sum('running') },
  };
}

type AppCommands = Pick<
  ControllerApi,
  | 'suspend'
  | 'resume'
  | 'approve'
  | 'rebind'
  | 'resolve'
  | 'retry'
  | 'forget'
  | 'adoptById'
  | 'adopt'
  | 'prune'
  | 'forgetOrphan'
>;

function forwardedCommands(local: ControllerApi, send: SendOwn): AppCommands {
  return {
    suspend: (id, by, reason) => send('suspend', [id, by, reason], by, () => local.suspend(id, by, reason)),
    resume: (id, by) => send('resume', [id, by], by, () => local.resume(id, by)),
    approve: (id, digest, by) => send('approve', [id, digest, by], by, () => local.approve(id, digest, by)),
    rebind: (platform, by, reason) =>
      send('rebind', [platform, by, reason], by, () => local.rebind(platform, by, reason)),
    resolve: (id, intent, request, signal) =>
      send('resolve', [id, intent, request], request.by, () => local.resolve(id, intent, request, signal), signal),
    retry: (id, resource, by, signal) =>
      send('retry', [id, resource, by], by, () => local.retry(id, resource, by, signal), signal),
    forget: (id, resource, author, signal) =>
      send('forget', [id, resource, author], author.by, () => local.forget(id, resource, author, signal), signal),
    adoptById: (id, resource, request, signal) =>
      send(
        'adoptById',
        [id, resource, request],
        request.by,
        () => local.adoptById(id, resource, request, signal),
        signal,
      ),
    adopt: (id, resource, request, signal) =>
      send('adopt', [id, resource, request], request.by, () => local.adopt(id, resource, request, signal), signal),
    prune: (scope, request, signal) =>
      send('prune', [scope, request], request.by, () => local.prune(scope, request, signal), signal),
    forgetOrphan: (scope, resource, author, signal) =>
      send(
        'forgetOrphan',
        [scope, resource ?? null, author],
        author.by,
        () => local.forgetOrphan(scope, resource, author, signal),
        signal,
      ),
  };
}

type Order = ReturnType<typeof createAsking>['order'];

/**
 * Returns the requests that are confirmed once they are recorded: every leader gets its part. So does this replica, which may be
 * killed, or cut off from the database, before it has carried them out.
 */
function forwardedSyncs({ core, local }: ForwardedParts, order: Order): Pick<ControllerApi, 'sync' | 'pokeSource'> {
  const { source } = core.options;
  const ofSource = sourceUnit(source);
  return {
    async sync(ids, by) {
      const asked = ids === 'all' ? local.applications().map(({ id }) => id) : ids;
      const parts = [...byPlatform(core, asked)];
      const led = parts.filter(([platform]) => isConfigured(core, platformUnit(platform)));
      const orders = [
        ...led.map(([platform, some]) => {
          return {
            unit: platformUnit(platform),
            method: 'sync',
            args: [platform, ids === 'all' ? 'all' : some, by],
            by,
          };
        }),
        { unit: ofSource, method: 'retrySource', args: [source], by },
      ];
      throwUnlessAll(
        orders.map(({ unit }) => unit),
        await Promise.allSettled(orders.map((one) => order(one))),
      );
      // No replica leads the platforms of the others, so each reports by itself that it does not have them.
      const others = parts.filter((part) => !led.includes(part)).flatMap(([, some]) => some);
      if (others.length > 0) await local.sync(others, by);
      return [...asked].sort();
    },
    async pokeSource(because) {
      await order({ unit: ofSource, method: 'pokeSource', args: [source, because], by: '' });
    },
  };
}

/** @param units of the orders. @throws PortolanError `controller/sync-incomplete` when only some orders of a sync were recorded. */
function throwUnlessAll(units: readonly LeaseUnit[], answers: readonly PromiseSettledResult<string>[]): void {
  const failed = answers.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failed.length === 0) return;
  const recorded = units.filter((_, at) => answers[at]?.status === 'fulfilled');
  // A bug comes first, and then an error that leaves open whether its order was recorded.
  const error =
    failed.find((one) => !(one instanceof PortolanError)) ??
    failed.find((one) => one instanceof PortolanError && one.code === 'ledger/unanswered') ??
    failed[0];
  throw recorded.length > 0 && error instanceof PortolanError ? partOfSync(recorded, error) : error;
}

/** Returns the methods that other replicas call here. */
function leaderMethods({ core, local }: ForwardedParts, plans: ForwardedPlans): LeaderMethods {
  return {
    ...plans.leader,
    retrySource: () => core.retrySource(),
    async sync(platform, ids, by) {
      const all = local.applications().filter((one) => one.platform === platform);
      // An application that was removed meanwhile needs no sync.
      const meant = ids === 'all' ? all : all.filter(({ id }) => ids.includes(id));
      await local.sync(
        meant.map(({ id }) => id),
        by,
      );
    },
    descent: (_source, id, descendant) => descentOf(local, id, descendant),
    async findCommit(_source, prefix) {
      const found = await local.findCommit(prefix);
      return found.found === 'one' ? { found: found.found, commit: found.commit } : found;
    },
    pokeSource: (_source, because) => local.pokeSource(because),
  };
}

/** Reports a command that was refused after its user had stopped waiting. */
function reportRefused(core: Core, command: Command, error: PortolanError, ageMs: number): void {
  const { method, by, id } = command;
  const { isRead, patienceMs } = METHODS[method as MethodName] ?? METHODS.suspend;
  if (isRead || ageMs < patienceMs) return;
  const subject = subjectOf(command);
  const record = core.records.get(subject as ResourceId);
  const { code, message, remedy } = error;
  core.events.publish(
    draftProblem(
      'command.refused',
      'warning',
      `${method} of ${subject} by ${by} was refused: ${message}`,
      { code, remedy },
      {
        application: record?.id ?? null,
        scope: record?.status.scope ?? null,
        labels: record?.status.labels ?? {},
        detail: { command: id, by },
      },
    ),
  );
}
