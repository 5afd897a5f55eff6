import type { JsonObject } from '../model/json.ts';
import { statusSchemas } from '../model/status.ts';
import { planSchemas } from '../plan/schema.ts';
import { arrayOf, count, literal, nullable, objectOf, ref, text, time, trueOrFalse } from '../model/schema-words.ts';

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
  ...statusSchemas,
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
