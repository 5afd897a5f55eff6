import { faultSchema } from '../model/errors.ts';
import { resourceIdSchema as resource, scopeSchema } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { remainingPlanSchema } from '../model/plan.ts';
import * as s from '../model/schema-words.ts';
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
  return s.ref<s.TypeOf<(typeof definitions)[Name]>>(name);
}

const { source, revision, ledger, digest } = planSchema.properties;
const application = resource;
const atMs = s.described(s.time, 'Time in milliseconds since 1970-01-01T00:00Z.');
const lineSchema = s.oneOf('One line of -o jsonl. Ignore unknown types and members.', [
  s.objectOf('The first line.', {
    type: s.only('version'),
    formatVersion: { type: 'integer', const: 1 } as s.Schema<1>,
    portolan: s.string('Version of Portolan.'),
  }),
  s.objectOf('The start of a plan.', { type: s.only('plan'), source, revision, ledger, digest }),
  s.objectOf('An application. The lines of its plan are next.', {
    type: s.only('application'),
    application,
    scope: scopeSchema,
    digest,
    inSync: s.arrayOf(resource),
    unchangedFields: s.count,
  }),
  s.objectOf('A planned action.', { type: s.only('action'), application, action: to('Action') }),
  s.objectOf('A deferred resource.', { type: s.only('deferred'), application, deferred: to('DeferredAction') }),
  s.objectOf('A hold.', { type: s.only('hold'), application, hold: to('Hold') }),
  s.objectOf('A note.', { type: s.only('note'), application: s.nullable(application), note: to('Note') }),
  s.objectOf('An application that could not be read.', {
    type: s.only('unobserved'),
    unobserved: to('UnobservedScope'),
  }),
  s.objectOf('The refusal of a guard.', { type: s.only('refusal'), refusal: to('Refusal') }),
  s.objectOf('The end of the plan.', { type: s.only('summary'), summary: to('PlanSummary') }),
  s.objectOf('The start of an action.', { type: s.only('started'), atMs, resource, action: s.text }),
  // The last one of several results of one action counts.
  ...endings({ type: s.only('result'), resource, action: s.string('Id of the action.') }),
  s.objectOf('The resolution of a request of an earlier run.', {
    type: s.only('resolved'),
    atMs,
    resource,
    intent: s.text,
    how: s.text,
  }),
  s.objectOf('The run is waiting.', { type: s.only('waiting'), atMs, message: s.text, untilMs: s.time }),
  s.objectOf('The status of an application after the run.', {
    type: s.only('outcome'),
    application,
    outcome: s.literal('unobserved', 'refused', 'ended'),
    remaining: s.arrayOf(s.text, { description: 'Ids of the remaining actions.' }),
    deferred: s.arrayOf(to('DeferredAction')),
    holds: s.arrayOf(to('Hold')),
    waits: s.arrayOf(to('Wait')),
    'error?': to('Fault'),
  }),
  s.objectOf('The end of the run, and the last line.', {
    type: s.only('end'),
    exitCode: exitCodeSchema,
    'refused?': to('Disagreement'),
  }),
]);

/**
 * One line of `-o jsonl`. The first line is always `version`. Readers ignore unknown types and members: new ones do not
 * raise `formatVersion`.
 */
export type PlanLine = s.TypeOf<typeof lineSchema>;

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
