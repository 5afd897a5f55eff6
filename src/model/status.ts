import { resourceIdSchema as id } from './ids.ts';
import type { DeferredAction, FieldChange, Hold, Wait } from './plan.ts';
import {
  arrayOf,
  count,
  json,
  literal,
  nullable,
  objectOf,
  ref,
  type Schema,
  text,
  textMap,
  time,
  type TypeOf,
} from './schema-words.ts';
import { type Observed, observedSchema, shownLineSchema } from './shown.ts';

/** The status of applications and of their controller: types, and the JSON Schemas of the API. */

const conditionSchema = objectOf('One condition of a resource or an application.', {
  // `Ready`: in sync with git. `Reconciling`: work is under way or due. `Stalled`: requires manual action.
  // `Healthy`: it runs on the platform, by its own status and by the thresholds of its manifest.
  type: literal('Ready', 'Reconciling', 'Stalled', 'Healthy'),
  // `Unknown`: it was not observed, or there is nothing to observe. It never counts as `True`.
  status: literal('True', 'False', 'Unknown'),
  // One word in CamelCase, stable: `InSync`, `Drifted`, `Held`, `Unreachable`, `NotFound`.
  reason: text,
  // For people; without secrets.
  message: text,
  observedRevision: nullable(text),
  // The time of the last change of `status`.
  sinceMs: time,
});
export type Condition = TypeOf<typeof conditionSchema>;
export type ConditionType = Condition['type'];

const mode = literal('heal', 'report', 'suspend');
/** The reaction to a difference: `heal` (default) corrects it, `report` only reports it, `suspend` does not observe it. */
export type HealMode = TypeOf<typeof mode>;

const driftSchema = objectOf('A difference between the platform and the last applied state.', {
  // The time at which it was first observed.
  sinceMs: time,
  changes: arrayOf(ref<FieldChange>('FieldChange')),
});
export type Drift = TypeOf<typeof driftSchema>;

const statusErrorSchema = objectOf('An error and its remedy.', {
  code: text,
  message: text,
  remedy: text,
  atMs: time,
});
export type StatusError = TypeOf<typeof statusErrorSchema>;

const conditions = arrayOf(ref<Condition>('Condition'));

const resourceSchema = objectOf('The status of one resource of the source.', {
  id,
  application: id,
  mode,
  conditions,
  drift: nullable(driftSchema),
  holds: arrayOf(ref<Hold>('Hold')),
});
export type ResourceStatus = TypeOf<typeof resourceSchema>;

const pauses = [
  objectOf('Suspended by a user.', { type: literal('suspended'), by: text, reason: text, sinceMs: time }),
  objectOf('Paused by a sync window.', { type: literal('window'), window: text, untilMs: nullable(time) }),
  objectOf('Paused because its region accepts no changes.', {
    type: literal('region'),
    region: text,
    state: text,
    sinceMs: time,
  }),
  // The region gets no requests until then.
  objectOf('Paused because the circuit breaker of its region is open.', {
    type: literal('circuit'),
    region: text,
    untilMs: time,
  }),
] as const;
/** The reason why an application is paused, although there may be changes to apply. */
export type Pause = TypeOf<(typeof pauses)[number]>;

const approvalSchema = objectOf('A plan that a guard refused, and that can be approved by its digest.', {
  digest: text,
  refusals: arrayOf(objectOf('The refusal of one guard.', { code: text, message: text, override: text })),
  sinceMs: time,
});
export type ApprovalNeeded = TypeOf<typeof approvalSchema>;

const pendingSchema = objectOf('The remaining changes at the end of the last pass.', {
  digest: text,
  actions: arrayOf(objectOf('One request to the platform.', { id: text, resource: id, summary: text })),
  deferred: arrayOf(ref<DeferredAction>('DeferredAction')),
  waits: arrayOf(ref<Wait>('Wait')),
});
export type PendingWork = TypeOf<typeof pendingSchema>;

const standing = {
  id,
  // null: it was not resolved yet.
  scope: nullable(text),
  platform: text,
  region: text,
  labels: textMap,
  conditions,
  pause: nullable(ref<Pause>('Pause')),
  approval: nullable(ref<ApprovalNeeded>('Approval')),
  lastAttemptedRevision: nullable(text),
  // The last revision that it was in sync with.
  lastAppliedRevision: nullable(text),
  lastAttemptMs: nullable(time),
  // The last time at which it was in sync.
  lastSuccessMs: nullable(time),
  nextAttemptMs: nullable(time),
  // The number of consecutive failed attempts.
  failures: count,
  lastError: nullable(ref<StatusError>('StatusError')),
};

