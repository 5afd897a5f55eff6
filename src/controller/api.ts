import { invalidInput, PortolanError } from '../model/errors.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { HistoryRow, Intent, OwnedObject } from '../model/owned.ts';
import type { LedgerState, RegionDetails } from '../model/platform-status.ts';
import type { ResourceDetails } from '../model/resource-details.ts';
import type { Problem } from '../model/problem.ts';
import type { ReplicaGroup } from '../model/replicas.ts';
import type { TimeWindow } from '../model/series.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type {
  ApplicationDetails,
  ApplicationStatus,
  ControllerEvent,
  ControllerStatus,
  OrphanStatus,
} from '../model/status.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { LeaseUnit } from '../ledger/shared.ts';
import type { BudgetState } from '../platform/budget.ts';
import type { RequestFacts } from '../platform/gate.ts';
import type { Adopted, Doubt, Forgotten, Pruned, Resolved, Retried } from '../model/manual.ts';
import type { Decision } from '../reconcile/resolution/manual-resolution.ts';
import type { Monitoring } from '../platform/monitoring.ts';
import type { FoundCommit } from '../source/feed.ts';
import type { CommitRecord } from './commits.ts';
import type { AppRecord } from './ledger-records.ts';

export type { RequestFacts };

/** Returns whether an application is one of those that are asked for. @param scope null: it is not resolved yet. */
export type Within = (scope: ScopeKey | null) => boolean;

/**
 * Interface of the controller for the HTTP server, notifications and metrics. They use nothing else of it. Routes get it
 * limited to what their caller may see and do (`server/scoped-api.ts`).
 */
export interface ControllerApi {
  /** Start of this process. `status()` has it too, but costs more. */
  readonly startedMs: EpochMs;
  /** @param within the applications that counts and regions cover; default: all. */
  status(within?: Within): ControllerStatus;
  /** Returns all applications, ordered by id. */
  applications(): readonly ApplicationStatus[];
  /** Returns the status of an application, as this process knows it. */
  application(id: ResourceId): ApplicationStatus | undefined;
  /** Returns an application with what its last pass observed. */
  details(id: ResourceId): Promise<ApplicationDetails | undefined>;
  /**
   * Returns one resource with its three values of each field; undefined: neither a manifest nor the ledger has it.
   * @throws PortolanError `controller/unknown-application`.
   */
  resource(id: ResourceId, resource: ResourceId): Promise<ResourceDetails | undefined>;
  /**
   * Returns all applications as `applications` does, for lists: cheap for many of them. Its values are replaced, never
   * changed, so a caller may keep what it derived from one.
   */
  standings(): readonly Standing[];
  /** Returns the commits that were read, the newest first. */
  commits(): readonly CommitRecord[];
  /** Looks for a commit in the repository, also for one that was not read by itself. @throws PortolanError. */
  findCommit(prefix: string): Promise<FoundCommit>;
  /** Resources on record in applications that the accepted source does not name any more. */
  orphans(): readonly OrphanStatus[];

  readonly events: EventStream;

  /** Returns whether this process leads a platform or a source now. One that shares its ledger with no other leads all. */
  leads(unit: LeaseUnit): boolean;

  /**
   * Requeues applications for a pass now.
   * @returns their ids.
   * @throws PortolanError `controller/unknown-application`.
   */
  sync(ids: readonly ResourceId[] | 'all', by: string): Promise<readonly ResourceId[]>;
  /** Hints that the source may have changed. */
  pokeSource(because: string): Promise<void>;
  /**
   * Suspends writes for an application until it is resumed, also after a restart.
   * @throws PortolanError as `sync`.
   */
  suspend(id: ResourceId, by: string, reason: string): Promise<void>;
  resume(id: ResourceId, by: string): Promise<void>;
  /**
   * Approves one plan that a guard refused, by its digest. Another plan needs another approval.
   * @throws PortolanError `controller/nothing-to-approve`, `controller/other-plan` (with the present digest).
   */
  approve(id: ResourceId, digest: string, by: string): Promise<void>;

