import { parser } from '@prometheus-io/lezer-promql';

/** Returns the selectors of series in an expression, as Prometheus reads it: `up{job="a"}`. @throws Error where it is not PromQL. */
export function selectorsIn(expression: string): readonly string[] {
  const selectors: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (type.name === 'VectorSelector') selectors.push(expression.slice(from, to));
    },
  });
  return selectors;
}
