import type { Resource } from '../../model/resource.ts';
import type { RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { ComponentSpec } from '../component/spec.ts';
import { componentKey, portKey, ruleGone } from '../component/steps.ts';
import { plainStep, remembered, type StepProposal, type WithdrawContext } from '../reconciled.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import type { RuleStep } from './steps.ts';

/**
 * Closes outer access that a rule of ours opened by being created, once the rule is gone and nothing else needs the port
 * open: no manifest, and no rule, active or inactive, that is not deleted with it. undefined: something does, or it is closed.
 */
export function closing(
  object: OwnedObject,
  present: RuleRecord | undefined,
  deletion: string | undefined,
  context: WithdrawContext,
): StepProposal<RuleStep> | undefined {
  const opened = object.remoteAux['opened'];
  if (typeof opened !== 'string' || !context.rules.readable) return undefined;
  const [serviceId = '', number] = opened.split('/');
  const port = Number(number);
  const live = context.ports.get(serviceId)?.find((candidate) => candidate.port === port);
  if (live?.outer !== true || isWanted(serviceId, port, context) || goesWithPort(serviceId, port, context))
    return undefined;
  const others = context.rules.value.filter(
    (rule) => rule.serviceId === serviceId && rule.port === port && rule.ruleId !== present?.ruleId,
  );
  if (!others.every((rule) => isDeparting(rule, object.source, context))) return undefined;
  return {
    ...plainStep,
    key: `close/${object.naturalKey}`,
    step: { type: 'close_outer', serviceId, port },
    verb: 'update',
    object: object.naturalKey,
    summary: `close outer access of port ${port}, which the rule opened`,
    changes: [{ field: 'outer', path: `ports[${port}].outer`, before: true, after: false }],
    after: deletion === undefined ? [] : [deletion],
    needs: others.map(({ ruleId, domain, path }) => ({
      condition: ruleGone(ruleId),
      met: false,
      otherwise: {
        code: 'prune/rule-on-port',
        message: `outer access of port ${port} stays open: rule ${domain}${path} (${ruleId}) is on it and is not deleted by this plan`,
        remedy: 'Release what holds that rule; outer access is closed after it.',
      },
    })),
    prune: true,
  };
}

function componentsNamed(
  serviceId: string,
  { resources, memory }: WithdrawContext,
): readonly Resource<ComponentSpec>[] {
  const fixed = remembered(memory, 'Component', componentKey(serviceId))?.resource;
  return [...resources.values()].flatMap((resource) => {
    if (resource.kind !== 'Component') return [];
    const component = resource as Resource<ComponentSpec>;
    const named = component.spec.serviceId;
    return named === serviceId || (named === undefined && component.id === fixed) ? [component] : [];
  });
}

function isWanted(serviceId: string, port: number, context: WithdrawContext): boolean {
  const components = componentsNamed(serviceId, context);
  const isListedOpen = components.some(({ spec }) =>
    spec.ports.some((entry) => entry.port === port && entry.outer === true),
  );
  const names = new Set(components.map(({ name }) => name));
  return (
    isListedOpen ||
    [...context.resources.values()].some(({ kind, spec }) => {
      const rule = spec as HttpGatewayRuleSpec;
      return kind === 'HttpGatewayRule' && rule.port === port && names.has(rule.component);
    })
  );
}

/** A port that Portolan made and that no manifest lists any more is closed and deleted with its component's removals. */
function goesWithPort(serviceId: string, port: number, context: WithdrawContext): boolean {
  const row = remembered(context.memory, 'Component', portKey(serviceId, port));
  const isListed = componentsNamed(serviceId, context).some(({ spec }) =>
    spec.ports.some((entry) => entry.port === port),
  );
  return row?.origin === 'created' && row.remoteAux['listed'] !== undefined && !isListed;
}

/** A rule of ours that its manifest's removal deletes as well. */
function isDeparting({ ruleId }: RuleRecord, source: string, { memory, resources }: WithdrawContext): boolean {
  const row = memory.objects.find((object) => object.kind === 'HttpGatewayRule' && object.remoteId === ruleId);
  return (
    row !== undefined &&
    row.source === source &&
    row.origin === 'created' &&
    row.remoteAux['prune'] !== 'keep' &&
    !resources.has(row.resource)
  );
}