  /**
   * Binds the ledger to the present URL of a platform.
   * @returns the URL now, and the URL of the former binding; null: there was none.
   * @throws PortolanError `configuration/missing`.
   */
  rebind(
    platform: string,
    by: string,
    reason: string,
  ): Promise<{ readonly url: string; readonly before: string | null }>;

  /** Requests of an application whose outcome is not known, oldest first, each with its evidence. */
  doubts(id: ResourceId): Promise<readonly Doubt[]>;
  /**
   * Resolves a request in doubt on a person's word, between two passes of its application. Nothing is sent.
   * @throws PortolanError `ledger/no-intent`, `ledger/intent-decided`, `controller/busy`, `ask-human` while the request may
   * still arrive, and those of the platform and the ledger. Nothing was recorded then.
   */
  resolve(id: ResourceId, intent: string, request: ResolveRequest, signal: AbortSignal): Promise<Resolved>;
  /** Clears the failures of a resource, so that held changes are tried again. @throws PortolanError as `resolve`, `ledger/no-object`. */
  retry(id: ResourceId, resource: ResourceId, by: string, signal: AbortSignal): Promise<Retried>;
  /** Removes a resource from the ledger; it stays on the platform. @throws PortolanError as `retry`, `ledger/intent-pending`. */
  forget(id: ResourceId, resource: ResourceId, author: Author, signal: AbortSignal): Promise<Forgotten>;
  /** Says which object of the platform a recorded resource is. @throws PortolanError as `retry`, `ledger/cannot-adopt`. */
  adoptById(
    id: ResourceId,
    resource: ResourceId,
    request: Author & { readonly objectId: string | undefined },
    signal: AbortSignal,
  ): Promise<Adopted>;

  /**
   * Returns what the adoption of a held resource does: the part of a plan that takes it over. Reads only.
   * @throws PortolanError `controller/nothing-to-adopt`.
   */
  planAdoption(id: ResourceId, resource: ResourceId, signal: AbortSignal): Promise<PlanDocument>;
  /**
   * Lets the next pass adopt a resource, if its plan is still the one with this digest.
   * @throws PortolanError `controller/nothing-to-adopt`, `controller/other-plan`.
   */
  adopt(
    id: ResourceId,
    resource: ResourceId,
    request: Author & { readonly digest: string },
    signal: AbortSignal,
  ): Promise<void>;

  /** Returns the plan that removes the orphaned resources of a scope. Reads only. @throws PortolanError `controller/not-orphaned`. */
  planPrune(scope: ScopeKey, signal: AbortSignal): Promise<PlanDocument>;
  /**
   * Carries out exactly this plan.
   * @throws PortolanError as `planPrune`, `controller/other-plan`, and the code of a guard. Nothing was sent then.
   */
  prune(scope: ScopeKey, request: Author & { readonly digest: string }, signal: AbortSignal): Promise<Pruned>;
  /** Removes orphaned resources from the ledger. @param resource undefined: all of the scope. */
  forgetOrphan(
    scope: ScopeKey,
    resource: ResourceId | undefined,
    author: Author,
    signal: AbortSignal,
  ): Promise<Forgotten>;

  /** Returns a fresh plan of some applications, or of all. Reads only. */
  plan(ids: readonly ResourceId[] | 'all', signal: AbortSignal): Promise<PlanDocument>;
  /** Returns the plan of these manifests instead of those of the source. Reads only, and stores nothing. */
  planManifests(files: readonly SourceFile[], options: PlanRequest, signal: AbortSignal): Promise<PlannedManifests>;

  /**
   * Reads the monitoring history of an application from its platform. Callers share answers and a small part of the request
   * budget.
   * @throws PortolanError `monitoring/region-paused`, `monitoring/too-many-requests`, `monitoring/unresolved`, and as `sync`.
   */
  monitoring(id: ResourceId, window: TimeWindow): Promise<MonitoringReading>;
  /** Returns the state of everything that the controller depends on. Requests nothing from a platform. */
  dependencies(): Promise<Dependencies>;
  /** Returns all processes of the controller, and the leader of each platform and source. */
  replicas(): Promise<ReplicaGroup>;

