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

/** How applications and their controller stand: types, and the JSON Schemas of the API. */

const conditionSchema = objectOf('How one resource or application stands in one respect.', {
  // `Ready`: as git says. `Reconciling`: work is under way or due. `Stalled`: it will not go on without a person.
  // `Healthy`: what runs on the platform does, by its own status and by the thresholds of its manifest.
  type: literal('Ready', 'Reconciling', 'Stalled', 'Healthy'),
  // `Unknown`: nobody has looked, or there is nothing to look at. Never taken for `True`.
  status: literal('True', 'False', 'Unknown'),
  // One word in CamelCase, stable: `InSync`, `Drifted`, `Held`, `Unreachable`, `NotFound`.
  reason: text,
  // For people; without secrets.
  message: text,
  observedRevision: nullable(text),
  // When `status` last changed.
  sinceMs: time,
});
export type Condition = TypeOf<typeof conditionSchema>;
export type ConditionType = Condition['type'];

const mode = literal('heal', 'report', 'suspend');
/** What is done about a difference: `heal` (default) puts it right, `report` tells, `suspend` does not even look. */
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
/** Why an application is not worked on now, although there may be something to do. */
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
  // null until it was resolved once.
  scope: nullable(text),
  platform: text,
  region: text,
  labels: textMap,
  conditions,
  pause: nullable(ref<Pause>('Pause')),
  approval: nullable(ref<ApprovalNeeded>('Approval')),
  lastAttemptedRevision: nullable(text),
  // The revision that it was last found, or made, equal to.
  lastAppliedRevision: nullable(text),
  lastAttemptMs: nullable(time),
  // When it was last seen to be as git says.
  lastSuccessMs: nullable(time),
  nextAttemptMs: nullable(time),
  // Attempts in a row that failed.
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
/** As lists have it. */
export type ApplicationSummary = TypeOf<typeof summarySchema>;

const applicationSchema = objectOf('How one application stands.', {
  ...standing,
  pending: nullable(ref<PendingWork>('PendingWork')),
  resources: arrayOf(ref<ResourceStatus>('Resource')),
  // null: this process has not observed it yet.
  observed: nullable(ref<Observed>('Observed')),
});
/** With what its kinds show of it. */
export type ApplicationDetails = TypeOf<typeof applicationSchema>;
export type ApplicationStatus = Omit<ApplicationDetails, 'observed'>;

const sourceSchema = objectOf('How the source stands.', {
  name: text,
  // What is watched, for people: a folder, or an address without credentials and a ref.
  location: text,
  // `main@sha1:<id>`; null before the first. Of the last one that was read, accepted or not.
  observedRevision: nullable(text),
  observedMs: nullable(time),
  // The one that is being applied.
  acceptedRevision: nullable(text),
  acceptedMs: nullable(time),
  // Why the last one read was not accepted, or why none could be read.
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
/** Whether the controller writes to a region; what the platform says of it is `RegionStatusText`. */
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

/** Stable names, `area.what`. */
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
  // Unique over processes.
  id: text,
  atMs: time,
  type: text as Schema<EventType>,
  severity,
  application: nullable(id),
  scope: nullable(text),
  resource: nullable(id),
  revision: nullable(text),
  labels: textMap,
  // What happened and, where there is something to do, what.
  message: text,
  // Facts by type: for drift `{ changes, sinceMs, ageMs }`, for actions `{ action, answer }`, …
  detail: json(),
});
/** For people, notifications and the history. Never holds a secret. */
export type ControllerEvent = TypeOf<typeof eventSchema>;

/** Of the API, by name. */
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
