import type { KindView } from '../../../kinds/define.ts';
import type { PortRecord, RuleRecord } from '../../../model/observed.ts';
import type { TreeNode } from './node.ts';

const PLACED: readonly string[] = ['install', 'component', 'rule'];

/** Whether the tree knows where resources of the kind belong: below each other. Others stand below their application. */
export function hasPlace({ noun }: KindView): boolean {
  return PLACED.includes(noun);
}

type PortFacts = Partial<Pick<PortRecord, 'protocol' | 'alias' | 'inner' | 'outer'>>;

/** `http WEB, inner and outer`: what is known of a port. */
export function portFacts({ protocol, alias, inner, outer }: PortFacts): string {
  const name = [protocol, alias].filter((part) => part !== undefined && part !== '').join(' ');
  const open =
    inner === true && outer === true ? 'inner and outer' : inner === true ? 'inner' : outer === true ? 'outer' : '';
  const access = open === '' && inner === false ? 'closed' : open;
  return [name, access].filter((part) => part !== '').join(', ');
}

/** A rule that no manifest names, in the platform's own words. */
export function foreignRule(rule: RuleRecord, state: 'withdrawn' | 'not-in-manifests'): TreeNode {
  const isDefault = rule.type === 0;
  return {
    type: 'rule',
    name: `rule ${rule.domain}${rule.path}`,
    facts: '',
    state,
    reason: isDefault ? 'the default rule that the platform made' : '',
    children: [],
  };
}

/** Ports in the order of their numbers, each with its rules by name. */
export function byNumber(ports: ReadonlyMap<number, TreeNode>): readonly TreeNode[] {
  return [...ports].toSorted(([left], [right]) => left - right).map(([, node]) => node);
}

export function byName(nodes: readonly TreeNode[]): readonly TreeNode[] {
  return nodes.toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
}
