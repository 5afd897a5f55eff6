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

/** What plans are made of: types, and the JSON Schemas of the API and of the published formats. */

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
/** What is done to the object: for symbols, counts and guards. */
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
  // The kind alone turns it into a request.
  step,
  // Natural key within (scope, kind).
  object: string('The object on the platform that it touches: port/<serviceId>/8080.'),
  summary: string('One line for people.'),
  changes,
  effects: arrayOf(text, { description: 'What else it does on the platform.' }),
  cause,
  after: arrayOf(text, { description: 'Ids of actions that must be done first; always earlier in the plan.' }),
  // Counted by the guards, done only with `--prune`.
  prune: boolean('Removes or closes what git no longer names.'),
  // Natural keys, ours or not: the guards count them as well.
  'takesAlong?': arrayOf(text, { description: 'Other objects that it closes or removes too.' }),
  // Written with the intent.
  'obligation?': obligation,
  'continues?': string('Id of the action that it completes: the two of them are one change.'),
});
/** One request to the platform, as pure data. */
export type Action = TypeOf<typeof actionSchema>;

export const deferredActionSchema = objectOf('Waits for an id that only an install will give.', {
  resource,
  waitsFor: resource,
  // What the deferred actions must stay within.
  desired: json("The manifest's spec."),
  summary: text,
});
/** Something that waits for an id that only an install of the same plan will give. */
export type DeferredAction = TypeOf<typeof deferredActionSchema>;

export const holdSchema = objectOf('What is not done without a person.', {
  code: codeSchema,
  resource,
  message: text,
  // The exact command, flag or edit that releases it.
  remedy: remedySchema,
  changes,
  'untilMs?': described(time, 'It releases itself then. Milliseconds since 1970-01-01T00:00Z.'),
});
/** Something that Portolan will not do by itself. It holds its resource and the dependants of that, nothing else. */
export type Hold = TypeOf<typeof holdSchema>;

export const noteSchema = objectOf('Worth saying, nothing to do.', {
  code: codeSchema,
  'resource?': resource,
  message: text,
  'changes?': changes,
});
/** Worth saying, nothing to do: `not ours`, `orphaned`, `kept by annotation`, `report only`. */
export type Note = TypeOf<typeof noteSchema>;

export const waitSchema = objectOf('A wish that is met but whose effect is awaited.', {
  resource,
  message: text,
  untilMs: time,
});
/** A wish that is met but whose effect is awaited: an install that must come to run. */
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

/** As it stands after a run: without a digest, for it is no plan to agree to. */
export const remainingPlanSchema = objectOf('What is still to do.', scopePlanMembers);
/** What one scope needs, in a safe order. Survives `JSON.parse(JSON.stringify(plan))`. */
export type ScopePlan = TypeOf<typeof remainingPlanSchema>;

/** Those that plans and the API refer to. */
export const planPartSchemas = {
  FieldChange: fieldChangeSchema,
  Action: actionSchema,
  DeferredAction: deferredActionSchema,
  Hold: holdSchema,
  Note: noteSchema,
  Wait: waitSchema,
};
