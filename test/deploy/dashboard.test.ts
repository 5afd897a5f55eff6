/** The variables of the dashboard for Grafana, and that every panel uses them. */
import { expect, test } from 'vitest';
import { read } from './chart.ts';
import type { Part } from './kubernetes.ts';
import { selectorsIn } from './promql.ts';

const dashboard = JSON.parse(read('monitoring', 'grafana-dashboard.json')) as Part;
const variables = new Map<string, Part>(dashboard.templating.list.map((one: Part) => [one.name, one]));
const FILTER = ['job=~"$job"', 'namespace=~"$namespace"'] as const;

/** Returns the selectors of an expression that mix the series of other jobs or namespaces in. */
const mixing = (expression: string): readonly string[] =>
  selectorsIn(expression.replaceAll('$__rate_interval', '5m')).filter((selector) => {
    const matchers = /\{(.*)\}$/.exec(selector)?.[1]?.split(/, */) ?? [];
    return !FILTER.every((matcher) => matchers.includes(matcher));
  });

test('every expression of the dashboard has the filter of job and namespace', () => {
  const expressions = (dashboard.panels as readonly Part[]).flatMap(({ targets }) =>
    targets.map(({ expr }: Part) => expr as string),
  );
  expect(expressions.length).toBeGreaterThan(20);
  expect(expressions.flatMap(mixing)).toEqual([]);
  const both = FILTER.join(', ');
  expect(mixing(`rate(process_cpu_seconds_total{${both}}[5m]) / up{${both}, instance="a"}`)).toEqual([]);
  for (const wrong of ['up', 'up{job=~"$job"}', `up{${both}} + process_resident_memory_bytes`, 'up{job="$job"}'])
    expect(mixing(wrong), wrong).toHaveLength(1);
});

test('the variables of the dashboard are a data source, and the jobs and namespaces of Portolan', () => {
  expect([...variables.keys()]).toEqual(['datasource', 'namespace', 'job']);
  expect(variables.get('datasource')).toMatchObject({ type: 'datasource', query: 'prometheus' });
  for (const name of ['namespace', 'job']) {
    const { query, definition, ...rest } = variables.get(name);
    expect(rest).toMatchObject({ type: 'query', multi: true, includeAll: true, datasource: { uid: '${datasource}' } });
    expect(query.query).toBe(definition);
    const [, series = '', label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
    expect(label).toBe(name);
    expect(selectorsIn(series)[0]).toMatch(/^portolan_build_info\b/);
  }
  // Outside of Kubernetes, there is no label namespace; a pattern that matches nothing keeps such series. For jobs, "All" is the list.
  expect(variables.get('namespace').allValue).toBe('.*');
  expect(variables.get('job').allValue).toBeUndefined();
});
