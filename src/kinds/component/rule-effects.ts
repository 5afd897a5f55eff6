import type { PortRecord, RuleRecord } from '../../model/observed.ts';
import type { Readable } from '../reconciled.ts';
import { rulesOf } from './port-rules.ts';

/** Returns what closing outer access does to the rules of a port: the platform disables them only on an http port. */
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

/** Returns what opening outer access does to the rules of a port: the platform enables them only on an http port. */
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
  /** What the port has when it is opened. */
  readonly protocol: string;
  /** The port before the steps of the plan. */
  readonly live: PortRecord | undefined;
}): readonly string[] {
  const all = rulesOf(rules, serviceId, port);
  const isOpenHttp = live?.outer === true && live.protocol === 'http';
  if (protocol !== 'http') {
    // Closed for a change from http, the port has no active rule left.
    const inactive = all.filter((rule) => isOpenHttp || !rule.outer);
    return ruleEffect(inactive, 'leaves', `inactive, because opening a ${protocol} port enables none`);
  }
  if (all.length > 0) return ruleEffect(isOpenHttp ? all.filter((rule) => !rule.outer) : all, 'enables');
  if (rules.readable) return ['the platform creates a default rule on a domain of its own'];
  return ['the platform may create a default rule on a domain of its own; this server does not list rules'];
}

/** `disables 2 rules: a.example.com/, b.example.com/api`; nothing where there are none. */
export function ruleEffect(rules: readonly RuleRecord[], verb: string, how?: string): readonly string[] {
  if (rules.length === 0) return [];
  const names = rules.map((rule) => `${rule.domain}${rule.path || '/'}`).sort();
  const counted = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
  return [`${verb} ${counted}${how === undefined ? '' : ` ${how}`}: ${names.join(', ')}`];
}
