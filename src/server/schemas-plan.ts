import type { JsonObject } from '../model/json.ts';
import { arrayOf, count, literal, nullable, objectOf, ref, text, time, trueOrFalse } from './schema-words.ts';

const cause = literal('git', 'drift', 'git+drift', 'adopt', 'first-apply', 'prune', 'obligation', 'unknown');

const fieldChange = objectOf(
  'One field, before and after.',
  { path: text, before: {}, after: {}, lastApplied: {}, cause },
  ['before', 'after', 'lastApplied'],
);

const action = objectOf(
  'One request to the platform.',
  {
    id: text,
    resource: text,
    verb: literal('create', 'update', 'delete'),
    step: { type: 'object', required: ['type'], properties: { type: text } },
    object: text,
    summary: text,
    changes: arrayOf(ref('FieldChange')),
    effects: arrayOf(text),
    cause,
    after: arrayOf(text),
    prune: trueOrFalse,
    takesAlong: arrayOf(text),
    obligation: { type: 'object' },
  },
  ['takesAlong', 'obligation'],
);

const deferred = objectOf('Waits for an id that only an install will give.', {
  resource: text,
  waitsFor: text,
  desired: {},
  summary: text,
});

const hold = objectOf(
  'What is not done without a person.',
  { code: text, resource: text, message: text, remedy: text, changes: arrayOf(ref('FieldChange')), untilMs: time },
  ['untilMs'],
);

const note = objectOf(
  'Worth saying, nothing to do.',
  { code: text, resource: text, message: text, changes: arrayOf(ref('FieldChange')) },
  ['resource', 'changes'],
);

const wait = objectOf('A wish that is met but whose effect is awaited.', {
  resource: text,
  message: text,
  untilMs: time,
});

const scopePlan = objectOf('What one application needs, in a safe order.', {
  application: text,
  scope: objectOf('The application on the platform.', { platform: text, team: text, region: text, appId: count }),
  actions: arrayOf(ref('Action')),
  deferred: arrayOf(ref('DeferredAction')),
  holds: arrayOf(ref('Hold')),
  notes: arrayOf(ref('Note')),
  inSync: arrayOf(text),
  unchangedFields: count,
  digest: text,
});

const plan = objectOf('What a run would do.', {
  formatVersion: { type: 'integer', const: 1 },
  source: text,
  revision: nullable(text),
  ledger: literal('known', 'none'),
  digest: text,
  summary: objectOf('How much of what.', {
    create: count,
    update: count,
    delete: count,
    deferred: count,
    held: count,
    inSync: count,
    unchangedFields: count,
  }),
  scopes: arrayOf(ref('ScopePlan')),
  unobserved: arrayOf(
    objectOf('An application that could not be read.', {
      application: text,
      code: text,
      disposition: literal('retry', 'invalid', 'ask-human', 'unreachable', 'locked', 'give-up'),
      message: text,
      remedy: text,
    }),
  ),
  refusals: arrayOf(objectOf('A guard that refused it.', { code: text, message: text, override: text })),
  notes: arrayOf(ref('Note')),
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
  Plan: plan,
};
