import type { JsonObject } from '../model/json.ts';
import { arrayOf, count, described, literal, nullable, objectOf, ref, text, time } from '../model/schema-words.ts';
import type { PlanLine } from './jsonl.ts';
import type { ActionResult } from '../plan/result.ts';
import { planDigest, planSchemas, remainingPlan, scopeSchema } from '../plan/schema.ts';

/** The JSON Schemas of `-o json`, `yaml` and `jsonl`, as they are published in schemas/. */

function only(value: string): JsonObject {
  return { type: 'string', const: value };
}

function oneOf(description: string, alternatives: readonly JsonObject[]): JsonObject {
  return { description, oneOf: alternatives };
}

const answer = objectOf('What the platform answered, in a few safe words.', {
  'status?': described(count, 'Absent: no answer came.'),
  'code?': { type: 'integer' },
  message: text,
});

const reason = oneOf('Why it failed, as far as a caller would react differently.', [
  objectOf(
    'The platform refused it, it is there already, it could not be sent, or it was accepted and changed nothing.',
    {
      type: literal('refused', 'exists', 'not-sent', 'not-taken'),
    },
  ),
  objectOf('Too many requests.', { type: only('throttled'), retryAfterMs: nullable({ type: 'number' }) }),
  objectOf('Nothing more was sent for this application.', {
    type: only('stop-scope'),
    why: literal('credentials', 'region-not-ready', 'unsent'),
  }),
]);

const because = oneOf('Why it was not begun.', [
  objectOf('It needs an action that was not done.', { type: only('behind'), action: text }),
  objectOf('Nothing more was sent for this application.', { type: only('scope-stopped'), by: text }),
  objectOf('The application was suspended, or its window closed, in the middle.', { type: only('paused'), by: text }),
  objectOf('A signal, or --fail-fast.', { type: literal('interrupted', 'fail-fast') }),
]);

/** The members of each way an action can end, besides those that say which action. */
const ENDINGS: Readonly<Record<ActionResult['status'], Readonly<Record<string, JsonObject>>>> = {
  done: { answer: ref('Answer') },
  failed: { answer: ref('Answer'), request: text, reason: ref('FailureReason'), remedy: text },
  'in-doubt': {
    answer: ref('Answer'),
    request: text,
    intent: text,
    untilMs: described(time, 'It can still arrive until then. Milliseconds since 1970-01-01T00:00Z.'),
    scopeUntilMs: described(
      time,
      'Other changes of its application are sent from then on. Milliseconds since 1970-01-01T00:00Z.',
    ),
  },
  skipped: { because: ref('SkipReason') },
};

const DESCRIPTIONS: Readonly<Record<ActionResult['status'], string>> = {
  done: 'It was done.',
  failed: 'It was not done.',
  'in-doubt': 'It was sent, and nobody knows yet.',
  skipped: 'It was not begun.',
};

/** One alternative for each way an action can end, with these members before its own. */
function endings(members: Readonly<Record<string, JsonObject>>): readonly JsonObject[] {
  return Object.entries(ENDINGS).map(([status, rest]) =>
    objectOf(DESCRIPTIONS[status as ActionResult['status']], { ...members, status: only(status), ...rest }),
  );
}

const fault = objectOf('An error, and what to do next.', {
  code: text,
  disposition: literal('retry', 'invalid', 'ask-human', 'unreachable', 'locked', 'give-up'),
  message: text,
  remedy: text,
});

const outcome = oneOf('How one application stands after the run.', [
  objectOf('Nothing is known of it and nothing was sent.', {
    type: only('unobserved'),
    application: text,
    error: ref('Fault'),
  }),
  objectOf('A guard refused its plan: nothing was sent.', {
    type: only('refused'),
    application: text,
    plan: ref('RemainingPlan'),
    refusals: arrayOf(ref('Refusal')),
  }),
  objectOf('It was worked on.', {
    type: only('ended'),
    application: text,
    results: arrayOf(ref('ActionResult')),
    waits: arrayOf(ref('Wait')),
    rounds: described(count, 'How often it was looked at and planned anew.'),
    remaining: ref('RemainingPlan'),
    'error?': described(ref('Fault'), 'It was left in the middle.'),
  }),
]);

const disagreement = objectOf('The plan is not the one that was agreed to: nothing was sent.', {
  code: text,
  disposition: literal('retry', 'invalid', 'ask-human', 'unreachable', 'locked', 'give-up'),
  message: text,
  remedy: text,
  expected: described(text, 'Digest of the plan that was agreed to.'),
  now: described(text, 'Digest of the plan of now.'),
  'difference?': { type: 'object', description: 'What is in one of them only, or differs.' },
});

