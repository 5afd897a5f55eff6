import { renderProblems, renderProblemsJson } from '../manifest/render.ts';
import type { Problem } from '../model/problem.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * Says on stderr what is wrong with the input of a command that wanted to do something else with it.
 * @returns the exit code to end with, or undefined when there is nothing wrong.
 */
export function reportProblems(problems: readonly Problem[], terminal: Terminal): ExitCode | undefined {
  if (problems.length === 0) return undefined;
  const { err } = terminal;
  err.write(`${renderProblems(problems, { color: err.color })}Nothing was done.\n`);
  return EXIT.invalid;
}

/** Problems that are the result itself: on stdout, in the format that was asked for. */
export function writeProblems(problems: readonly Problem[], output: 'text' | 'json', { out }: Terminal): void {
  out.write(output === 'json' ? renderProblemsJson(problems) : renderProblems(problems, { color: out.color }));
}
