import type { SpecProblem } from '../kind.ts';
import type { ServerSettings } from './server-spec.ts';

const PORT_MAX = 65_535;

export function serverProblems({ listen, tokens, webhooks }: ServerSettings): readonly SpecProblem[] {
  const path = 'spec.server';
  const port = Number(listen.slice(listen.lastIndexOf(':') + 1));
  const badPort: readonly SpecProblem[] =
    port <= PORT_MAX
      ? []
      : [
          {
            code: 'settings/listen',
            path: `${path}.listen`,
            message: `there is no port ${port}`,
            expected: `a port from 0 to ${PORT_MAX}`,
          },
        ];
  return [...badPort, ...doubles(tokens, `${path}.tokens`), ...doubles(webhooks, `${path}.webhooks`)];
}

/** A name says who did something, or which sender is meant, so it stands for one only. */
function doubles(named: readonly { readonly name: string }[], path: string): readonly SpecProblem[] {
  const seen = new Set<string>();
  return named.flatMap(({ name }, at): readonly SpecProblem[] => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      {
        code: 'settings/double-name',
        path: `${path}[${at}].name`,
        message: `the name ${name} stands here a second time`,
        expected: 'a name of its own for each',
      },
    ];
  });
}
