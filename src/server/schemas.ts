import type { JsonObject } from '../model/json.ts';
import { ledgerSchemas } from '../model/owned.ts';
import { manifestProblemSchema } from '../model/problem.ts';
import { arrayOf, count, literal, objectOf, text, trueOrFalse } from '../model/schema-words.ts';
import { statusSchemas } from '../model/status.ts';
import { planSchemas } from '../plan/schema.ts';
import { problemDetailsSchema } from './problem.ts';

/** `components.schemas` of the document. Objects name every field, so that nothing unforeseen is ever shown. */
export const schemas: Readonly<Record<string, JsonObject>> = {
  ...statusSchemas,
  ...ledgerSchemas,
  ProblemDetails: problemDetailsSchema,
  ManifestProblem: manifestProblemSchema,
  Healthy: objectOf('It lives.', { status: literal('ok'), lagMs: count }),
  Readiness: objectOf('Whether it does its work, and if not, why.', {
    ready: trueOrFalse,
    reasons: arrayOf(text),
  }),
  ...planSchemas,
};
