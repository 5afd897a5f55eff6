import { faultSchema } from '../model/errors.ts';
import { resourceIdSchema as resource, scopeSchema } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { remainingPlanSchema } from '../model/plan.ts';
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
import { planSchema, planSchemas } from '../plan/document.ts';
import { applySchema, disagreementSchema, exitCodeSchema, outcomeSchema } from '../plan/report.ts';
import { actionResultSchema, endings, failureReasonSchema, skipReasonSchema } from '../plan/result.ts';
import { answerSchema } from '../platform/verdict.ts';

/** The JSON Schemas of `-o json`, `yaml` and `jsonl`, as they are published in schemas/. */

const definitions = {
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

/** Returns a reference to a definition, with the type of its values. */
function to<const Name extends keyof typeof definitions>(name: Name) {
  return ref<TypeOf<(typeof definitions)[Name]>>(name);
}

const { source, revision, ledger, digest } = planSchema.properties;
const application = resource;
const atMs = described(time, 'Time in milliseconds since 1970-01-01T00:00Z.');
const lineSchema = oneOf('One line of -o jsonl. Ignore unknown types and members.', [
  objectOf('The first line.', {
    type: only('version'),
    formatVersion: { type: 'integer', const: 1 } as Schema<1>,
    portolan: string('Version of Portolan.'),
  }),
  objectOf('The start of a plan.', { type: only('plan'), source, revision, ledger, digest }),
  objectOf('An application. The lines of its plan are next.', {
    type: only('application'),
    application,
    scope: scopeSchema,
    digest,
    inSync: arrayOf(resource),
    unchangedFields: count,
  }),
  objectOf('A planned action.', { type: only('action'), application, action: to('Action') }),
  objectOf('A deferred resource.', { type: only('deferred'), application, deferred: to('DeferredAction') }),
  objectOf('A hold.', { type: only('hold'), application, hold: to('Hold') }),
  objectOf('A note.', { type: only('note'), application: nullable(application), note: to('Note') }),
  objectOf('An application that could not be read.', { type: only('unobserved'), unobserved: to('UnobservedScope') }),
  objectOf('The refusal of a guard.', { type: only('refusal'), refusal: to('Refusal') }),
  objectOf('The end of the plan.', { type: only('summary'), summary: to('PlanSummary') }),
  objectOf('The start of an action.', { type: only('started'), atMs, resource, action: text }),
  // The last one of several results of one action counts.
  ...endings({ type: only('result'), resource, action: string('Id of the action.') }),
  objectOf('The resolution of a request of an earlier run.', {
    type: only('resolved'),
    atMs,
    resource,
    intent: text,
    how: text,
  }),
  objectOf('The run is waiting.', { type: only('waiting'), atMs, message: text, untilMs: time }),
  objectOf('The status of an application after the run.', {
    type: only('outcome'),
    application,
    outcome: literal('unobserved', 'refused', 'ended'),
    remaining: arrayOf(text, { description: 'Ids of the remaining actions.' }),
    deferred: arrayOf(to('DeferredAction')),
    holds: arrayOf(to('Hold')),
    waits: arrayOf(to('Wait')),
    'error?': to('Fault'),
  }),
  objectOf('The end of the run, and the last line.', {
    type: only('end'),
    exitCode: exitCodeSchema,
    'refused?': to('Disagreement'),
  }),
]);

/**
 * One line of `-o jsonl`. The first line is always `version`. Readers ignore unknown types and members: new ones do not
 * raise `formatVersion`.
 */
export type PlanLine = TypeOf<typeof lineSchema>;

/** The published schemas, by the name of their file. */
export const reportSchemas: Readonly<Record<string, JsonObject>> = {
  'plan.schema.json': published('Plan', planSchema),
  'apply.schema.json': published('Result of an apply', applySchema),
  'plan-line.schema.json': published('Line of a plan or an apply', lineSchema),
};

/** Returns a schema with the definitions that it needs, and no others. */
function published(title: string, schema: JsonObject): JsonObject {
  const needed = new Set<string>();
  const collect = (value: JsonObject): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (needed.has(name)) continue;
      needed.add(name);
      collect(definitions[name as keyof typeof definitions]);
    }
  };
  collect(schema);
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...schema,
    $defs: Object.fromEntries([...needed].sort().map((name) => [name, definitions[name as keyof typeof definitions]])),
  };
  return JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')) as JsonObject;
}
