import packageFile from '../../../package.json' with { type: 'json' };
import { renderProblems, renderProblemsJson } from '../../manifest/render.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Output } from '../terminal/terminal.ts';
import { count } from '../terminal/text.ts';

/** Lists the formats of problems where they are the result of a command. */
export const PROBLEM_FORMATS = ['text', 'json', 'github', 'gitlab', 'sarif', 'junit'] as const;
export type ProblemFormat = (typeof PROBLEM_FORMATS)[number];

/** Ends a command whose input has faults. `reportError` shows every fault. */
export class FaultyInput extends PortolanError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super({
      code: 'input/faulty',
      disposition: 'invalid',
      message: `The input has ${count(problems.length, 'fault')}. Nothing was done.`,
      remedy: 'Correct the faults; portolan validate shows each with its position.',
    });
    this.problems = problems;
  }
}

/** Returns what `renderProblems` needs to know of an output. */
export function screenOf({ color, isTerminal, columns }: Output) {
  return { color, columns: isTerminal ? columns : undefined };
}

/** @throws FaultyInput where there are problems. */
export function refuseFaults(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new FaultyInput(problems);
}

/**
 * Formats the problems of manifests.
 * @param resources valid resources: `junit` lists each, because a report of faults alone would look like one without
 * tests.
 */
export async function renderProblemsAs(
  format: ProblemFormat,
  problems: readonly Problem[],
  resources: readonly string[],
  output?: Output,
): Promise<string> {
  switch (format) {
    case 'text':
      return renderProblems(problems, output === undefined ? { color: false } : screenOf(output));
    case 'json':
      return renderProblemsJson(problems);
    case 'github': {
      const [{ renderGithub }, { problemFindings }] = await Promise.all([
        import('../../report/github.ts'),
        import('../../report/findings.ts'),
      ]);
      const faults = problems.filter(({ severity }) => severity !== 'warning').length;
      const summary = faults === 0 ? count(resources.length, 'valid resource') : count(faults, 'fault');
      return renderGithub(problemFindings(problems), summary);
    }
    case 'gitlab': {
      const [{ renderGitlab }, { problemFindings }] = await Promise.all([
        import('../../report/gitlab.ts'),
        import('../../report/findings.ts'),
      ]);
      return renderGitlab(problemFindings(problems));
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
