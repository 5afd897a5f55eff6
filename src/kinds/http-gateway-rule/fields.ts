import type { Json } from '../../model/json.ts';
import type { RuleRecord } from '../../model/observed.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/** One managed field of a rule: how the manifest says it and how, if at all, a server shows it. */
export interface RuleField {
  /** Name in `lastApplied` and in a step. */
  readonly name: string;
  /** Place in the manifest's spec. */
  readonly path: string;
  /** undefined: absent in the manifest, so not managed. */
  want(spec: HttpGatewayRuleSpec): Json | undefined;
  /** Missing: write-only, compared with what was last applied. Server defaults are normalised here, and only here. */
  readonly read?: (rule: RuleRecord) => Json | undefined;
}

const WEIGHT_DEFAULT = 100;

export const ruleFields: readonly RuleField[] = [
  { name: 'weight', path: 'weight', want: (spec) => spec.weight, read: (rule) => rule.weight ?? WEIGHT_DEFAULT },
  { name: 'cookie', path: 'cookie', want: (spec) => spec.cookie, read: (rule) => rule.cookie },
  { name: 'header', path: 'header', want: (spec) => spec.header, read: (rule) => rule.header },
  // 0 is how a server says "none".
  {
    name: 'certificateId',
    path: 'certificateId',
    want: (spec) => spec.certificateId,
    read: (rule) => rule.certificateId ?? 0,
  },
  { name: 'autoSsl', path: 'autoSsl.enabled', want: (spec) => spec.autoSsl?.enabled, read: (rule) => rule.autoSsl },
  {
    name: 'autoSslConfig',
    path: 'autoSsl.config',
    want: (spec) => spec.autoSsl?.config,
    read: (rule) => rule.autoSslConfig ?? '',
  },
  // Reading always gives []: it cannot be verified and must not be drift.
  { name: 'extensions', path: 'extensions', want: (spec) => json(spec.extensions) },
  { name: 'configuration', path: 'configuration', want: (spec) => json(spec.configuration) },
];

function json(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json);
}
