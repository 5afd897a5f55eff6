import type { RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { ruleKey } from '../http-gateway-rule/steps.ts';
import type { Memory, Readable } from '../reconciled.ts';

/** The rules on a port; none where rules cannot be read. */
export function rulesOf(
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  port: number,
): readonly RuleRecord[] {
  return rules.readable ? rules.value.filter((rule) => rule.serviceId === serviceId && rule.port === port) : [];
}

/** Rules of a port that the ledger knows, as far as they are there. */
export function rulesOnRecord({ objects }: Memory, serviceId: string, port: number): readonly OwnedObject[] {
  const prefix = `rule/${serviceId}/${port}/`;
  return objects.filter(
    ({ kind, naturalKey, state }) =>
      kind === 'HttpGatewayRule' && naturalKey.startsWith(prefix) && state !== 'gone' && state !== 'deleting',
  );
}

/** Natural keys of all rules that go with a port: a server that lists no rules still has those on record. */
export function rulesAlong(
  rules: Readable<readonly RuleRecord[]>,
  memory: Memory,
  serviceId: string,
  port: number,
): readonly string[] {
  const seen = rulesOf(rules, serviceId, port).map((rule) => ruleKey({ ...rule, path: rule.path || '/' }));
  return [...new Set([...seen, ...rulesOnRecord(memory, serviceId, port).map(({ naturalKey }) => naturalKey)])];
}
