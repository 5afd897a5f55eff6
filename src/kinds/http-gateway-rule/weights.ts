import type { ResourceId } from '../../model/ids.ts';
import type { DesiredState, Resource } from '../../model/resource.ts';
import { where } from './asserted.ts';
import { WEIGHT_DEFAULT } from './wire.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { protocolOf } from './steps.ts';

/** The sum that weights of the rules of a route should have. */
const WEIGHTS_TOTAL = 100;

type Rule = Resource<HttpGatewayRuleSpec>;

/** Warnings by set: a set never changes, and each of its rules asks for them. */
const known = new WeakMap<DesiredState, ReadonlyMap<ResourceId, string>>();

/**
 * Returns warnings about routes whose weights do not add up to 100, by the first rule of each route. A route is a protocol,
 * domain and path, with the same conditions, that leads to several components or ports.
 */
export function weightWarnings(set: DesiredState): ReadonlyMap<ResourceId, string> {
  const before = known.get(set);
  if (before !== undefined) return before;
  const rules = [...set.values()].filter(({ kind }) => kind === 'HttpGatewayRule') as Rule[];
  const warnings = new Map<ResourceId, string>();
  for (const route of Map.groupBy(rules, (rule) => routeOf(rule, set)).values()) {
    const sorted = route.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    const [first] = sorted;
    const total = route.reduce((sum, { spec }) => sum + weightOf(spec), 0);
    if (first === undefined || route.length === 1 || total === WEIGHTS_TOTAL) continue;
    const parts = sorted.map(({ id, spec }) => `${id} ${weightOf(spec)}`).join(', ');
    warnings.set(
      first.id,
      `the weights of ${where(first.spec)} add up to ${total}, not to ${WEIGHTS_TOTAL}: ${parts}. Set spec.weight of these rules`,
    );
  }
  known.set(set, warnings);
  return warnings;
}

function weightOf({ weight = WEIGHT_DEFAULT }: HttpGatewayRuleSpec): number {
  return weight;
}

function routeOf({ spec }: Rule, set: DesiredState): string {
  const application = set.get(`Application/${spec.application}`)?.spec as { readonly platform?: string } | undefined;
  const { domain, path, cookie, header } = spec;
  return JSON.stringify([application?.platform, protocolOf(spec), domain.toLowerCase(), path, cookie, header]);
}
