import type { ResourceId } from '../../model/ids.ts';
import type { PortRecord } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { DesiredState, Resource } from '../../model/resource.ts';
import type { HttpGatewayRuleSpec } from '../http-gateway-rule/spec.ts';
import { ruleKey } from '../http-gateway-rule/steps.ts';
import type { Readable } from '../../model/reading.ts';
import type { LedgerView } from '../reconciled.ts';
import type { ComponentContext } from './live.ts';
import type { PortSpec } from './spec.ts';

/** Returns the rules on a port; none if rules cannot be read. */
export function rulesOf(
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  port: number,
): readonly RuleRecord[] {
  return rules.readable ? rules.value.filter((rule) => rule.serviceId === serviceId && rule.port === port) : [];
}

/** Returns the recorded rules of a port that exist, as far as the ledger knows. */
export function rulesOnRecord({ objects }: LedgerView, serviceId: string, port: number): readonly OwnedObject[] {
  const prefix = `rule/${serviceId}/${port}/`;
  return objects.filter(
    ({ kind, naturalKey, state }) =>
      kind === 'HttpGatewayRule' && naturalKey.startsWith(prefix) && state !== 'gone' && state !== 'deleting',
  );
}

/** Returns the natural keys of all rules that are deleted with a port; from the ledger alone if rules cannot be read. */
export function rulesAlong(
  rules: Readable<readonly RuleRecord[]>,
  ledgerView: LedgerView,
  serviceId: string,
  port: number,
): readonly string[] {
  const seen = rulesOf(rules, serviceId, port).map((rule) => ruleKey({ ...rule, path: rule.path || '/' }));
  return [...new Set([...seen, ...rulesOnRecord(ledgerView, serviceId, port).map(({ naturalKey }) => naturalKey)])];
}

/** The manifests and the ledger, which name the rules of a port. */
type RuleSources = Pick<ComponentContext, 'resource' | 'siblings' | 'ledgerView' | 'source'>;

/** Returns the rules in the manifests that lead to a port and exist there: `a.example.com/ (HttpGatewayRule/a)`. */
export function wantedRules(
  sources: RuleSources,
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  port: number,
): readonly string[] {
  const there = new Set([
    ...rulesOf(rules, serviceId, port).flatMap((rule) => [rule.ruleId, ruleKey(rule)]),
    ...(rules.readable ? [] : rulesOnRecord(sources.ledgerView, serviceId, port).map(({ naturalKey }) => naturalKey)),
  ]);
  return manifestsOf(sources.resource.name, sources.siblings, port).flatMap(({ id, spec }) => {
    const exists = there.has(ruleKey({ ...spec, serviceId })) || idsOf(sources, id).some((ruleId) => there.has(ruleId));
    return exists ? [`${spec.domain}${spec.path} (${id})`] : [];
  });
}

/** Returns the ids of recorded rules of a port that are inactive although a manifest asks for them. */
export function silentRules(
  sources: RuleSources,
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  port: number,
): readonly string[] {
  const inactive = rulesOf(rules, serviceId, port).filter((rule) => !rule.outer);
  const healed = manifestsOf(sources.resource.name, sources.siblings, port).filter(isHealed);
  const ours = new Set(healed.flatMap(({ id }) => idsOf(sources, id)));
  return inactive.flatMap(({ ruleId }) => (ours.has(ruleId) ? [ruleId] : []));
}

function isHealed({ annotations: { 'portolan/reconcile': mode } }: Resource): boolean {
  return mode === undefined || mode === 'heal';
}

/** Returns the manifests of rules that lead to a port of a component. @param component `metadata.name` of its manifest. */
export function manifestsOf(
  component: string,
  siblings: DesiredState,
  port: number,
): readonly Resource<HttpGatewayRuleSpec>[] {
  return [...siblings.values()].flatMap((sibling) => {
    if (sibling.kind !== 'HttpGatewayRule') return [];
    const rule = sibling as Resource<HttpGatewayRuleSpec>;
    return rule.spec.component === component && rule.spec.port === port ? [rule] : [];
  });
}

/** Returns the ids of existing rules that are recorded for a manifest of this source. */
function idsOf({ ledgerView, source }: RuleSources, resource: ResourceId): readonly string[] {
  return ledgerView.objects.flatMap((object) =>
    object.kind === 'HttpGatewayRule' &&
    object.resource === resource &&
    object.source === source &&
    object.state === 'present' &&
    object.remoteId !== null
      ? [object.remoteId]
      : [],
  );
}

