/** What must not be wrong: files whose branches are all covered and whose mutants nearly all die, with the tests that do it. */
export interface QualityPart {
  readonly name: string;
  readonly files: readonly string[];
  /** Only these run, so that a mutant costs a fraction of a second. */
  readonly tests: readonly string[];
}

export const QUALITY_PARTS: readonly QualityPart[] = [
  {
    name: 'journal',
    files: ['apply-plan', 'execute', 'journal', 'remedies', 'resolve', 'settle'].map(
      (name) => `src/reconcile/apply/${name}.ts`,
    ),
    tests: ['test/apply/*.test.ts'],
  },
  {
    name: 'classifier',
    files: ['src/platform/classifier.ts'],
    tests: ['test/platform/classifier*.test.ts'],
  },
  {
    name: 'guards',
    files: ['src/plan/guard.ts'],
    tests: ['test/plan/guard.test.ts'],
  },
  {
    name: 'redaction',
    files: [
      'src/model/secret.ts',
      'src/model/text.ts',
      'src/platform/answer.ts',
      'src/manifest/secrets.ts',
      'src/cli/session/redaction.ts',
      'src/cli/session/secrets.ts',
    ],
    tests: [
      'test/model/secret.test.ts',
      'test/model/text.test.ts',
      'test/platform/answer.test.ts',
      'test/manifest/secrets.test.ts',
      'test/cli/redaction.test.ts',
    ],
  },
];

/** The parts that `npm run quality` was asked for; the worker processes hear of it through the environment. */
export function chosenParts(): readonly QualityPart[] {
  const names = process.env.PORTOLAN_QUALITY_PARTS?.split(',');
  return names === undefined ? QUALITY_PARTS : QUALITY_PARTS.filter(({ name }) => names.includes(name));
}