  /** Read-only views of the ledger; the history has its newest row first. */
  history(filter: HistoryQuery): Promise<readonly HistoryRow[]>;
  objects(id: ResourceId): Promise<readonly OwnedObject[]>;
  intents(id: ResourceId | 'all'): Promise<readonly Intent[]>;
}

/** The person who decides, and the reason. */
export interface Author {
  readonly by: string;
  readonly reason: string;
}

/** The outcome of a request in doubt, as a person states it. */
export interface ResolveRequest extends Author {
  readonly decision: Decision;
  /** Although the request may still arrive. */
  readonly force: boolean;
}

/** The monitoring history of an application, as the platform sent it. */
export interface MonitoringReading extends Monitoring {
  readonly scope: ScopeKey;
  readonly readMs: EpochMs;
}

export interface Dependencies {
  readonly platforms: readonly { readonly name: string; readonly url: string; readonly load: BudgetState }[];
  readonly regions: readonly RegionDetails[];
  readonly ledger: LedgerState;
}

/** One application as lists show it. */
export type Standing = Readonly<Pick<AppRecord, 'id' | 'status' | 'kept'>>;

export interface HistoryQuery {
  readonly application?: ResourceId;
  /** Only rows of this resource of the application. */
  readonly resource?: ResourceId;
  /** Only rows of these applications; default: all rows. */
  readonly within?: Within;
  readonly limit: number;
  /** Cursor: only rows with a lower serial are returned. */
  readonly beforeSerial?: number;
}

export interface PlanRequest {
  /** Values for `${NAME}` in manifests. */
  readonly variables: ReadonlyMap<string, string>;
  readonly prune: boolean;
  readonly adopt: readonly ResourceId[] | 'all';
  readonly targets: readonly ResourceId[] | undefined;
  /**
   * Only these applications are read. For one that the accepted source does not have, only its manifest counts, and an
   * application by name has a blank as its number. Default: all that the settings allow.
   */
  readonly within?: Within;
}

/** A plan, or the problems of manifests that cannot be planned. */
export type PlannedManifests =
  | { readonly type: 'planned'; readonly document: PlanDocument }
  | { readonly type: 'invalid'; readonly problems: readonly Problem[] };

export interface EventStream {
  /**
   * Names the order of the events: a sequence counts only in the order that it is from. Absent: each process has its own. Replicas
   * share one, so that a reader can resume at another replica.
   */
  readonly origin?: string;
  /** Sequence of the newest event; 0 before the first. */
  readonly newest: number;
  /**
   * Returns stored events after `sequence`, oldest first. `isComplete` is false if some of them are no longer stored. A reader
   * continues after `through`: events up to there are returned, or not for the reader.
   */
  since(
    sequence: number,
    limit: number,
  ): { readonly events: readonly ControllerEvent[]; readonly isComplete: boolean; readonly through: number };
  /**
   * Calls `listener` with every later event. It must not throw or wait.
   * @param of `own`: only events that this process published, before they have a sequence, so that of several replicas only one
   * reports an event. Default: all.
   * @returns a function that ends the subscription.
   */
  subscribe(listener: (event: ControllerEvent) => void, of?: 'all' | 'own'): () => void;
  /**
   * Reads the events of other replicas, if there are any. Does not fail, and takes two seconds at most.
   * @returns whether all that are stored are known now.
   */
  refresh?(): Promise<boolean>;
}

/** Returns the error for an application that the accepted source does not have, or that the caller may not see. */
export function unknownApplication(id: ResourceId): PortolanError {
  return invalidInput(
    'controller/unknown-application',
    `The accepted source has no ${id}. Nothing was done.`,
    'Use the name of one of its applications, such as Application/shop. The list of applications shows them all.',
  );
}

