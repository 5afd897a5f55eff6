import { decodePlacedRules, decodeRule, decodeRules, type PlacedRule, type RuleRecord } from './wire.ts';
import type { Expected, Reading } from '../../model/reading.ts';

export { listCertificates } from '../../platform/readings.ts';

const FIELDS = ['http_rule_id', 'domain_name', 'container_port'];
const RULES: Expected = { noun: 'a list of gateway rules', fields: FIELDS };

/** The rules of every application: the only listing that shows extensions, and what stands on a domain and path. */
export const listAllRules: Reading<readonly PlacedRule[]> = {
  operation: 'listAllRules',
  below: 'platform',
  segments: ['httpdomains'],
  decode: decodePlacedRules,
  expected: RULES,
  isExtended: true,
  // A server that lists one application's rules may refuse those of everybody, or hold one that nobody can read.
  mayBeRefused: true,
};

/** The rules of the application. */
export const listRules: Reading<readonly RuleRecord[]> = {
  operation: 'listRules',
  segments: ['httpdomains'],
  decode: decodeRules,
  expected: RULES,
  isExtended: true,
  shared: {
    by: listAllRules,
    split: (all: readonly PlacedRule[], key) =>
      new Map([...Map.groupBy(all, key)].map(([scope, placed]) => [scope, placed.map(({ rule }) => rule)])),
    none: [],
  },
};

/** One rule by its id; undefined: there is none. The 404 is an absence where the server is known to have the address. */
export function getRule(ruleId: string): Reading<RuleRecord | undefined> {
  return {
    operation: 'getRule',
    segments: ['httpdomains', ruleId],
    decode: decodeRule,
    expected: { noun: 'a gateway rule', fields: FIELDS },
    isRecord: true,
    needs: { listing: listRules },
    otherwise: ({ status, code, isDenial }, isProved) => {
      if (status === 404 && (code === 1404 || (isProved && isDenial))) return { readable: true, value: undefined };
      return !isProved && isDenial ? { readable: false } : undefined;
    },
  };
}
