import { type ResourceId, resourceIdSchema, scopeSchema } from './ids.ts';
import type { JsonObject } from './json.ts';
import {
  arrayOf,
  boolean,
  choice,
  described,
  integer,
  json,
  literal,
  objectOf,
  ref,
  type Schema,
  string,
  text,
  time,
  type TypeOf,
} from './schema-words.ts';

/** The parts of plans: types, and the JSON Schemas of the API and of the published formats. */

export const codeSchema = string('Stable, area/what: what scripts may look at.');
export const remedySchema = string('What to do next.');
const resource = string<ResourceId>('Kind/name of a manifest.');

const cause = choice(
  'Why: the manifest changed, the platform moved, both, it is taken over, it is new, git no longer names it, it is owed by an earlier run, or nobody knows without a ledger.',
  ['git', 'drift', 'git+drift', 'adopt', 'first-apply', 'prune', 'obligation', 'unknown'],
);
export type Cause = TypeOf<typeof cause>;

export const fieldChangeSchema = objectOf('One field, before and after.', {
  path: string("In the manifest's words: ports[8080].protocol."),
  'before?': json('Absent: the object does not exist yet, or cannot be read.'),
  'after?': json('Absent: it is removed.'),
  'lastApplied?': json('What was last applied from here, where the ledger knows it.'),
  cause,
});
export type FieldChange = TypeOf<typeof fieldChangeSchema>;

const changes = arrayOf(ref<FieldChange>('FieldChange'));
const verb = literal('create', 'update', 'delete');
/** The change to the object, for symbols, counts and guards. */
export type ActionVerb = TypeOf<typeof verb>;

const step: Schema<JsonObject & { readonly type: string }> = {
  type: 'object',
  required: ['type'],
  properties: { type: text },
  description: "The kind's own step.",
};
const obligation: Schema<JsonObject> = {
  type: 'object',
  description: 'Fields changed only for a moment, and the values they get back.',
};

export const actionSchema = objectOf('One request to the platform.', {
  id: string('Kind/name#step: stable while the same thing is wanted.'),
  resource,
  verb,
  // Only the kind turns it into a request.
  step,
  // The natural key within (scope, kind).
  object: string('The object on the platform that it touches: port/<serviceId>/8080.'),
  summary: string('One line for people.'),
  changes,
  effects: arrayOf(text, { description: 'What else it does on the platform.' }),
  cause,
  after: arrayOf(text, { description: 'Ids of actions that must be done first; always earlier in the plan.' }),
  // Guards count it, and a run does it only with `--prune`.
  prune: boolean('Removes or closes what git no longer names.'),
  // Natural keys of objects, owned or not. Guards count them too.
  'takesAlong?': arrayOf(text, { description: 'Other objects that it closes or removes too.' }),
  // The intent records it.
  'obligation?': obligation,
  'continues?': string('Id of the action that it completes: the two of them are one change.'),
});
/** One request to the platform, as pure data. */
export type Action = TypeOf<typeof actionSchema>;

export const deferredActionSchema = objectOf('Waits for an id that only an install will give.', {
  resource,
  waitsFor: resource,
  // The limit of the deferred actions.
  desired: json("The manifest's spec."),
  summary: text,
});
/** A resource that waits for an id that an install of the same plan will return. */
export type DeferredAction = TypeOf<typeof deferredActionSchema>;

export const holdSchema = objectOf('What is not done without a person.', {
  code: codeSchema,
  resource,
  message: text,
  // The exact command, flag or edit that releases the hold.
  remedy: remedySchema,
  changes,
  'untilMs?': described(time, 'It releases itself then. Milliseconds since 1970-01-01T00:00Z.'),
});
/** A change that requires manual action. It holds its resource and the dependants of that resource, nothing else. */
export type Hold = TypeOf<typeof holdSchema>;

export const noteSchema = objectOf('Worth saying, nothing to do.', {
  code: codeSchema,
  'resource?': resource,
  message: text,
  'changes?': changes,
});
/** Information that requires no action: `not ours`, `orphaned`, `kept by annotation`, `report only`. */
export type Note = TypeOf<typeof noteSchema>;

export const waitSchema = objectOf('A wish that is met but whose effect is awaited.', {
  resource,
  message: text,
  untilMs: time,
});
/** A change that was made and whose effect is pending, such as an install that must become ready. */
export type Wait = TypeOf<typeof waitSchema>;

export const scopePlanMembers = {
  application: string<ResourceId>('Application/name.'),
  scope: scopeSchema,
  actions: arrayOf(ref<Action>('Action'), { description: 'In a safe order.' }),
  deferred: arrayOf(ref<DeferredAction>('DeferredAction')),
  holds: arrayOf(ref<Hold>('Hold')),
  notes: arrayOf(ref<Note>('Note')),
  inSync: arrayOf(resourceIdSchema, {
    description: 'Resources that are as the manifests say.',
  }),
  unchangedFields: integer('Managed fields that are as desired, and therefore not listed.', { minimum: 0 }),
};

/** The remaining plan after a run. It has no digest, because it cannot be approved. */
export const remainingPlanSchema = objectOf('What is still to do.', scopePlanMembers);
/** The plan of one scope, in a safe order. It survives `JSON.parse(JSON.stringify(plan))`. */
export type ScopePlan = TypeOf<typeof remainingPlanSchema>;

/** The schemas that plans and the API refer to. */
export const planPartSchemas = {
  FieldChange: fieldChangeSchema,
  Action: actionSchema,
  DeferredAction: deferredActionSchema,
  Hold: holdSchema,
  Note: noteSchema,
  Wait: waitSchema,
};