/** Returns the error for a scope or a resource that is not orphaned, or that the caller may not see. */
export function notOrphaned(name: string): PortolanError {
  return new PortolanError({
    code: 'controller/not-orphaned',
    disposition: 'ask-human',
    message: `${name} is not orphaned: an Application refers to it or may refer to it, or the ledger has nothing of it. Nothing was done.`,
    remedy: 'GET /api/v1/orphans lists what is orphaned.',
  });
}

/** Receives counts and durations for metrics and traces. Called synchronously; must not throw or wait. */
export interface ControllerObserver {
  /** Called when a key becomes due; `began` says how long it then waited for a slot. */
  queued(key: ResourceId, because: string): void;
  began(key: ResourceId, waitedMs: number): void;
  ended(key: ResourceId, result: 'success' | 'requeue' | 'error', tookMs: number): void;
  retried(key: ResourceId): void;
  request(facts: RequestFacts): void;
  /** Called once for each application, revision and milestone. */
  milestone(facts: MilestoneFacts): void;
  /**
   * Called with all platforms and sources that several controllers divide: at the start, before `led`, and when they change.
   * Never called for a ledger of one process.
   */
  units(units: readonly LeaseUnit[]): void;
  /** Called when this process begins to lead a unit, before it works on it. */
  led(lease: LeaseFacts): void;
  /** Called when this process does not lead the unit any more. */
  yielded(unit: LeaseUnit, because: LeaseEnd): void;
  /** Called for each transaction that the ledger refused. */
  fenced(unit: LeaseUnit, because: RefusedBecause): void;
  /** Called when this process has noticed, and recorded, that the database lacks records that it had read. */
  recordsLost(): void;
  /** Called after each attempt to send the heartbeat and to read the leaders. */
  databaseAsked(isAnswered: boolean): void;
  /** Called when this process has read all that the other controllers had shared. */
  caughtUp(): void;
}

/** The start of a lease. */
export interface LeaseFacts {
  readonly unit: LeaseUnit;
  /** `free`: the unit had no leader before. `released`: its leader handed it over or ended. `expired`: its leader gave no sign. */
  readonly from: 'free' | 'released' | 'expired';
  /** Returns when another process may lead the unit, as `Lead.validUntilMs`. */
  validUntilMs(): MonotonicMs;
}

/** `taken-over`: another process leads the unit. `records-lost`: the database has lost transactions of this process. */
export type RefusedBecause = 'taken-over' | 'records-lost';

/** `handed-over`: to another live controller. `stopped`: this process ends. `lost`: it could not renew the lease in time. */
export type LeaseEnd = 'handed-over' | 'stopped' | 'lost';

export interface MilestoneFacts {
  readonly application: ResourceId;
  readonly revision: string;
  readonly milestone: 'observed' | 'planned' | 'first-write' | 'applied' | 'healthy';
  /** Time since the commit was made; null if unknown. */
  readonly sinceCommitMs: number | null;
  /** Time since the source was first observed at the revision. */
  readonly sinceObservedMs: number;
}

/** Returns one observer that calls all of these, so that metrics and traces get the same facts. */
export function joinObservers(observers: readonly Partial<ControllerObserver>[]): ControllerObserver {
  const each =
    <Name extends keyof ControllerObserver>(name: Name) =>
    (...args: Parameters<ControllerObserver[Name]>): void => {
      for (const observer of observers) (observer[name] as ((...facts: typeof args) => void) | undefined)?.(...args);
    };
  return {
    queued: each('queued'),
    began: each('began'),
    ended: each('ended'),
    retried: each('retried'),
    request: each('request'),
    milestone: each('milestone'),
    units: each('units'),
    led: each('led'),
    yielded: each('yielded'),
    fenced: each('fenced'),
    recordsLost: each('recordsLost'),
    databaseAsked: each('databaseAsked'),
    caughtUp: each('caughtUp'),
  };
}
