import type { JsonObject } from '../../model/json.ts';
import type { Step } from '../reconciled.ts';

/** A rule's fields in the manifest's words: what a create sends, and an update as a whole. */
export type RuleWish = JsonObject & Omit<RuleAddress, 'protocol'>;

/** Of a rule that was deleted to be created again. */
export interface CreatedAgain extends JsonObject {
  /** Id of the deleted rule. */
  readonly former: string;
  /** The fields that the manifest manages; the others were as the platform showed them. */
  readonly asserted: JsonObject;
}

export type RuleStep = Step &
  (
    | { readonly type: 'create'; readonly rule: RuleWish; readonly open: boolean; readonly again?: CreatedAgain }
    /** Deletes the rule so that a step `create` can create it again as `rule`. */
    | { readonly type: 'recreate'; readonly ruleId: string; readonly rule: RuleWish }
    /** Always the whole merged record: what is left out is reset by the platform. `asserted`: the fields the manifest manages. */
    | { readonly type: 'update'; readonly ruleId: string; readonly rule: RuleWish; readonly asserted: JsonObject }
    /** An adopted rule gets back the values it had, and is let go. */
    | { readonly type: 'restore'; readonly ruleId: string; readonly rule: RuleWish }
    | { readonly type: 'delete'; readonly ruleId: string; readonly key: string }
    /** Outer access that the rule opened, once it is deleted. */
    | { readonly type: 'close_outer'; readonly serviceId: string; readonly port: number }
  );

export type RuleProtocol = 'http' | 'https';

/** What tells one rule from another: the platform refuses a second one with all of it. */
export interface RuleAddress {
  readonly serviceId: string;
  readonly port: number;
  readonly protocol: RuleProtocol;
  readonly domain: string;
  readonly path: string;
}

export interface Addressed extends Omit<RuleAddress, 'protocol'> {
  /** As a server says it; absent in a manifest and in a wish, whose certificate decides. */
  readonly protocol?: unknown;
  readonly certificateId?: unknown;
  /** Its alias, in a manifest. */
  readonly certificate?: unknown;
}

/** A server says the protocol; where it is not said, a certificate makes the rule https. */
export function protocolOf({
  protocol,
  certificateId,
  certificate,
}: Pick<Addressed, 'protocol' | 'certificateId' | 'certificate'>): RuleProtocol {
  if (protocol === 'http' || protocol === 'https') return protocol;
  if (typeof certificate === 'string') return 'https';
  return typeof certificateId === 'number' && certificateId > 0 ? 'https' : 'http';
}

/**
 * Natural key of a new rule, and of one whose id nobody knows: `rule/<serviceId>/<port>/https://<domain><path>`, with the
 * domain in lower case.
 */
export function ruleKey(rule: Addressed): string {
  return `rule/${rule.serviceId}/${rule.port}/${protocolOf(rule)}://${rule.domain.toLowerCase()}${rule.path}`;
}

/** The address that a natural key stands for; undefined: it is not the key of a rule. */
export function addressOf(key: string): RuleAddress | undefined {
  const [, serviceId, port, protocol, domain, path] =
    /^rule\/([^/]+)\/(\d+)\/(https?):\/\/([^/]+)(.*)$/.exec(key) ?? [];
  if (serviceId === undefined || domain === undefined || path === undefined) return undefined;
  return { serviceId, port: Number(port), protocol: protocol as RuleProtocol, domain, path };
}
