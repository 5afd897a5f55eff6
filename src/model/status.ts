import { resourceIdSchema as id } from './ids.ts';
import type { EventType } from './event-types.ts';
import { originSchema } from './owned.ts';
import type { DeferredAction, FieldChange, Hold, Wait } from './plan.ts';
import { positionSchema } from './problem.ts';
import * as s from './schema-words.ts';
import { type Observed, observedSchema, shownLineSchema } from './shown.ts';

/** The status of applications and of their controller: types, and the JSON Schemas of the API. */

const conditionSchema = s.objectOf('One condition of a resource or an application.', {
  // `Ready`: in sync with git. `Reconciling`: work is under way or due. `Stalled`: requires manual action.
  // `Healthy`: it runs on the platform, by its own status and by the thresholds of its manifest.
  type: s.literal('Ready', 'Reconciling', 'Stalled', 'Healthy'),
  // `Unknown`: it was not observed, or there is nothing to observe. It never counts as `True`.
  status: s.literal('True', 'False', 'Unknown'),
  // One word in CamelCase, stable: `InSync`, `Drifted`, `Held`, `Unreachable`, `NotFound`.
  reason: s.text,
  // A text for people, without secrets.
  message: s.text,
  observedRevision: s.nullable(s.text),
  // The time of the last change of `status`.
  sinceMs: s.time,
});
export type Condition = s.TypeOf<typeof conditionSchema>;
export type ConditionType = Condition['type'];

const mode = s.literal('heal', 'report', 'suspend');
/** The reaction to a difference: `heal` (default) corrects it, `report` only reports it, `suspend` does not observe it. */
export type HealMode = s.TypeOf<typeof mode>;

const driftSchema = s.objectOf('A difference between the platform and the last applied state.', {
  // The time at which it was first observed.
  sinceMs: s.time,
  changes: s.arrayOf(s.ref<FieldChange>('FieldChange')),
});
export type Drift = s.TypeOf<typeof driftSchema>;

const statusErrorSchema = s.objectOf('An error and its remedy.', {
  code: s.text,
  message: s.text,
  remedy: s.text,
  atMs: s.time,
});
export type StatusError = s.TypeOf<typeof statusErrorSchema>;

const conditions = s.arrayOf(s.ref<Condition>('Condition'));

const resourceSchema = s.objectOf('The status of one resource of the source.', {
  id,
  application: id,
  mode,
  conditions,
  drift: s.nullable(driftSchema),
  holds: s.arrayOf(s.ref<Hold>('Hold')),
});
export type ResourceStatus = s.TypeOf<typeof resourceSchema>;

const pauses = [
  s.objectOf('Suspended by a user.', { type: s.literal('suspended'), by: s.text, reason: s.text, sinceMs: s.time }),
  s.objectOf('Paused by a sync window.', { type: s.literal('window'), window: s.text, untilMs: s.nullable(s.time) }),
  s.objectOf('Paused because its region accepts no changes.', {
    type: s.literal('region'),
    region: s.text,
    state: s.text,
    sinceMs: s.time,
  }),
  // The region gets no requests until then.
  s.objectOf('Paused because the circuit breaker of its region is open.', {
    type: s.literal('circuit'),
    region: s.text,
    untilMs: s.time,
  }),
] as const;
/** The reason why an application is paused, although there may be changes to apply. */
export type Pause = s.TypeOf<(typeof pauses)[number]>;

const sourcePositionSchema = s.objectOf('The start of a document in the source.', {
  id,
  ...positionSchema.properties,
  // `main@sha1:<id>`; null: plain files.
  revision: s.nullable(s.text),
});
export type SourcePosition = s.TypeOf<typeof sourcePositionSchema>;

const approvalSchema = s.objectOf('A plan that a guard refused, and that can be approved by its digest.', {
  digest: s.text,
  refusals: s.arrayOf(s.objectOf('The refusal of one guard.', { code: s.text, message: s.text, override: s.text })),
  sinceMs: s.time,
});
export type ApprovalNeeded = s.TypeOf<typeof approvalSchema>;

const pendingSchema = s.objectOf('The remaining changes at the end of the last pass.', {
  digest: s.text,
  actions: s.arrayOf(s.objectOf('One request to the platform.', { id: s.text, resource: id, summary: s.text })),
  deferred: s.arrayOf(s.ref<DeferredAction>('DeferredAction')),
  waits: s.arrayOf(s.ref<Wait>('Wait')),
});
export type PendingWork = s.TypeOf<typeof pendingSchema>;

const standing = {
  id,
  // null: it was not resolved yet.
  scope: s.nullable(s.text),
  platform: s.text,
  region: s.text,
  labels: s.textMap,
  conditions,
  pause: s.nullable(s.ref<Pause>('Pause')),
  approval: s.nullable(s.ref<ApprovalNeeded>('Approval')),
  lastAttemptedRevision: s.nullable(s.text),
  // The last revision that it was in sync with.
  lastAppliedRevision: s.nullable(s.text),
  lastAttemptMs: s.nullable(s.time),
  // The last time at which it was in sync.
  lastSuccessMs: s.nullable(s.time),
  nextAttemptMs: s.nullable(s.time),
  // The number of consecutive failed attempts.
  failures: s.count,
  lastError: s.nullable(s.ref<StatusError>('StatusError')),
};

const summarySchema = s.objectOf('The status of one application, without its resources.', {
  ...standing,
  resources: s.objectOf('The number of its resources, and of those that are not in sync.', {
    total: s.count,
    notReady: s.count,
    drifted: s.count,
    held: s.count,
  }),
});
/** The status of an application in lists. */
export type ApplicationSummary = s.TypeOf<typeof summarySchema>;

