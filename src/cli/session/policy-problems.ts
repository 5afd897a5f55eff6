import { sortProblems } from '../../manifest/fault.ts';
import { groupByApplication } from '../../manifest/group.ts';
import type { Problem } from '../../model/problem.ts';
import type { Resource } from '../../model/resource.ts';
import { evaluatePolicies } from '../../policies/evaluate.ts';
import type { PolicyResult } from '../../policies/spec.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Input } from './input.ts';

/**
 * Returns the manifests that a policy of Settings denies, or warns about, as problems at the start of their documents.
 * Policies for plans are not evaluated.
 */
export function manifestPolicyProblems(
  { configuration, desired }: Pick<Input, 'configuration' | 'desired'>,
  clock: Pick<Clock, 'monotonic'>,
): readonly Problem[] {
  const policies = configuration.settings.policies.filter(({ subject }) => subject === 'manifest');
  if (policies.length === 0) return [];
  const problems = groupByApplication(desired).flatMap(({ application, resources }) =>
    evaluatePolicies({ policies, manifests: [application, ...resources] }, clock).map((result) =>
      // Nothing that is denied may pass as valid, whatever the result refers to.
      problemOf(result, desired.get(result.resource ?? application.id) ?? application),
    ),
  );
  return sortProblems(problems);
}

function problemOf({ policy, action, message, isError }: PolicyResult, { id, position }: Resource): Problem {
  const facts = { position, resource: id, path: '' };
  if (action === 'warn')
    return { ...facts, severity: 'warning', code: 'policy/warning', message: `policy "${policy}": ${message}` };
  const hint = `correct policy "${policy}" in spec.policies of Settings: an expression that cannot be evaluated denies`;
  const denied = { ...facts, code: 'policy/denied', message: `policy "${policy}" denies it: ${message}` };
  return isError ? { ...denied, hint } : denied;
}
