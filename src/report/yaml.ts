import { stringify } from 'yaml';
import { plainJson } from '../model/json.ts';
import { type PlanReport, reportDocument } from '../plan/report.ts';

/**
 * The value of `json` as YAML. Every text stands in quotes, so that no reader, of 1.1 or of 1.2, takes one for something
 * else; and each action is written out wherever it is named.
 */
export function renderYaml(report: PlanReport): string {
  return stringify(plainJson(reportDocument(report)), {
    aliasDuplicateObjects: false,
    defaultKeyType: 'PLAIN',
    defaultStringType: 'QUOTE_DOUBLE',
    lineWidth: 0,
  });
}
