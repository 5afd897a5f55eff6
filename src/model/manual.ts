import { resourceIdSchema as resource } from './ids.ts';
import { type OwnedObject, writeClassSchema } from './owned.ts';
import * as s from './schema-words.ts';

/** Requests in doubt, and what people decide about the ledger: types, and the JSON Schemas of the API. */

const settleWindowSchema = s.objectOf(
  'The settle window of a request in doubt. Before its end, an observation proves nothing.',
  {
    // `restarted`: the window begins when the application is observed next.
    state: s.literal('over', 'until', 'restarted'),
    // The end of the window; null: it has not begun.
    atMs: s.nullable(s.time),
  },
);

const doubtSchema = s.objectOf('A request whose outcome is not known.', {
  // The id of its intent.
  id: s.text,
  resource,
  operation: s.text,
  // The change, in words.
  summary: s.text,
  idempotence: writeClassSchema,
  sentMs: s.time,
  // The answer of the platform, in words; null: none was recorded.
  answer: s.nullable(s.text),
  settleWindow: settleWindowSchema,
  // Why observation cannot decide; null: it has not tried yet.
  evidence: s.nullable(s.text),
});
/** A request whose outcome is not known, with the evidence for a person who decides. */
export type Doubt = s.TypeOf<typeof doubtSchema>;

const object = s.ref<OwnedObject>('OwnedObject');
const warnings = s.arrayOf(s.text, { description: 'Consequences of the decision.' });

const resolvedSchema = s.objectOf('The outcome of a request, as a person stated it.', {
  intent: s.text,
  decision: s.literal('applied', 'not-applied'),
  object: s.nullable(object),
  warnings,
});
export type Resolved = s.TypeOf<typeof resolvedSchema>;

const retriedSchema = s.objectOf('The objects whose failures were cleared. Empty: none had failed.', {
  retried: s.arrayOf(s.objectOf('One object.', { uid: s.text, failures: s.count })),
});
export type Retried = s.TypeOf<typeof retriedSchema>;

const forgottenSchema = s.objectOf('The objects that were removed from the ledger.', {
  forgotten: s.arrayOf(object),
  warnings,
});
export type Forgotten = s.TypeOf<typeof forgottenSchema>;

const adoptedSchema = s.objectOf('The object that is managed now.', { adopted: object });
export type Adopted = s.TypeOf<typeof adoptedSchema>;

const prunedSchema = s.objectOf('The removals of orphaned resources.', {
  scope: s.text,
  results: s.arrayOf(
    s.objectOf('The result of one request.', {
      id: s.text,
      summary: s.text,
      status: s.literal('done', 'failed', 'in-doubt', 'skipped'),
      // The answer of the platform.
      message: s.text,
    }),
  ),
  // The error that ended the removals early; null: none.
  error: s.nullable(s.text),
  // The number of removals that are left.
  left: s.count,
});
export type Pruned = s.TypeOf<typeof prunedSchema>;

/** The schemas that the API refers to. */
export const manualSchemas = {
  Doubt: doubtSchema,
  Resolved: resolvedSchema,
  Retried: retriedSchema,
  Forgotten: forgottenSchema,
  Adopted: adoptedSchema,
  Pruned: prunedSchema,
};
