import type { ResourceId } from '../../model/ids.ts';
import type { RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import type { HttpGatewayRuleSpec } from '../http-gateway-rule/spec.ts';
import { ruleKey } from '../http-gateway-rule/steps.ts';
import type { Memory, Readable } from '../reconciled.ts';
import type { ComponentContext } from './live.ts';

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

/** Where rules that lead to a port are looked for: in the manifests and in the ledger. */
export type RuleSources = Pick<ComponentContext, 'resource' | 'siblings' | 'memory' | 'source'>;

/** Returns the rules in the manifests that lead to a port and exist there: `a.example.com/ (HttpGatewayRule/a)`. */
export function wantedRules(
  sources: RuleSources,
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  port: number,
): readonly string[] {
  const there = new Set([
    ...rulesOf(rules, serviceId, port).flatMap((rule) => [rule.ruleId, ruleKey(rule)]),
    ...(rules.readable ? [] : rulesOnRecord(sources.memory, serviceId, port).map(({ naturalKey }) => naturalKey)),
  ]);
  return manifestsOf(sources, port).flatMap(({ id, spec }) => {
    const exists = there.has(ruleKey({ ...spec, serviceId })) || idsOf(sources, id).some((ruleId) => there.has(ruleId));
    return exists ? [`${spec.domain}${spec.path} (${id})`] : [];
  });
}

/** Returns ids of the rules on record of a port that the platform shows as inactive, and whose manifests want them. */
export function silentRules(
  sources: RuleSources,
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  port: number,
): readonly string[] {
  const inactive = rulesOf(rules, serviceId, port).filter((rule) => !rule.outer);
  const healed = manifestsOf(sources, port).filter(
    ({ annotations: { 'portolan/reconcile': mode } }) => mode === undefined || mode === 'heal',
  );
  const ours = new Set(healed.flatMap(({ id }) => idsOf(sources, id)));
  return inactive.flatMap(({ ruleId }) => (ours.has(ruleId) ? [ruleId] : []));
}

/** The rules in the manifests that lead to a port. */
function manifestsOf({ resource, siblings }: RuleSources, port: number): readonly Resource<HttpGatewayRuleSpec>[] {
  return [...siblings.values()].flatMap((sibling) => {
    if (sibling.kind !== 'HttpGatewayRule') return [];
    const rule = sibling as Resource<HttpGatewayRuleSpec>;
    return rule.spec.component === resource.name && rule.spec.port === port ? [rule] : [];
  });
}

/** Ids of the rules on record for a manifest; without a ledger, nothing is on record. */
function idsOf({ memory, source }: RuleSources, resource: ResourceId): readonly string[] {
  return memory.objects.flatMap((object) =>
    object.kind === 'HttpGatewayRule' &&
    object.resource === resource &&
    object.source === source &&
    object.state === 'present' &&
    object.remoteId !== null
      ? [object.remoteId]
      : [],
  );
}