const applicationSchema = s.objectOf('The status of one application.', {
  ...standing,
  pending: s.nullable(s.ref<PendingWork>('PendingWork')),
  resources: s.arrayOf(s.ref<ResourceStatus>('Resource')),
  // null: this process has not observed the application yet.
  observed: s.nullable(s.ref<Observed>('Observed')),
  // The application first, then its resources.
  sources: s.arrayOf(s.ref<SourcePosition>('SourcePosition'), { description: 'The position of each document.' }),
});
/** The status of an application with the lines that its kinds show. */
export type ApplicationDetails = s.TypeOf<typeof applicationSchema>;
export type ApplicationStatus = Omit<ApplicationDetails, 'observed' | 'sources'>;

const orphanSchema = s.objectOf(
  'A resource on record in the ledger, in an application that no manifest of the source refers to any more.',
  {
    // The application that no manifest refers to any more: `platform/team/region/appId`.
    scope: s.text,
    id,
    // `created`: pruning removes it. `adopted`, `observed`: pruning only removes it from the ledger.
    origin: originSchema,
    // Natural keys of its objects: `port/<serviceId>/8080`.
    objects: s.arrayOf(s.text),
    // The time at which the controller first saw it so.
    sinceMs: s.time,
  },
);
export type OrphanStatus = s.TypeOf<typeof orphanSchema>;
/** The same without its time. */
export type OrphanFacts = Omit<OrphanStatus, 'sinceMs'>;

const sourceProblemSchema = s.objectOf('A fault in a file of the source.', {
  code: s.text,
  file: s.text,
  // Lines and columns count from 1.
  line: s.count,
  column: s.count,
  message: s.text,
});
export type SourceProblem = s.TypeOf<typeof sourceProblemSchema>;

const sourceSchema = s.objectOf('The status of the source.', {
  name: s.text,
  // The watched location: a folder, or an address without credentials and a ref.
  location: s.text,
  // The last revision that was read, accepted or not: `main@sha1:<id>`. null: none was read yet.
  observedRevision: s.nullable(s.text),
  observedMs: s.nullable(s.time),
  // The revision that is being applied.
  acceptedRevision: s.nullable(s.text),
  acceptedMs: s.nullable(s.time),
  // The reason why the last revision was rejected, or why none could be read.
  error: s.nullable(s.ref<StatusError>('StatusError')),
  'problems?': s.described(
    s.arrayOf(s.ref<SourceProblem>('SourceProblem')),
    'The first 20 faults of a revision that was rejected because of its files.',
  ),
  resources: s.count,
});
export type SourceStatus = s.TypeOf<typeof sourceSchema>;

const regionSchema = s.objectOf('One region of a platform.', {
  platform: s.text,
  region: s.text,
  state: s.literal('open', 'paused', 'circuit-open'),
  message: s.text,
});
/** Whether the controller writes to a region. The status that the platform reports is `RegionStatusText`. */
export type RegionGate = s.TypeOf<typeof regionSchema>;

const controllerSchema = s.objectOf('The status of the controller.', {
  version: s.text,
  startedMs: s.time,
  // `starting` until the source was read once; `draining` after SIGTERM.
  phase: s.literal('starting', 'running', 'draining'),
  source: s.ref<SourceStatus>('Source'),
  regions: s.arrayOf(regionSchema),
  // The number of resources in the list of orphans.
  orphans: s.count,
  counts: s.objectOf('The number of applications by state.', {
    applications: s.count,
    ready: s.count,
    drifted: s.count,
    held: s.count,
    failing: s.count,
    suspended: s.count,
    queued: s.count,
    running: s.count,
  }),
  'outside?': s.objectOf(
    'Applications outside the scope of the caller. Absent: the caller may see all. The rest of the status covers only those that the caller may see.',
    // Applications that fail or require manual action.
    { faults: s.count },
  ),
  'database?': s.objectOf(
    'The database that several controllers share. Absent: the ledger belongs to this process. While it is out of reach, everything here is as of that time, and commands are refused.',
    {
      isReachable: s.trueOrFalse,
      // When this process last read from it.
      asOfMs: s.time,
      // The time since then.
      ageMs: s.count,
    },
  ),
});
export type ControllerStatus = s.TypeOf<typeof controllerSchema>;

const severity = s.literal('info', 'warning', 'error');
export type EventSeverity = s.TypeOf<typeof severity>;

const eventSchema = s.objectOf('One event.', {
  // Increases by one with each event of this process. A reader of the stream resumes at it.
  sequence: s.count,
  // Unique across processes.
  id: s.text,
  atMs: s.time,
  type: s.text as s.Schema<EventType>,
  severity,
  application: s.nullable(id),
  scope: s.nullable(s.text),
  resource: s.nullable(id),
  revision: s.nullable(s.text),
  labels: s.textMap,
  // The event and, where there is one, the remedy.
  message: s.text,
  // Details by type: for drift `{ changes, sinceMs, ageMs }`, for actions `{ action, answer }`, …
  detail: s.json(),
});
/** An event for people, notifications and the history. It never contains a secret. */
export type ControllerEvent = s.TypeOf<typeof eventSchema>;

/** The schemas of the API, by name. */
export const statusSchemas = {
  Condition: conditionSchema,
  Pause: { description: 'The reason why an application is paused.', oneOf: pauses },
  SourcePosition: sourcePositionSchema,
  StatusError: statusErrorSchema,
  Approval: approvalSchema,
  PendingWork: pendingSchema,
  Resource: resourceSchema,
  ApplicationSummary: summarySchema,
  Application: applicationSchema,
  Observed: observedSchema,
  ShownLine: shownLineSchema,
  Orphan: orphanSchema,
  Source: sourceSchema,
  SourceProblem: sourceProblemSchema,
  Controller: controllerSchema,
  Event: eventSchema,
};
