import { decodePlacedRules, decodeRule, decodeRules, type PlacedRule, type RuleRecord } from './wire.ts';
import type { Expected, Reading } from '../../model/reading.ts';

export { listCertificates } from '../../platform/readings.ts';

const FIELDS = ['http_rule_id', 'domain_name', 'container_port'];
const RULES: Expected = { noun: 'a list of gateway rules', fields: FIELDS };

/** Lists the rules of all applications. It is the only listing with extensions, and shows all rules of a domain and path. */
export const listAllRules: Reading<readonly PlacedRule[]> = {
  operation: 'listAllRules',
  below: 'platform',
  segments: ['httpdomains'],
  decode: decodePlacedRules,
  expected: RULES,
  isExtended: true,
  // A server that lists the rules of one application may refuse this listing, or fail because of one rule.
  mayBeRefused: true,
};

/** Lists the rules of the application. */
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

/** Reads one rule by its id; undefined: it does not exist. A 404 proves that if the server is known to have the endpoint. */
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
