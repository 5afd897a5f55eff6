import { stringify } from 'yaml';
import { plainJson } from '../model/json.ts';
import { type PlanReport, reportDocument } from '../plan/report.ts';

/**
 * Returns the value of `-o json` as YAML. Every text is in quotes, so that readers of YAML 1.1 and 1.2 agree about it, and
 * there are no aliases.
 */
export function renderYaml(report: PlanReport): string {
  return stringify(plainJson(reportDocument(report)), {
    aliasDuplicateObjects: false,
    defaultKeyType: 'PLAIN',
    defaultStringType: 'QUOTE_DOUBLE',
    lineWidth: 0,
  });
}
