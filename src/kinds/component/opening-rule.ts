import type { ResourceId } from '../../model/ids.ts';
import type { PortRecord, RuleRecord } from '../../model/observed.ts';
import type { DesiredState } from '../../model/resource.ts';
import type { HttpGatewayRuleSpec } from '../http-gateway-rule/spec.ts';
import type { Memory, Readable } from '../reconciled.ts';
import type { PortSpec } from './spec.ts';

/**
 * The rule that opens outer access of a port by being created, if one does.
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
  /** Outer access was closed only for a moment: it is opened again without waiting for any rule. */
  readonly owesOuter: boolean;
  readonly memory: Memory;
}): ResourceId | undefined {
  const { spec, live, rules, serviceId } = port;
  if (port.owesOuter) return undefined;
  if (!rules.readable || spec.outer !== true || live?.outer === true) return undefined;
  if ((spec.protocol ?? live?.protocol) !== 'http') return undefined;
  if (rules.value.some((rule) => rule.serviceId === serviceId && rule.port === spec.port)) return undefined;
  const candidates: ResourceId[] = [];
  const isListed = (id: string): boolean => rules.value.some(({ ruleId }) => ruleId === id);
  for (const sibling of port.siblings.values()) {
    if (sibling.kind !== 'HttpGatewayRule') continue;
    const rule = sibling.spec as HttpGatewayRuleSpec;
    if (rule.component !== port.component || rule.port !== spec.port) continue;
    // A rule that is led here by an update opens nothing.
    if (rulesOfResource(port.memory, sibling.id).some((id) => isListed(id))) continue;
    const mode = sibling.annotations['portolan/reconcile'];
    if (mode === undefined || mode === 'heal') candidates.push(sibling.id);
  }
  return candidates.sort()[0];
}

/** Ids of the rules that are on record for a manifest. */
function rulesOfResource({ objects }: Memory, resource: ResourceId): readonly string[] {
  return objects.flatMap((object) =>
    object.kind === 'HttpGatewayRule' && object.resource === resource && object.remoteId !== null
      ? [object.remoteId]
      : [],
  );
}
