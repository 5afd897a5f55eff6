import { resourceIdSchema as resource, scopeSchema } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import {
  type Action,
  type DeferredAction,
  type Hold,
  type Note,
  remainingPlanSchema,
  type Wait,
} from '../model/plan.ts';
import {
  arrayOf,
  count,
  described,
  literal,
  nullable,
  objectOf,
  oneOf,
  only,
  ref,
  type Schema,
  string,
  text,
  time,
  type TypeOf,
} from '../model/schema-words.ts';
import { planSchema, type PlanSummary, type UnobservedScope } from '../plan/document.ts';
import {
  applySchema,
  type Disagreement,
  disagreementSchema,
  exitCodeSchema,
  faultSchema,
  outcomeSchema,
  type ReportedError,
} from '../plan/report.ts';
import { actionResultSchema, endings, failureReasonSchema, type Refusal, skipReasonSchema } from '../plan/result.ts';
import { planSchemas } from '../plan/schema.ts';
import { answerSchema } from '../platform/verdict.ts';

/** The JSON Schemas of `-o json`, `yaml` and `jsonl`, as they are published in schemas/. */

const definitions: Readonly<Record<string, JsonObject>> = {
  ...planSchemas,
  Answer: answerSchema,
  FailureReason: failureReasonSchema,
  SkipReason: skipReasonSchema,
  ActionResult: actionResultSchema,
  RemainingPlan: remainingPlanSchema,
  Fault: faultSchema,
  Disagreement: disagreementSchema,
  Outcome: outcomeSchema,
};

const { source, revision, ledger, digest } = planSchema.properties;
const application = resource;
const atMs = described(time, 'When. Milliseconds since 1970-01-01T00:00Z.');
const lineSchema = oneOf('One line of -o jsonl. Pass over types and members that you do not know.', [
  objectOf('The first line.', {
    type: only('version'),
    formatVersion: { type: 'integer', const: 1 } as Schema<1>,
    portolan: string('Version of Portolan.'),
  }),
  objectOf('A plan begins.', { type: only('plan'), source, revision, ledger, digest }),
  objectOf('An application; what is planned for it follows.', {
    type: only('application'),
    application,
    scope: scopeSchema,
    digest,
    inSync: arrayOf(resource),
    unchangedFields: count,
  }),
  objectOf('Planned.', { type: only('action'), application, action: ref<Action>('Action') }),
  objectOf('To follow.', { type: only('deferred'), application, deferred: ref<DeferredAction>('DeferredAction') }),
  objectOf('Held.', { type: only('hold'), application, hold: ref<Hold>('Hold') }),
  objectOf('Worth saying.', { type: only('note'), application: nullable(application), note: ref<Note>('Note') }),
  objectOf('Could not be read.', { type: only('unobserved'), unobserved: ref<UnobservedScope>('UnobservedScope') }),
  objectOf('Refused by a guard.', { type: only('refusal'), refusal: ref<Refusal>('Refusal') }),
  objectOf('The plan is whole.', { type: only('summary'), summary: ref<PlanSummary>('PlanSummary') }),
  objectOf('An action is begun.', { type: only('started'), atMs, resource, action: text }),
  // Of several for one action the last counts.
  ...endings({ type: only('result'), resource, action: string('Id of the action.') }),
  objectOf('What became of a request of an earlier run.', {
    type: only('resolved'),
    atMs,
    resource,
    intent: text,
    how: text,
  }),
  objectOf('The run waits.', { type: only('waiting'), atMs, message: text, untilMs: time }),
  objectOf('How an application stands after the run.', {
    type: only('outcome'),
    application,
    outcome: literal('unobserved', 'refused', 'ended'),
    remaining: arrayOf(text, { description: 'Ids of actions that are still to do.' }),
    deferred: arrayOf(ref<DeferredAction>('DeferredAction')),
    holds: arrayOf(ref<Hold>('Hold')),
    waits: arrayOf(ref<Wait>('Wait')),
    'error?': ref<ReportedError>('Fault'),
  }),
  objectOf('The run is over; nothing follows.', {
    type: only('end'),
    exitCode: exitCodeSchema,
    'refused?': ref<Disagreement>('Disagreement'),
  }),
]);

/**
 * One line of `-o jsonl`. The first is always `version`. A reader passes over types and members that it does not know: new
 * ones do not raise `formatVersion`.
 */
export type PlanLine = TypeOf<typeof lineSchema>;

/** The schemas that are published, by the name of their file. */
export const reportSchemas: Readonly<Record<string, JsonObject>> = {
  'plan.schema.json': published('Plan', planSchema),
  'apply.schema.json': published('Result of an apply', applySchema),
  'plan-line.schema.json': published('Line of a plan or an apply', lineSchema),
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