const exitCode = described(count, 'What the command ends with.');

const applyDocument = objectOf('A plan, and what became of it.', {
  formatVersion: { type: 'integer', const: 1, description: 'Rises when a reader would misread it.' },
  exitCode,
  plan: ref('Plan'),
  outcomes: described(arrayOf(ref('Outcome')), 'None: nothing was begun for any application.'),
  'refused?': ref('Disagreement'),
});

const definitions: Readonly<Record<string, JsonObject>> = {
  ...planSchemas,
  Answer: answer,
  FailureReason: reason,
  SkipReason: because,
  ActionResult: oneOf('How one action ended.', endings({ action: ref('Action') })),
  RemainingPlan: remainingPlan,
  Fault: fault,
  Disagreement: disagreement,
  Outcome: outcome,
};

const plan = planSchemas['Plan'] as JsonObject;
const members = plan['properties'] as Readonly<Record<string, JsonObject>>;

function member(name: string): JsonObject {
  return members[name] as JsonObject;
}

const atMs = described(time, 'When. Milliseconds since 1970-01-01T00:00Z.');

/** What a line has besides its `type`; several where it has several shapes. */
const LINES: Readonly<Record<PlanLine['type'], readonly JsonObject[]>> = {
  version: [
    line('version', 'The first line.', {
      formatVersion: { type: 'integer', const: 1 },
      portolan: described(text, 'Version of Portolan.'),
    }),
  ],
  plan: [
    line('plan', 'A plan begins.', {
      source: member('source'),
      revision: member('revision'),
      ledger: member('ledger'),
      digest: planDigest,
    }),
  ],
  application: [
    line('application', 'An application; what is planned for it follows.', {
      application: text,
      scope: scopeSchema,
      digest: planDigest,
      inSync: arrayOf(text),
      unchangedFields: count,
    }),
  ],
  action: [line('action', 'Planned.', { application: text, action: ref('Action') })],
  deferred: [line('deferred', 'To follow.', { application: text, deferred: ref('DeferredAction') })],
  hold: [line('hold', 'Held.', { application: text, hold: ref('Hold') })],
  note: [line('note', 'Worth saying.', { application: nullable(text), note: ref('Note') })],
  unobserved: [line('unobserved', 'Could not be read.', { unobserved: ref('UnobservedScope') })],
  refusal: [line('refusal', 'Refused by a guard.', { refusal: ref('Refusal') })],
  summary: [line('summary', 'The plan is whole.', { summary: ref('PlanSummary') })],
  started: [line('started', 'An action is begun.', { atMs, resource: text, action: text })],
  result: endings({ type: only('result'), resource: text, action: described(text, 'Id of the action.') }),
  resolved: [
    line('resolved', 'What became of a request of an earlier run.', { atMs, resource: text, intent: text, how: text }),
  ],
  waiting: [line('waiting', 'The run waits.', { atMs, message: text, untilMs: time })],
  outcome: [
    line('outcome', 'How an application stands after the run.', {
      application: text,
      outcome: literal('unobserved', 'refused', 'ended'),
      remaining: described(arrayOf(text), 'Ids of actions that are still to do.'),
      deferred: arrayOf(ref('DeferredAction')),
      holds: arrayOf(ref('Hold')),
      waits: arrayOf(ref('Wait')),
      'error?': ref('Fault'),
    }),
  ],
  end: [line('end', 'The run is over; nothing follows.', { exitCode, 'refused?': ref('Disagreement') })],
};

function line(type: PlanLine['type'], description: string, rest: Readonly<Record<string, JsonObject>>): JsonObject {
  return objectOf(description, { type: only(type), ...rest });
}

/** The schemas that are published, by the name of their file. */
export const reportSchemas: Readonly<Record<string, JsonObject>> = {
  'plan.schema.json': published('Plan', plan),
  'apply.schema.json': published('Result of an apply', applyDocument),
  'plan-line.schema.json': published(
    'Line of a plan or an apply',
    oneOf('One line of -o jsonl. Pass over types and members that you do not know.', Object.values(LINES).flat()),
  ),
};

/** A schema that stands alone: with the definitions that it needs, and no others. */
function published(title: string, schema: JsonObject): JsonObject {
  const needed = new Set<string>();
  const collect = (value: JsonObject): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (needed.has(name)) continue;
      needed.add(name);
      collect(definitions[name] as JsonObject);
    }
  };
  collect(schema);
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...schema,
    $defs: Object.fromEntries([...needed].sort().map((name) => [name, definitions[name]])),
  };
  return JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')) as JsonObject;
}
