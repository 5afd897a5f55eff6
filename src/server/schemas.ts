import type { JsonObject } from '../model/json.ts';
import { planSchemas } from '../plan/schema.ts';
import {
  arrayOf,
  count,
  described,
  literal,
  nullable,
  number,
  objectOf,
  ref,
  string,
  text,
  textMap,
  time,
  trueOrFalse,
} from '../model/schema-words.ts';

const condition = objectOf('How one resource or application stands in one respect.', {
  type: literal('Ready', 'Reconciling', 'Stalled', 'Healthy'),
  status: literal('True', 'False', 'Unknown'),
  reason: text,
  message: text,
  observedRevision: nullable(text),
  sinceMs: time,
});

const pause = {
  description: 'Why an application is not worked on now.',
  oneOf: [
    objectOf('By a person.', { type: literal('suspended'), by: text, reason: text, sinceMs: time }),
    objectOf('By a sync window.', { type: literal('window'), window: text, untilMs: nullable(time) }),
    objectOf('Its region takes no changes.', { type: literal('region'), region: text, state: text, sinceMs: time }),
    objectOf('Too many failures in its region.', { type: literal('circuit'), region: text, untilMs: time }),
  ],
} satisfies JsonObject;

const statusError = objectOf('What went wrong, and what to do.', {
  code: text,
  message: text,
  remedy: text,
  atMs: time,
});

const approval = objectOf('A plan that a guard refused, and that its digest approves.', {
  digest: text,
  refusals: arrayOf(objectOf('One guard.', { code: text, message: text, override: text })),
  sinceMs: time,
});

const pending = objectOf('What was still to do when the last pass ended.', {
  digest: text,
  actions: arrayOf(objectOf('One request to the platform.', { id: text, resource: text, summary: text })),
  deferred: arrayOf(ref('DeferredAction')),
  waits: arrayOf(ref('Wait')),
});

const resource = objectOf('How one resource of the source stands.', {
  id: text,
  application: text,
  mode: literal('heal', 'report', 'suspend'),
  conditions: arrayOf(ref('Condition')),
  drift: nullable(
    objectOf('The platform moved away from what was applied.', {
      sinceMs: time,
      changes: arrayOf(ref('FieldChange')),
    }),
  ),
  holds: arrayOf(ref('Hold')),
});

const standing = {
  id: text,
  scope: nullable(text),
  platform: text,
  region: text,
  labels: textMap,
  conditions: arrayOf(ref('Condition')),
  pause: nullable(ref('Pause')),
  approval: nullable(ref('Approval')),
  lastAttemptedRevision: nullable(text),
  lastAppliedRevision: nullable(text),
  lastAttemptMs: nullable(time),
  lastSuccessMs: nullable(time),
  nextAttemptMs: nullable(time),
  failures: count,
  lastError: nullable(ref('StatusError')),
};

const summary = objectOf('How one application stands, without its resources.', {
  ...standing,
  resources: objectOf('How many it has, and how many of them are not as git says.', {
    total: count,
    notReady: count,
    drifted: count,
    held: count,
  }),
});

const application = objectOf('How one application stands.', {
  ...standing,
  pending: nullable(ref('PendingWork')),
  resources: arrayOf(ref('Resource')),
  observed: nullable(ref('Observed')),
});

const shownLine = objectOf('A resource, a part of one, or what no manifest names, as views show it.', {
  type: string('port, or what views call a kind.'),
  key: text,
  below: described(arrayOf(text), 'Keys of lines that it hangs below: the first of them that there is.'),
  'rank?': number('Its place among lines of its type.'),
  name: text,
  facts: string('Tells it from others, as it was observed.'),
  'resource?': text,
  'part?': string('Its path in the manifest of the resource.'),
  'isMissing?': trueOrFalse,
  'state?': literal('withdrawn', 'not-in-manifests', 'unknown'),
  'reason?': text,
  'isStandIn?': trueOrFalse,
});

