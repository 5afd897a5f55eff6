import { listRules } from './readings.ts';
import type { RuleRecord } from './wire.ts';
import type { Resource } from '../../model/resource.ts';
import type { ShownLine } from '../../model/shown.ts';
import { componentsOf, keyOfComponent, keyOfPort, portStandIn, type ShownComponent } from '../component/view.ts';
import type { LedgerView } from '../reconciled.ts';
import { type KindView, resourceLine, resourcesOf } from '../view.ts';
import { asserted, where } from './asserted.ts';
import type { RuleLive } from './live.ts';
import { GATEWAY_RULE } from './name.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { addressOf, ruleKey } from './steps.ts';

type Rule = Resource<HttpGatewayRuleSpec>;

/** Shows rules, from manifests and from the platform, below the port that they publish. */
export const ruleView: KindView = {
  noun: 'rule',
  fields(resource, objects) {
    const spec = resource.spec as HttpGatewayRuleSpec;
    const row = objects.find(({ state }) => state !== 'gone');
    const address = row === undefined ? undefined : addressOf(row.naturalKey);
    return [
      ...(['domain', 'path', 'port'] as const).map((path) => ({
        path,
        desired: spec[path],
        lastApplied: address?.[path],
      })),
      ...asserted(spec).map(({ name, path, read, want }) => ({
        path,
        desired: want(spec) ?? null,
        lastApplied: row?.lastApplied[name],
        ...(read === undefined ? { isHidden: true } : {}),
      })),
    ];
  },
  isShown: (live) => {
    const seen = live as RuleLive;
    return seen.type === 'observed' && seen.rules.readable;
  },
  async lines(context) {
    const components = await componentsOf(context);
    const named = Map.groupBy(resourcesOf<HttpGatewayRuleSpec>(GATEWAY_RULE, context), ({ spec }) => spec.component);
    const seen = Map.groupBy(
      (await context.reader.read(listRules, 'rules that no manifest names')) ?? [],
      ({ serviceId }) => serviceId,
    );
    const recorded = recordedRules(context.ledgerView);
    return components.flatMap((component) => {
      const { serviceId = '', resource } = component;
      const mine = named.get(resource?.name ?? '') ?? [];
      const meant = new Set(
        mine.flatMap(({ id, spec }) => [ruleKey({ ...spec, serviceId }), ...(recorded.ids.get(id) ?? [])]),
      );
      const others = (seen.get(serviceId) ?? []).filter((rule) => !isIn(meant, rule));
      return [
        ...mine.flatMap((rule) => [portStandIn(component, rule.spec.port), namedLine(rule, component)]),
        ...others.flatMap((rule) => [
          portStandIn(component, rule.port),
          otherLine(rule, component, isIn(recorded.present, rule)),
        ]),
      ];
    });
  },
};

/** Returns recorded ids by resource, and the ids of existing managed rules (the key for a rule without an id). */
function recordedRules({ objects }: LedgerView) {
  const ids = new Map<string, string[]>();
  const present = new Set<string>();
  for (const { kind, resource, state, naturalKey, remoteId } of objects) {
    if (remoteId !== null) ids.set(resource, [...(ids.get(resource) ?? []), remoteId]);
    if (kind === GATEWAY_RULE && state === 'present') present.add(remoteId ?? naturalKey);
  }
  return { ids, present };
}

function isIn(rules: ReadonlySet<string>, rule: RuleRecord): boolean {
  return rules.has(rule.ruleId) || rules.has(ruleKey(rule));
}

function namedLine(rule: Rule, component: ShownComponent): ShownLine {
  return { ...resourceLine('rule', rule), below: placeOf(component, rule.spec.port), facts: where(rule.spec) };
}

/** Returns the line of a rule without a manifest. */
function otherLine(rule: RuleRecord, component: ShownComponent, isOurs: boolean): ShownLine {
  return {
    type: 'rule',
    key: `rule ${rule.ruleId}`,
    below: placeOf(component, rule.port),
    name: `rule ${rule.domain}${rule.path}`,
    facts: '',
    ...(isOurs ? { state: 'withdrawn' } : {}),
    ...(rule.type === 0 ? { reason: 'the default rule that the platform made' } : {}),
  };
}

function placeOf(component: ShownComponent, port: number): readonly string[] {
  return [keyOfPort(component, port), keyOfComponent(component)];
}
