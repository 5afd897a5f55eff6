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

const conditionSchema = objectOf('How one resource or application stands in one respect.', {
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

const driftSchema = objectOf('The platform moved away from what was applied.', {
  // When it was first seen.
  sinceMs: time,
  changes: arrayOf(ref<FieldChange>('FieldChange')),
});
export type Drift = TypeOf<typeof driftSchema>;

const statusErrorSchema = objectOf('What went wrong, and what to do.', {
  code: text,
  message: text,
  remedy: text,
  atMs: time,
});
export type StatusError = TypeOf<typeof statusErrorSchema>;

const conditions = arrayOf(ref<Condition>('Condition'));

const resourceSchema = objectOf('How one resource of the source stands.', {
  id,
  application: id,
  mode,
  conditions,
  drift: nullable(driftSchema),
  holds: arrayOf(ref<Hold>('Hold')),
});
export type ResourceStatus = TypeOf<typeof resourceSchema>;

const pauses = [
  objectOf('By a person.', { type: literal('suspended'), by: text, reason: text, sinceMs: time }),
  objectOf('By a sync window.', { type: literal('window'), window: text, untilMs: nullable(time) }),
  objectOf('Its region takes no changes.', { type: literal('region'), region: text, state: text, sinceMs: time }),
  // Nothing is asked of it for a while.
  objectOf('Too many failures in its region.', { type: literal('circuit'), region: text, untilMs: time }),
] as const;
/** The reason why an application is paused, although there may be changes to apply. */
export type Pause = TypeOf<(typeof pauses)[number]>;

const approvalSchema = objectOf('A plan that a guard refused, and that its digest approves.', {
  digest: text,
  refusals: arrayOf(objectOf('One guard.', { code: text, message: text, override: text })),
  sinceMs: time,
});
export type ApprovalNeeded = TypeOf<typeof approvalSchema>;

const pendingSchema = objectOf('What was still to do when the last pass ended.', {
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

const summarySchema = objectOf('How one application stands, without its resources.', {
  ...standing,
  resources: objectOf('How many it has, and how many of them are not as git says.', {
    total: count,
    notReady: count,
    drifted: count,
    held: count,
  }),
});
/** The status of an application in lists. */
export type ApplicationSummary = TypeOf<typeof summarySchema>;

const applicationSchema = objectOf('How one application stands.', {
  ...standing,
  pending: nullable(ref<PendingWork>('PendingWork')),
  resources: arrayOf(ref<ResourceStatus>('Resource')),
  // null: this process has not observed the application yet.
  observed: nullable(ref<Observed>('Observed')),
});
/** The status of an application with the lines that its kinds show. */
export type ApplicationDetails = TypeOf<typeof applicationSchema>;
export type ApplicationStatus = Omit<ApplicationDetails, 'observed'>;

const sourceSchema = objectOf('How the source stands.', {
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

const controllerSchema = objectOf('The controller as a whole.', {
  version: text,
  startedMs: time,
  // `starting` until the source was read once; `draining` after SIGTERM.
  phase: literal('starting', 'running', 'draining'),
  source: ref<SourceStatus>('Source'),
  regions: arrayOf(regionSchema),
  counts: objectOf('How many applications are what.', {
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

const eventSchema = objectOf('Something that happened.', {
  // Rises by one with each event of this process; where a reader of the stream goes on.
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
  Pause: { description: 'Why an application is not worked on now.', oneOf: pauses },
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
