import { type ResourceId, resourceIdSchema, scopeSchema } from './ids.ts';
import type { JsonObject } from './json.ts';
import * as s from './schema-words.ts';

/** The parts of plans: types, and the JSON Schemas of the API and of the published formats. */

export const codeSchema = s.string('Stable code of the form area/what, for scripts.');
export const remedySchema = s.string('The next step.');
const resource = s.string<ResourceId>('Kind/name of a manifest.');

export const causeSchema = s.choice(
  'The cause: the manifest changed (git), the platform drifted (drift), both, the resource is adopted, it is new in git (first-apply), it was removed from git (prune), an earlier run still has to do it (obligation), apply --undo reverts an earlier run (undo), or it is unknown because there is no ledger.',
  ['git', 'drift', 'git+drift', 'adopt', 'first-apply', 'prune', 'obligation', 'undo', 'unknown'],
);
export type Cause = s.TypeOf<typeof causeSchema>;

export const fieldChangeSchema = s.objectOf('One field, before and after.', {
  path: s.string('Path in the manifest: ports[8080].protocol.'),
  'before?': s.json('Absent: the object does not exist yet, or it cannot be read.'),
  'after?': s.json('Absent: the field is removed.'),
  'lastApplied?': s.json('The last applied value, where the ledger has it.'),
  cause: causeSchema,
});
export type FieldChange = s.TypeOf<typeof fieldChangeSchema>;

const changes = s.arrayOf(s.ref<FieldChange>('FieldChange'));
const verb = s.literal('create', 'update', 'delete');
/** The change to the object, for symbols, counts and guards. */
export type ActionVerb = s.TypeOf<typeof verb>;

const step: s.Schema<JsonObject & { readonly type: string }> = {
  type: 'object',
  required: ['type'],
  properties: { type: s.text },
  description: 'The step, in the form of its kind.',
};
const obligation: s.Schema<JsonObject> = {
  type: 'object',
  description: 'Fields that change only temporarily, and the values that are restored.',
};

export const actionSchema = s.objectOf('One request to the platform.', {
  id: s.string('Kind/name#step. It stays the same as long as the desired state does.'),
  resource,
  verb,
  // Only the kind turns it into a request.
  step,
  // The natural key within (scope, kind).
  object: s.string('The object on the platform: port/<serviceId>/8080.'),
  summary: s.string('One line for people.'),
  changes,
  effects: s.arrayOf(s.text, { description: 'Further effects on the platform.' }),
  cause: causeSchema,
  after: s.arrayOf(s.text, {
    description: 'Ids of actions that must be done before it; all of them are earlier in the plan.',
  }),
  // Guards count it, and a run does it only with `--prune`.
  prune: s.boolean('Whether it removes or closes a resource that was removed from git.'),
  // Natural keys of objects, owned or not. Guards count them too.
  'takesAlong?': s.arrayOf(s.text, { description: 'Other objects that it also closes or removes.' }),
  // The intent records it.
  'obligation?': obligation,
  'continues?': s.string('Id of the action that it completes. Both are one change.'),
});
/** One request to the platform, as pure data. */
export type Action = s.TypeOf<typeof actionSchema>;

export const deferredActionSchema = s.objectOf('A resource that waits for an id that an install will return.', {
  resource,
  waitsFor: resource,
  // The limit of the deferred actions.
  desired: s.json("The manifest's spec."),
  summary: s.text,
});
/** A resource that waits for an id that an install of the same plan will return. */
export type DeferredAction = s.TypeOf<typeof deferredActionSchema>;

export const holdSchema = s.objectOf('A change that requires manual action.', {
  code: codeSchema,
  resource,
  message: s.text,
  // The exact command, flag or edit that releases the hold.
  remedy: remedySchema,
  changes,
  'untilMs?': s.described(
    s.time,
    'The time at which the hold ends by itself, in milliseconds since 1970-01-01T00:00Z.',
  ),
});
/** A change that requires manual action. It holds its resource and the dependants of that resource, nothing else. */
export type Hold = s.TypeOf<typeof holdSchema>;

/** Name of the policy of Settings that a refusal or a note is about. */
export const policySchema = s.string('Name of the policy in spec.policies of Settings.');

export const noteSchema = s.objectOf('Information that requires no action.', {
  code: codeSchema,
  'resource?': resource,
  message: s.text,
  'changes?': changes,
  'policy?': policySchema,
});
/** Information that requires no action: `not ours`, `orphaned`, `kept by annotation`, `report only`. */
export type Note = s.TypeOf<typeof noteSchema>;

export const waitSchema = s.objectOf('A change that was made and whose effect is pending.', {
  resource,
  message: s.text,
  untilMs: s.time,
});
/** A change that was made and whose effect is pending, such as an install that must become ready. */
export type Wait = s.TypeOf<typeof waitSchema>;

export const scopePlanMembers = {
  application: s.string<ResourceId>('Application/name.'),
  scope: scopeSchema,
  actions: s.arrayOf(s.ref<Action>('Action'), { description: 'The actions, in a safe order.' }),
  deferred: s.arrayOf(s.ref<DeferredAction>('DeferredAction')),
  holds: s.arrayOf(s.ref<Hold>('Hold')),
  notes: s.arrayOf(s.ref<Note>('Note')),
  inSync: s.arrayOf(resourceIdSchema, {
    description: 'Resources in sync.',
  }),
  unchangedFields: s.integer('Number of managed fields in sync, which are not listed.', { minimum: 0 }),
};

/** The remaining plan after a run. It has no digest, because it cannot be approved. */
export const remainingPlanSchema = s.objectOf('The remaining changes.', scopePlanMembers);
/** The plan of one scope, in a safe order. It survives `JSON.parse(JSON.stringify(plan))`. */
export type ScopePlan = s.TypeOf<typeof remainingPlanSchema>;

/** The schemas that plans and the API refer to. */
export const planPartSchemas = {
  FieldChange: fieldChangeSchema,
  Action: actionSchema,
  DeferredAction: deferredActionSchema,
  Hold: holdSchema,
  Note: noteSchema,
  Wait: waitSchema,
};
