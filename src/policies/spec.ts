import { NAME, ONE_LINE } from '../kinds/schema.ts';
import type { ResourceId } from '../model/ids.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { Resource } from '../model/resource.ts';
import { arrayOf, choice, objectOf, string, type TypeOf } from '../model/schema-words.ts';

/** Maximum number of characters of an expression. */
const EXPRESSION_LENGTH_MAX = 8192;

const policySchema = objectOf('A policy: an expression that is true for everything that it allows.', {
  name: string('Name in messages, status and events.', NAME),
  subject: choice(
    'manifest: each manifest, with the variables manifest and siblings. plan: the plan of each application that has changes, with the variables plan and siblings.',
    ['manifest', 'plan'],
    { default: 'manifest' },
  ),
  expression: string(
    'CEL expression. manifest has apiVersion, kind, metadata and spec, with defaults. siblings are the other manifests of the same application, for a plan all of them. plan is the document that portolan plan -o json --target APP prints.',
    { minLength: 1, maxLength: EXPRESSION_LENGTH_MAX },
  ),
  message: string('Reason and remedy for the author of the manifest, without a full stop at the end.', {
    minLength: 1,
    maxLength: 1024,
    ...ONE_LINE,
  }),
  action: choice(
    'Reaction to a false expression. deny: the manifest is invalid, and nothing is sent for its application. warn: it is only reported. An expression that cannot be evaluated always denies.',
    ['deny', 'warn'],
    { default: 'deny' },
  ),
});

/** One policy of the operator. */
export type PolicySpec = TypeOf<typeof policySchema>;

/** JSON Schema of `spec.policies` of Settings. */
export const policiesSchema = arrayOf(policySchema, {
  maxItems: 200,
  default: [],
  description: 'Rules for manifests and plans in CEL, the Common Expression Language.',
});

/** Manifests of one application, and the plan that they lead to. Plain data, so that it can be sent to another thread. */
export interface PolicyQuestion {
  readonly policies: readonly PolicySpec[];
  /** The Application and all others. */
  readonly manifests: readonly Resource[];
  /** The plan of this application alone. Absent: only policies for manifests are evaluated. */
  readonly plan?: PlanDocument | undefined;
}

/** A policy that does not allow a manifest or a plan, or that cannot be evaluated. */
export interface PolicyResult {
  readonly policy: string;
  readonly action: PolicySpec['action'];
  /** The denied manifest; undefined for a plan. */
  readonly resource: ResourceId | undefined;
  readonly message: string;
  /** Whether the expression could not be evaluated. */
  readonly isError: boolean;
}
