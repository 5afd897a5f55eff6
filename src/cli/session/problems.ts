import packageFile from '../../../package.json' with { type: 'json' };
import { renderProblems, renderProblemsJson } from '../../manifest/render.ts';
import type { Problem } from '../../model/problem.ts';
import { unreachable } from '../../model/unreachable.ts';
import { own } from '../terminal/guarded.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { count } from '../terminal/text.ts';

/** How faults of manifests are written where they are the result itself. */
export const PROBLEM_FORMATS = ['text', 'json', 'github', 'sarif', 'junit'] as const;
export type ProblemFormat = (typeof PROBLEM_FORMATS)[number];

/**
 * Says on stderr what is wrong with the input of a command that wanted to do something else with it.
 * @returns the exit code to end with, or undefined when there is nothing wrong.
 */
export function reportProblems(problems: readonly Problem[], terminal: Terminal): ExitCode | undefined {
  if (problems.length === 0) return undefined;
  const { err } = terminal;
  err.write(`${own(err, renderProblems(problems, { color: err.color }))}Nothing was done.\n`);
  return EXIT.invalid;
}

/** @param resources what was found good: `junit` names each, for a report of faults alone would look like one of no tests. */
export async function renderProblemsAs(
  format: ProblemFormat,
  problems: readonly Problem[],
  resources: readonly string[],
  color = false,
): Promise<string> {
  switch (format) {
    case 'text':
      return renderProblems(problems, { color });
    case 'json':
      return renderProblemsJson(problems);
    case 'github': {
      const [{ renderGithub }, { problemFindings }] = await Promise.all([
        import('../../report/github.ts'),
        import('../../report/findings.ts'),
      ]);
      const summary =
        problems.length === 0 ? count(resources.length, 'valid resource') : count(problems.length, 'fault');
      return renderGithub(problemFindings(problems), summary);
    }
    case 'sarif': {
      const [{ renderSarif }, { problemFindings }] = await Promise.all([
        import('../../report/sarif.ts'),
        import('../../report/findings.ts'),
      ]);
      return renderSarif(problemFindings(problems), { version: packageFile.version, run: 'validate' });
    }
    case 'junit': {
      const { problemSuites, renderJunit } = await import('../../report/junit.ts');
      return renderJunit(problemSuites(problems, resources));
    }
    default:
      return unreachable(format);
  }
}