/**
 * Returns the rule whose creation opens outer access of a port; undefined: none does.
 *
 * `open_outer` on an http port without rules makes the platform publish a default domain first. Where rules can be
 * listed and the port's first rule is ours, that rule is posted with `whether_open` instead, and nothing else appears.
 */
export function openingRule(port: {
  readonly component: string;
  readonly serviceId: string;
  readonly spec: PortSpec;
  readonly live: PortRecord | undefined;
  readonly rules: Readable<readonly RuleRecord[]>;
  readonly siblings: DesiredState;
  /** Outer access was closed temporarily: it is reopened without waiting for a rule. */
  readonly owesOuter: boolean;
  readonly ledgerView: LedgerView;
}): ResourceId | undefined {
  const { spec, live, rules, serviceId } = port;
  if (port.owesOuter) return undefined;
  if (!rules.readable || spec.outer !== true || live?.outer === true) return undefined;
  if ((spec.protocol ?? live?.protocol) !== 'http') return undefined;
  if (rules.value.some((rule) => rule.serviceId === serviceId && rule.port === spec.port)) return undefined;
  const isListed = (id: string): boolean => rules.value.some(({ ruleId }) => ruleId === id);
  // An update that leads a rule here does not open the port.
  const isUpdated = (id: ResourceId): boolean => rulesOfResource(port.ledgerView, id).some(isListed);
  const candidates = manifestsOf(port.component, port.siblings, spec.port).filter(isHealed);
  return candidates
    .map(({ id }) => id)
    .filter((id) => !isUpdated(id))
    .sort()[0];
}

/** Returns the ids of rules that are recorded for a manifest. */
function rulesOfResource({ objects }: LedgerView, resource: ResourceId): readonly string[] {
  return objects.flatMap((object) =>
    object.kind === 'HttpGatewayRule' && object.resource === resource && object.remoteId !== null
      ? [object.remoteId]
      : [],
  );
}

/** Returns the effect of closing outer access on the rules of a port: the platform disables them only on an http port. */
export function closingEffects(
  rules: Readable<readonly RuleRecord[]>,
  serviceId: string,
  { port, protocol }: PortRecord,
): readonly string[] {
  const active = rulesOf(rules, serviceId, port).filter((rule) => rule.outer);
  return protocol === 'http'
    ? ruleEffect(active, 'disables')
    : ruleEffect(active, 'leaves', `active, because closing a ${protocol} port disables none`);
}

/** Returns the effect of opening outer access on the rules of a port: the platform enables them only on an http port. */
export function openingEffects({
  rules,
  serviceId,
  port,
  protocol,
  live,
}: {
  readonly rules: Readable<readonly RuleRecord[]>;
  readonly serviceId: string;
  readonly port: number;
  /** The protocol when the port is opened. */
  readonly protocol: string;
  /** The port before the steps of the plan. */
  readonly live: PortRecord | undefined;
}): readonly string[] {
  const all = rulesOf(rules, serviceId, port);
  const isOpenHttp = live?.outer === true && live.protocol === 'http';
  if (protocol !== 'http') {
    // Closing an http port has disabled all of its rules.
    const inactive = all.filter((rule) => isOpenHttp || !rule.outer);
    return ruleEffect(inactive, 'leaves', `inactive, because opening a ${protocol} port enables none`);
  }
  if (all.length > 0) return ruleEffect(isOpenHttp ? all.filter((rule) => !rule.outer) : all, 'enables');
  if (rules.readable) return ['the platform creates a default rule on a domain of its own'];
  return ['the platform may create a default rule on a domain of its own; this server does not list rules'];
}

/** Returns `disables 2 rules: a.example.com/, b.example.com/api`; empty if there are no rules. */
export function ruleEffect(rules: readonly RuleRecord[], verb: string, how?: string): readonly string[] {
  if (rules.length === 0) return [];
  const names = rules.map((rule) => `${rule.domain}${rule.path || '/'}`).sort();
  const counted = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
  return [`${verb} ${counted}${how === undefined ? '' : ` ${how}`}: ${names.join(', ')}`];
}
