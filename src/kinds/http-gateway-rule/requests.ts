import { decodeRule, ruleBody, type RuleFields, type RuleRecord } from './wire.ts';
import { listRules } from './readings.ts';
import { writeAddress } from '../../platform/address.ts';
import { checkedId } from '../../platform/request-values.ts';
import type { ClassifierRow, WriteEvidence } from '../../platform/verdict.ts';
import { type AppAddress, defineWrite, NO_EVIDENCE } from '../../platform/writes.ts';
import answers from './answers.json' with { type: 'json' };

/** Classifier rows for writes of rules, besides the platform's table. */
export const ruleAnswers = answers as unknown as readonly ClassifierRow[];

interface RuleEvidence extends WriteEvidence {
  readonly type: 'rule';
  readonly rule: RuleRecord;
}

interface OfRule {
  readonly app: AppAddress;
  readonly ruleId: string;
}

interface Rule {
  readonly app: AppAddress;
  readonly rule: RuleFields;
}

/** Returns the rule in the answer to a write. */
export function shownRule(evidence: WriteEvidence): RuleRecord | undefined {
  return isOfRule(evidence) ? evidence.rule : undefined;
}

function isOfRule(evidence: WriteEvidence): evidence is RuleEvidence {
  return evidence.type === 'rule';
}

const OTHER_RULE = 'the platform answered with another rule than the one sent';

export const createRule = defineWrite<Rule>('createRule', {
  method: 'POST',
  class: 'duplicate-rejecting',
  rows: ruleAnswers,
  conditions: { 'does-not-open-outer': ({ rule }) => rule.open !== true },
  request: ({ app, rule }, has) => ({
    path: writeAddress(app, 'httpdomains'),
    body: ruleBody(rule, 'create', has(listRules)),
  }),
  evidence: ({ json }, { rule: sent }) => {
    const rule = decodeRule(json, 'created rule');
    if (rule === undefined) return 'the platform answered with a blank rule';
    return echoesKey(sent, rule) ? evidenceOf(rule) : OTHER_RULE;
  },
});

export const updateRule = defineWrite<OfRule & Rule>('updateRule', {
  method: 'PUT',
  class: 'target-state',
  rows: ruleAnswers,
  request: ({ rule, ...of }, has) => ({ path: rulePath(of), body: ruleBody(rule, 'update', has(listRules)) }),
  evidence: ({ json, isEmpty }, { ruleId }) => {
    const rule = isEmpty ? undefined : decodeRule(json, 'updated rule');
    if (rule === undefined) return NO_EVIDENCE;
    return rule.ruleId === ruleId ? evidenceOf(rule) : OTHER_RULE;
  },
});

export const deleteRule = defineWrite<OfRule>('deleteRule', {
  method: 'DELETE',
  class: 'target-state',
  rows: ruleAnswers,
  request: (of) => ({ path: rulePath(of) }),
  evidence: () => NO_EVIDENCE,
});

function rulePath({ app, ruleId }: OfRule): string {
  return writeAddress(app, 'httpdomains', checkedId(ruleId, 'rule id'));
}

export function evidenceOf(rule: RuleRecord): RuleEvidence {
  return { type: 'rule', rule };
}

/** Returns whether an answer has the identity of the sent rule. The case of the domain does not matter; the default path is `/`. */
function echoesKey(sent: RuleFields, echoed: RuleRecord): boolean {
  return (
    echoed.serviceId === sent.serviceId &&
    echoed.port === sent.port &&
    echoed.domain.toLowerCase() === sent.domain.toLowerCase() &&
    (echoed.path || '/') === (sent.path ?? '/')
  );
}
