import { resourceIdSchema as id } from './ids.ts';
import type { Doubt } from './manual.ts';
import { originSchema } from './owned.ts';
import { type Cause, causeSchema } from './plan.ts';
import type { ResourceStatus, SourcePosition } from './status.ts';
import * as s from './schema-words.ts';

/** One resource with everything that a person needs to understand it: types, and the JSON Schemas of the API. */

const actors = [
  s.objectOf('A commit changed the manifest.', {
    type: s.literal('commit'),
    revision: s.text,
    author: s.nullable(s.text),
    committedMs: s.nullable(s.time),
  }),
  s.objectOf('A user or a program changed it on the platform.', {
    type: s.literal('platform'),
    // The time at which the controller first saw the change; null: unknown.
    sinceMs: s.nullable(s.time),
  }),
  s.objectOf('An earlier run changed it.', {
    type: s.literal('run'),
    atMs: s.nullable(s.time),
    actor: s.nullable(s.text),
  }),
] as const;
/** Who caused a difference. */
export type DifferenceActor = s.TypeOf<(typeof actors)[number]>;

const lastWriteSchema = s.objectOf('The last write of a field, as the history recorded it.', {
  atMs: s.time,
  intent: s.text,
  run: s.nullable(s.text),
  actor: s.text,
  revision: s.nullable(s.text),
  author: s.nullable(s.text),
});
export type LastWrite = s.TypeOf<typeof lastWriteSchema>;

const fieldSchema = s.objectOf('A managed field with its three values.', {
  path: s.string('Path in the manifest: ports[8080].protocol.'),
  'desired?': s.json('The value in the manifest. Absent: the manifest does not have the field.'),
  'live?': s.json('The value on the platform. Absent: there is none, or it is not known.'),
  'lastApplied?': s.json('The last applied value, where the ledger has it.'),
  state: s.choice(
    'in-sync, differs; unknown: it was not compared; hidden: no answer of the platform shows the field.',
    ['in-sync', 'differs', 'unknown', 'hidden'],
  ),
  cause: s.nullable(causeSchema as s.Schema<Cause>),
  actors: s.arrayOf(s.ref<DifferenceActor>('DifferenceActor'), { description: 'Who caused the difference.' }),
  lastWrite: s.nullable(s.ref<LastWrite>('LastWrite')),
});
export type FieldValues = s.TypeOf<typeof fieldSchema>;

const detailsSchema = s.objectOf('One resource: its manifest, its fields, and its records in the ledger.', {
  id,
  application: id,
  // null: no manifest of the source names it.
  status: s.nullable(s.ref<ResourceStatus>('Resource')),
  source: s.nullable(s.ref<SourcePosition>('SourcePosition')),
  // The time of the observation; null: this process has not observed it yet.
  observedMs: s.nullable(s.time),
  fields: s.arrayOf(s.ref<FieldValues>('FieldValues')),
  pending: s.arrayOf(
    s.objectOf('A pending request to the platform.', {
      id: s.text,
      summary: s.text,
      cause: causeSchema as s.Schema<Cause>,
      effects: s.arrayOf(s.text),
    }),
  ),
  doubts: s.arrayOf(s.ref<Doubt>('Doubt')),
  records: s.arrayOf(
    s.objectOf('An object of the resource in the ledger.', {
      uid: s.text,
      object: s.text,
      origin: originSchema,
      state: s.text,
      remoteId: s.nullable(s.text),
      failures: s.count,
    }),
  ),
});
/** One resource, for a page about it. */
export type ResourceDetails = s.TypeOf<typeof detailsSchema>;

/** The schemas of the API, by name. */
export const detailSchemas = {
  DifferenceActor: { description: 'Who caused a difference.', oneOf: actors },
  LastWrite: lastWriteSchema,
  FieldValues: fieldSchema,
  ResourceDetails: detailsSchema,
};
