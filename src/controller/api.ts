import type { ResourceId } from '../model/ids.ts';
import type { HistoryRow, Intent, OwnedObject } from '../model/owned.ts';
import type { Problem } from '../model/problem.ts';
import type { EpochMs } from '../model/time.ts';
import type { ApplicationDetails, ApplicationStatus, ControllerEvent, ControllerStatus } from '../model/status.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { PlanDocument } from '../plan/document.ts';
import type { RequestFacts } from '../platform/gate.ts';

export type { RequestFacts };

/** What surfaces may see of the controller and ask of it. The HTTP server, notifications and metrics know nothing else. */
export interface ControllerApi {
  /** When this process began; the same as in its status, which costs more. */
  readonly startedMs: EpochMs;
  status(): ControllerStatus;
  /** By id. */
  applications(): readonly ApplicationStatus[];
  application(id: ResourceId): ApplicationDetails | undefined;

  readonly events: EventStream;

  /** Looks now, whatever the timers say. @throws PortolanError `controller/unknown-application`. */
  sync(id: ResourceId | 'all', by: string): void;
  /** The source may have changed; only a hint. */
  pokeSource(because: string): void;
  /** Nothing is written for it until it is resumed, over restarts too. @throws PortolanError, as above. */
  suspend(id: ResourceId, by: string, reason: string): Promise<void>;
  resume(id: ResourceId, by: string): Promise<void>;
  /**
   * Lets through the one plan that a guard refused, by its digest; any other plan still needs its own word.
   * @throws PortolanError `controller/nothing-to-approve`, `controller/other-plan` (with the digest of now).
   */
  approve(id: ResourceId, digest: string, by: string): Promise<void>;

  /**
   * Binds the ledger to the present URL of a platform. @returns the former binding's URL; null: there was none.
   * @throws PortolanError `configuration/missing`.
   */
  rebind(
    platform: string,
    by: string,
    reason: string,
  ): Promise<{ readonly url: string; readonly before: string | null }>;

  /** A fresh plan of one application, or of all. Reads only. */
  plan(id: ResourceId | 'all', signal: AbortSignal): Promise<PlanDocument>;
  /** What these manifests would do in place of the source's. Reads only; nothing of them is kept. */
  planManifests(files: readonly SourceFile[], options: PlanRequest, signal: AbortSignal): Promise<PlannedManifests>;

  /** Read-only views of the ledger, newest history first. */
  history(filter: HistoryQuery): Promise<readonly HistoryRow[]>;
  objects(id: ResourceId): Promise<readonly OwnedObject[]>;
  intents(id: ResourceId | 'all'): Promise<readonly Intent[]>;
}

export interface HistoryQuery {
  readonly application?: ResourceId;
  readonly limit: number;
  /** Only rows with a lower serial: the cursor. */
  readonly beforeSerial?: number;
}

export interface PlanRequest {
  /** Variables for `${NAME}`. */
  readonly variables: ReadonlyMap<string, string>;
  readonly prune: boolean;
  readonly adopt: readonly ResourceId[] | 'all';
  readonly targets: readonly ResourceId[] | undefined;
}

/** Either problems, and then no plan. */
export type PlannedManifests =
  | { readonly type: 'planned'; readonly document: PlanDocument }
  | { readonly type: 'invalid'; readonly problems: readonly Problem[] };

export interface EventStream {
  /** Sequence of the newest event; 0 before the first. */
  readonly newest: number;
  /** Events after `sequence` that are still at hand, oldest first; `isComplete` is false where some were forgotten. */
  since(sequence: number, limit: number): { readonly events: readonly ControllerEvent[]; readonly isComplete: boolean };
  /** Called with every event from now on; must not throw or wait. @returns how to stop it. */
  subscribe(listener: (event: ControllerEvent) => void): () => void;
}

/** Counts and times as they happen, for metrics and traces. Called synchronously; must not throw or wait. */
export interface ControllerObserver {
  /** A scope was added to the queue, and how long it had waited when its work began. */
  queued(key: ResourceId, because: string): void;
  began(key: ResourceId, waitedMs: number): void;
  ended(key: ResourceId, result: 'success' | 'requeue' | 'error', tookMs: number): void;
  retried(key: ResourceId): void;
  request(facts: RequestFacts): void;
  /** Once per application and revision: how long from one milestone to the next. */
  milestone(facts: MilestoneFacts): void;
}

export interface MilestoneFacts {
  readonly application: ResourceId;
  readonly revision: string;
  readonly milestone: 'observed' | 'planned' | 'first-write' | 'applied' | 'healthy';
  /** Since the commit's own time; null where that is not known. */
  readonly sinceCommitMs: number | null;
  /** Since the source was seen to have it. */
  readonly sinceObservedMs: number;
}

/** Several as one: metrics and traces see the same. */
export function joinObservers(observers: readonly ControllerObserver[]): ControllerObserver {
  const each =
    <Name extends keyof ControllerObserver>(name: Name) =>
    (...args: Parameters<ControllerObserver[Name]>): void => {
      for (const observer of observers) (observer[name] as (...facts: typeof args) => void)(...args);
    };
  return {
    queued: each('queued'),
    began: each('began'),
    ended: each('ended'),
    retried: each('retried'),
    request: each('request'),
    milestone: each('milestone'),
  };
}