const summarySchema = objectOf('The status of one application, without its resources.', {
  ...standing,
  resources: objectOf('The number of its resources, and of those that are not in sync.', {
    total: count,
    notReady: count,
    drifted: count,
    held: count,
  }),
});
/** The status of an application in lists. */
export type ApplicationSummary = TypeOf<typeof summarySchema>;

const applicationSchema = objectOf('The status of one application.', {
  ...standing,
  pending: nullable(ref<PendingWork>('PendingWork')),
  resources: arrayOf(ref<ResourceStatus>('Resource')),
  // null: this process has not observed the application yet.
  observed: nullable(ref<Observed>('Observed')),
});
/** The status of an application with the lines that its kinds show. */
export type ApplicationDetails = TypeOf<typeof applicationSchema>;
export type ApplicationStatus = Omit<ApplicationDetails, 'observed'>;

const sourceSchema = objectOf('The status of the source.', {
  name: text,
  // The watched location: a folder, or an address without credentials and a ref.
  location: text,
  // The last revision that was read, accepted or not: `main@sha1:<id>`. null: none was read yet.
  observedRevision: nullable(text),
  observedMs: nullable(time),
  // The revision that is being applied.
  acceptedRevision: nullable(text),
  acceptedMs: nullable(time),
  // The reason why the last revision was rejected, or why none could be read.
  error: nullable(ref<StatusError>('StatusError')),
  resources: count,
});
export type SourceStatus = TypeOf<typeof sourceSchema>;

const regionSchema = objectOf('One region of a platform.', {
  platform: text,
  region: text,
  state: literal('open', 'paused', 'circuit-open'),
  message: text,
});
/** Whether the controller writes to a region. The status that the platform reports is `RegionStatusText`. */
export type RegionGate = TypeOf<typeof regionSchema>;

const controllerSchema = objectOf('The status of the controller.', {
  version: text,
  startedMs: time,
  // `starting` until the source was read once; `draining` after SIGTERM.
  phase: literal('starting', 'running', 'draining'),
  source: ref<SourceStatus>('Source'),
  regions: arrayOf(regionSchema),
  counts: objectOf('The number of applications by state.', {
    applications: count,
    ready: count,
    drifted: count,
    held: count,
    failing: count,
    suspended: count,
    queued: count,
    running: count,
  }),
});
export type ControllerStatus = TypeOf<typeof controllerSchema>;

/** The types of events. The names are stable. */
export type EventType =
  | `controller.${'started' | 'draining' | 'reloaded'}`
  | `source.${'observed' | 'accepted' | 'refused' | 'failed'}`
  | `apply.${'started' | 'finished'}`
  | `action.${'done' | 'failed' | 'in-doubt'}`
  | 'intent.resolved'
  | `drift.${'detected' | 'healed' | 'gone'}`
  | 'wait.progress'
  | `hold.${'added' | 'released'}`
  | `approval.${'needed' | 'given'}`
  | `application.${'failed' | 'recovered' | 'suspended' | 'resumed' | 'suspended-long'}`
  | 'health.changed'
  | `region.${'paused' | 'resumed'}`
  | `circuit.${'opened' | 'closed'}`;

const severity = literal('info', 'warning', 'error');
export type EventSeverity = TypeOf<typeof severity>;

const eventSchema = objectOf('One event.', {
  // Increases by one with each event of this process. A reader of the stream resumes at it.
  sequence: count,
  // Unique across processes.
  id: text,
  atMs: time,
  type: text as Schema<EventType>,
  severity,
  application: nullable(id),
  scope: nullable(text),
  resource: nullable(id),
  revision: nullable(text),
  labels: textMap,
  // The event and, where there is one, the remedy.
  message: text,
  // Details by type: for drift `{ changes, sinceMs, ageMs }`, for actions `{ action, answer }`, …
  detail: json(),
});
/** An event for people, notifications and the history. It never contains a secret. */
export type ControllerEvent = TypeOf<typeof eventSchema>;

/** The schemas of the API, by name. */
export const statusSchemas = {
  Condition: conditionSchema,
  Pause: { description: 'The reason why an application is paused.', oneOf: pauses },
  StatusError: statusErrorSchema,
  Approval: approvalSchema,
  PendingWork: pendingSchema,
  Resource: resourceSchema,
  ApplicationSummary: summarySchema,
  Application: applicationSchema,
  Observed: observedSchema,
  ShownLine: shownLineSchema,
  Source: sourceSchema,
  Controller: controllerSchema,
  Event: eventSchema,
};
