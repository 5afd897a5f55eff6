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

export const codeSchema = string('Stable code of the form area/what, for scripts.');
export const remedySchema = string('The next step.');
const resource = string<ResourceId>('Kind/name of a manifest.');

const cause = choice(
  'The cause: the manifest changed (git), the platform drifted (drift), both, the resource is adopted, it is new in git (first-apply), it was removed from git (prune), an earlier run still has to do it (obligation), or it is unknown because there is no ledger.',
  ['git', 'drift', 'git+drift', 'adopt', 'first-apply', 'prune', 'obligation', 'unknown'],
);
export type Cause = TypeOf<typeof cause>;

export const fieldChangeSchema = objectOf('One field, before and after.', {
  path: string('Path in the manifest: ports[8080].protocol.'),
  'before?': json('Absent: the object does not exist yet, or it cannot be read.'),
  'after?': json('Absent: the field is removed.'),
  'lastApplied?': json('The last applied value, where the ledger has it.'),
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
  description: 'The step, in the form of its kind.',
};
const obligation: Schema<JsonObject> = {
  type: 'object',
  description: 'Fields that change only temporarily, and the values that are restored.',
};

export const actionSchema = objectOf('One request to the platform.', {
  id: string('Kind/name#step. It stays the same as long as the desired state does.'),
  resource,
  verb,
  // Only the kind turns it into a request.
  step,
  // The natural key within (scope, kind).
  object: string('The object on the platform: port/<serviceId>/8080.'),
  summary: string('One line for people.'),
  changes,
  effects: arrayOf(text, { description: 'Further effects on the platform.' }),
  cause,
  after: arrayOf(text, {
    description: 'Ids of actions that must be done before it; all of them are earlier in the plan.',
  }),
  // Guards count it, and a run does it only with `--prune`.
  prune: boolean('Whether it removes or closes a resource that was removed from git.'),
  // Natural keys of objects, owned or not. Guards count them too.
  'takesAlong?': arrayOf(text, { description: 'Other objects that it also closes or removes.' }),
  // The intent records it.
  'obligation?': obligation,
  'continues?': string('Id of the action that it completes. Both are one change.'),
});
/** One request to the platform, as pure data. */
export type Action = TypeOf<typeof actionSchema>;

export const deferredActionSchema = objectOf('A resource that waits for an id that an install will return.', {
  resource,
  waitsFor: resource,
  // The limit of the deferred actions.
  desired: json("The manifest's spec."),
  summary: text,
});
/** A resource that waits for an id that an install of the same plan will return. */
export type DeferredAction = TypeOf<typeof deferredActionSchema>;

export const holdSchema = objectOf('A change that requires manual action.', {
  code: codeSchema,
  resource,
  message: text,
  // The exact command, flag or edit that releases the hold.
  remedy: remedySchema,
  changes,
  'untilMs?': described(time, 'The time at which the hold ends by itself, in milliseconds since 1970-01-01T00:00Z.'),
});
/** A change that requires manual action. It holds its resource and the dependants of that resource, nothing else. */
export type Hold = TypeOf<typeof holdSchema>;

export const noteSchema = objectOf('Information that requires no action.', {
  code: codeSchema,
  'resource?': resource,
  message: text,
  'changes?': changes,
});
/** Information that requires no action: `not ours`, `orphaned`, `kept by annotation`, `report only`. */
export type Note = TypeOf<typeof noteSchema>;

export const waitSchema = objectOf('A change that was made and whose effect is pending.', {
  resource,
  message: text,
  untilMs: time,
});
/** A change that was made and whose effect is pending, such as an install that must become ready. */
export type Wait = TypeOf<typeof waitSchema>;

export const scopePlanMembers = {
  application: string<ResourceId>('Application/name.'),
  scope: scopeSchema,
  actions: arrayOf(ref<Action>('Action'), { description: 'The actions, in a safe order.' }),
  deferred: arrayOf(ref<DeferredAction>('DeferredAction')),
  holds: arrayOf(ref<Hold>('Hold')),
  notes: arrayOf(ref<Note>('Note')),
  inSync: arrayOf(resourceIdSchema, {
    description: 'Resources in sync.',
  }),
  unchangedFields: integer('Number of managed fields in sync, which are not listed.', { minimum: 0 }),
};

/** The remaining plan after a run. It has no digest, because it cannot be approved. */
export const remainingPlanSchema = objectOf('The remaining changes.', scopePlanMembers);
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
