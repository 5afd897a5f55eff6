import type { ResourceId, ScopeKey } from './ids.ts';
import type { Json } from './json.ts';
import type { DeferredAction, FieldChange, Hold, Wait } from './plan.ts';
import type { EpochMs } from './time.ts';

/**
 * `Ready`: as git says. `Reconciling`: work is under way or due. `Stalled`: it will not go on without a person.
 * `Healthy`: what runs on the platform does, by its own status and by the thresholds of its manifest.
 */
export type ConditionType = 'Ready' | 'Reconciling' | 'Stalled' | 'Healthy';

export interface Condition {
  readonly type: ConditionType;
  /** `Unknown`: nobody has looked, or there is nothing to look at. Never taken for `True`. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word in CamelCase, stable: `InSync`, `Drifted`, `Held`, `Unreachable`. */
  readonly reason: string;
  /** For people; without secrets. */
  readonly message: string;
  readonly observedRevision: string | null;
  /** When `status` last changed. */
  readonly sinceMs: EpochMs;
}

/** What is done about a difference: `heal` (default) puts it right, `report` tells, `suspend` does not even look. */
export type HealMode = 'heal' | 'report' | 'suspend';

/** The platform moved away from what was applied. */
export interface Drift {
  /** When it was first seen. */
  readonly sinceMs: EpochMs;
  readonly changes: readonly FieldChange[];
}

export interface StatusError {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly atMs: EpochMs;
}

/** How one resource of the source stands. */
export interface ResourceStatus {
  readonly id: ResourceId;
  readonly application: ResourceId;
  readonly mode: HealMode;
  readonly conditions: readonly Condition[];
  readonly drift: Drift | null;
  readonly holds: readonly Hold[];
}

/** Why an application is not worked on now, although there may be something to do. */
export type Pause =
  | { readonly type: 'suspended'; readonly by: string; readonly reason: string; readonly sinceMs: EpochMs }
  | { readonly type: 'window'; readonly window: string; readonly untilMs: EpochMs | null }
  | { readonly type: 'region'; readonly region: string; readonly state: string; readonly sinceMs: EpochMs }
  /** Too many failures in a row in this region: nothing is asked of it for a while. */
  | { readonly type: 'circuit'; readonly region: string; readonly untilMs: EpochMs };

/** A plan that a guard refused, and that a person may approve by its digest. */
export interface ApprovalNeeded {
  readonly digest: string;
  readonly refusals: readonly { readonly code: string; readonly message: string; readonly override: string }[];
  readonly sinceMs: EpochMs;
}

/** What the last plan of an application still had to do when its pass ended. */
export interface PendingWork {
  readonly digest: string;
  readonly actions: readonly { readonly id: string; readonly resource: ResourceId; readonly summary: string }[];
  readonly deferred: readonly DeferredAction[];
  readonly waits: readonly Wait[];
}

/** How one application stands. */
export interface ApplicationStatus {
  readonly id: ResourceId;
  /** null until it was resolved once. */
  readonly scope: ScopeKey | null;
  readonly platform: string;
  readonly region: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly conditions: readonly Condition[];
  readonly pause: Pause | null;
  readonly approval: ApprovalNeeded | null;
  readonly pending: PendingWork | null;
  readonly lastAttemptedRevision: string | null;
  /** The revision that it was last found, or made, equal to. */
  readonly lastAppliedRevision: string | null;
  readonly lastAttemptMs: EpochMs | null;
  /** When it was last seen to be as git says. */
  readonly lastSuccessMs: EpochMs | null;
  readonly nextAttemptMs: EpochMs | null;
  /** Attempts in a row that failed. */
  readonly failures: number;
  readonly lastError: StatusError | null;
  readonly resources: readonly ResourceStatus[];
}

/** How the source stands. */
export interface SourceStatus {
  readonly name: string;
  /** What is watched, for people: a folder, or an address without credentials and a ref. */
  readonly location: string;
  /** `main@sha1:<id>`; null before the first. Of the last one that was read, accepted or not. */
  readonly observedRevision: string | null;
  readonly observedMs: EpochMs | null;
  /** The one that is being applied. */
  readonly acceptedRevision: string | null;
  readonly acceptedMs: EpochMs | null;
  /** Why the last one read was not accepted, or why none could be read. */
  readonly error: StatusError | null;
  readonly resources: number;
}

export interface RegionStatus {
  readonly platform: string;
  readonly region: string;
  readonly state: 'open' | 'paused' | 'circuit-open';
  readonly message: string;
}

/** The controller as a whole. */
export interface ControllerStatus {
  readonly version: string;
  readonly startedMs: EpochMs;
  /** `starting` until the source was read once; `draining` after SIGTERM. */
  readonly phase: 'starting' | 'running' | 'draining';
  readonly source: SourceStatus;
  readonly regions: readonly RegionStatus[];
  readonly counts: {
    readonly applications: number;
    readonly ready: number;
    readonly drifted: number;
    readonly held: number;
    readonly failing: number;
    readonly suspended: number;
    readonly queued: number;
    readonly running: number;
  };
}

export type EventSeverity = 'info' | 'warning' | 'error';

/** Stable names, `area.what`. */
export type EventType =
  | 'controller.started'
  | 'controller.draining'
  | 'controller.reloaded'
  | 'source.observed'
  | 'source.accepted'
  | 'source.refused'
  | 'source.failed'
  | 'apply.started'
  | 'apply.finished'
  | 'action.done'
  | 'action.failed'
  | 'action.in-doubt'
  | 'intent.resolved'
  | 'drift.detected'
  | 'drift.healed'
  | 'drift.gone'
  | 'wait.progress'
  | 'hold.added'
  | 'hold.released'
  | 'approval.needed'
  | 'approval.given'
  | 'application.failed'
  | 'application.recovered'
  | 'application.suspended'
  | 'application.resumed'
  | 'application.suspended-long'
  | 'health.changed'
  | 'region.paused'
  | 'region.resumed'
  | 'circuit.opened'
  | 'circuit.closed';

/** Something that happened, for people, notifications and the history. Never holds a secret. */
export interface ControllerEvent {
  /** Rises by one with each event of this process; where a reader of the stream goes on. */
  readonly sequence: number;
  /** Unique over processes. */
  readonly id: string;
  readonly atMs: EpochMs;
  readonly type: EventType;
  readonly severity: EventSeverity;
  readonly application: ResourceId | null;
  readonly scope: ScopeKey | null;
  readonly resource: ResourceId | null;
  readonly revision: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** For people: what happened and, where there is something to do, what. */
  readonly message: string;
  /** Facts by type: for drift `{ changes, sinceMs, ageMs }`, for actions `{ action, answer }`, … */
  readonly detail: Json;
}