const observed = objectOf('What was seen of an application when it was observed last.', {
  atMs: time,
  lines: arrayOf(ref('ShownLine')),
});

const source = objectOf('How the source stands.', {
  name: text,
  location: text,
  observedRevision: nullable(text),
  observedMs: nullable(time),
  acceptedRevision: nullable(text),
  acceptedMs: nullable(time),
  error: nullable(ref('StatusError')),
  resources: count,
});

const controller = objectOf('The controller as a whole.', {
  version: text,
  startedMs: time,
  phase: literal('starting', 'running', 'draining'),
  source: ref('Source'),
  regions: arrayOf(
    objectOf('One region of a platform.', {
      platform: text,
      region: text,
      state: literal('open', 'paused', 'circuit-open'),
      message: text,
    }),
  ),
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

const event = objectOf('Something that happened.', {
  sequence: count,
  id: text,
  atMs: time,
  type: text,
  severity: literal('info', 'warning', 'error'),
  application: nullable(text),
  scope: nullable(text),
  resource: nullable(text),
  revision: nullable(text),
  labels: textMap,
  message: text,
  detail: {},
});

const history = objectOf('One line of the history, chained to the one before it.', {
  serial: count,
  scope: text,
  atMs: time,
  actor: text,
  event: text,
  uid: nullable(text),
  detail: {},
  previousHash: text,
  hash: text,
});

const owned = objectOf('An object on record in the ledger.', {
  uid: text,
  scope: text,
  platform: text,
  source: text,
  kind: text,
  resource: text,
  naturalKey: text,
  remoteId: nullable(text),
  remoteAux: { type: 'object' },
  origin: literal('created', 'adopted', 'observed'),
  state: literal('present', 'unverified', 'hold', 'deleting', 'gone'),
  lastApplied: { type: 'object' },
  obligation: nullable({ type: 'object' }),
  failures: count,
  lastSnapshot: text,
});

const intent = objectOf('A request that was about to be sent, and what became of it.', {
  id: text,
  uid: text,
  scope: text,
  resource: text,
  operation: text,
  idempotence: literal('target-state', 'duplicate-rejecting', 'duplicate-accepting'),
  action: { type: 'object' },
  epoch: count,
  requestHash: text,
  preimage: {},
  state: literal('open', 'unknown', 'applied', 'rejected', 'superseded', 'resolved'),
  createdMs: time,
  sendDeadlineMs: time,
  settleMs: time,
  settleMark: text,
  outcome: {},
  resolvedBy: nullable(text),
});

const problemDetails = objectOf('An error (RFC 9457), with a stable code and what to do next.', {
  type: text,
  title: text,
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: text,
  code: text,
  remedy: text,
  'problems?': arrayOf(ref('ManifestProblem')),
});

const manifestProblem = objectOf('A fault in a manifest, with its place.', {
  code: text,
  position: objectOf('Lines and columns count from 1.', { file: text, line: count, column: count }),
  'resource?': text,
  path: text,
  message: text,
  'expected?': text,
  'hint?': text,
  'excerpt?': objectOf('The line, and what to underline in it.', { line: text, caret: count, length: count }),
});

/** `components.schemas` of the document. Objects name every field, so that nothing unforeseen is ever shown. */
export const schemas: Readonly<Record<string, JsonObject>> = {
  Condition: condition,
  Pause: pause,
  StatusError: statusError,
  Approval: approval,
  PendingWork: pending,
  Resource: resource,
  ApplicationSummary: summary,
  Application: application,
  Observed: observed,
  ShownLine: shownLine,
  Source: source,
  Controller: controller,
  Event: event,
  HistoryRow: history,
  OwnedObject: owned,
  Intent: intent,
  ProblemDetails: problemDetails,
  ManifestProblem: manifestProblem,
  Healthy: objectOf('It lives.', { status: literal('ok'), lagMs: count }),
  Readiness: objectOf('Whether it does its work, and if not, why.', {
    ready: trueOrFalse,
    reasons: arrayOf(text),
  }),
  ...planSchemas,
};
