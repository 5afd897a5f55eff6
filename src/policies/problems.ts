import type { SpecProblem } from '../kinds/kind.ts';
import { problemAt, repeats } from '../kinds/problems.ts';
import { compile } from './compile.ts';
import type { PolicySpec } from './spec.ts';

const EXPECTED = 'a CEL expression that returns a bool';

/** Returns the problems of policies that the schema cannot detect: expressions and their types, and duplicate names. */
export function policyProblems(policies: readonly PolicySpec[]): readonly SpecProblem[] {
  return [
    ...repeats(policies.map(({ name }) => name)).flatMap(({ value, index }) =>
      problemAt(
        `spec.policies[${index}].name`,
        'settings/policy-name',
        `two policies are called ${value}`,
        'a unique name',
      ),
    ),
    ...policies.flatMap((policy, index): readonly SpecProblem[] => {
      const compiled = compile(policy);
      if (compiled.type === 'sound') return [];
      const { reason, at } = compiled;
      const path = `spec.policies[${index}].expression`;
      const message = `the expression of policy ${policy.name} has a fault: ${reason}`;
      return [
        { path, code: 'settings/policy-expression', message, expected: EXPECTED, hint: hintOf(policy, reason), at },
      ];
    }),
  ];
}

/** Returns a hint for a variable of the other subject. */
function hintOf({ subject }: PolicySpec, reason: string): string | undefined {
  const other = subject === 'manifest' ? 'plan' : 'manifest';
  return reason === `Unknown variable: ${other}`
    ? `set subject: ${other}, or use the variables of a ${subject}`
    : undefined;
}
