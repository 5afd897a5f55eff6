import type { JsonObject } from '../model/json.ts';
import {
  arrayOf,
  count,
  described,
  literal,
  nullable,
  objectOf,
  ref,
  text,
  time,
  trueOrFalse,
} from '../model/schema-words.ts';

/** The JSON Schemas of plans, of which those of the API and the published ones are made. */

const code = described(text, 'Stable, area/what: what scripts may look at.');
const remedy = described(text, 'What to do next.');
const resource = described(text, 'Kind/name of a manifest.');
const application = described(text, 'Application/name.');

const cause = described(
  literal('git', 'drift', 'git+drift', 'adopt', 'first-apply', 'prune', 'obligation', 'unknown'),
  'Why: the manifest changed, the platform moved, both, it is taken over, it is new, git no longer names it, it is owed by an earlier run, or nobody knows without a ledger.',
);

const fieldChange = objectOf('One field, before and after.', {
  path: described(text, "In the manifest's words: ports[8080].protocol."),
  'before?': { description: 'Absent: the object does not exist yet, or cannot be read.' },
  'after?': { description: 'Absent: it is removed.' },
  'lastApplied?': { description: 'What was last applied from here, where the ledger knows it.' },
  cause,
});

const action = objectOf('One request to the platform.', {
  id: described(text, 'Kind/name#step: stable while the same thing is wanted.'),
  resource,
  verb: literal('create', 'update', 'delete'),
  step: { type: 'object', required: ['type'], properties: { type: text }, description: "The kind's own step." },
  object: described(text, 'The object on the platform that it touches: port/<serviceId>/8080.'),
  summary: described(text, 'One line for people.'),
  changes: arrayOf(ref('FieldChange')),
  effects: described(arrayOf(text), 'What else it does on the platform.'),
  cause,
  after: described(arrayOf(text), 'Ids of actions that must be done first; always earlier in the plan.'),
  prune: described(trueOrFalse, 'Removes or closes what git no longer names.'),
  'takesAlong?': described(arrayOf(text), 'Other objects that it closes or removes too.'),
  'obligation?': { type: 'object', description: 'Fields changed only for a moment, and the values they get back.' },
  'continues?': described(text, 'Id of the action that it completes: the two of them are one change.'),
});

const deferred = objectOf('Waits for an id that only an install will give.', {
  resource,
  waitsFor: resource,
  desired: { description: "The manifest's spec." },
  summary: text,
});

const hold = objectOf('What is not done without a person.', {
  code,
  resource,
  message: text,
  remedy,
  changes: arrayOf(ref('FieldChange')),
  'untilMs?': described(time, 'It releases itself then. Milliseconds since 1970-01-01T00:00Z.'),
});

const note = objectOf('Worth saying, nothing to do.', {
  code,
  'resource?': resource,
  message: text,
  'changes?': arrayOf(ref('FieldChange')),
});

const wait = objectOf('A wish that is met but whose effect is awaited.', {
  resource,
  message: text,
  untilMs: time,
});

export const scopeSchema = objectOf('The application on the platform.', {
  platform: text,
  team: text,
  region: text,
  appId: count,
});

const planOfScope = {
  application,
  scope: scopeSchema,
  actions: described(arrayOf(ref('Action')), 'In a safe order.'),
  deferred: arrayOf(ref('DeferredAction')),
  holds: arrayOf(ref('Hold')),
  notes: arrayOf(ref('Note')),
  inSync: described(arrayOf(text), 'Resources that are as the manifests say.'),
  unchangedFields: described(count, 'Managed fields that are as desired, and therefore not listed.'),
};

export const planDigest = described(text, 'SHA-256 of what it does: two plans that do the same have one digest.');

const scopePlan = objectOf('What one application needs, in a safe order.', {
  ...planOfScope,
  digest: planDigest,
});

/** As it stands after a run: without a digest, for it is no plan to agree to. */
export const remainingPlan = objectOf('What is still to do.', planOfScope);

const unobserved = objectOf('An application that could not be read: nothing is known of it.', {
  application,
  code,
  disposition: literal('retry', 'invalid', 'ask-human', 'unreachable', 'locked', 'give-up'),
  message: text,
  remedy,
});

const refusal = objectOf('A guard that refused it: nothing is sent.', {
  code,
  message: text,
  override: described(text, 'The exact flag or setting that lets it through.'),
});

const planSummary = objectOf('How much of what.', {
  create: count,
  update: count,
  delete: count,
  deferred: count,
  held: count,
  inSync: count,
  unchangedFields: count,
});

const plan = objectOf('What a run would do.', {
  formatVersion: { type: 'integer', const: 1, description: 'Rises when a reader would misread it.' },
  source: described(text, 'Name of the origin of the manifests.'),
  revision: described(nullable(text), 'The commit; null for plain files.'),
  ledger: described(literal('known', 'none'), 'none: ownership and causes are not known.'),
  digest: planDigest,
  summary: ref('PlanSummary'),
  scopes: described(arrayOf(ref('ScopePlan')), 'One for each application.'),
  unobserved: arrayOf(ref('UnobservedScope')),
  refusals: arrayOf(ref('Refusal')),
  notes: described(arrayOf(ref('Note')), 'Of no application that was planned.'),
});

/** Those that plans are made of. */
export const planSchemas: Readonly<Record<string, JsonObject>> = {
  FieldChange: fieldChange,
  Action: action,
  DeferredAction: deferred,
  Hold: hold,
  Note: note,
  Wait: wait,
  ScopePlan: scopePlan,
  UnobservedScope: unobserved,
  Refusal: refusal,
  PlanSummary: planSummary,
  Plan: plan,
};
