import type { SourceProblem } from '../../model/status.ts';

/** Faults in files, each with its file, line and column. */
export function ProblemPlaces({ problems }: { readonly problems: readonly SourceProblem[] }) {
  return (
    <ul class="places">
      {problems.map(({ file, line, column, code, message }) => (
        <li key={`${file}:${line}:${column} ${code}`}>
          <code>
            {file}:{line}:{column}
          </code>{' '}
          {message} <span class="code">{code}</span>
        </li>
      ))}
    </ul>
  );
}
