import type { JsonObject } from '../../model/json.ts';
import type { Step } from '../reconciled.ts';

/** The fields of a rule with the manifest's names, for a creation or an update. */
export type RuleWish = JsonObject & Omit<RuleAddress, 'protocol'>;

/** Facts about a rule that was deleted to be recreated. */
export interface CreatedAgain extends JsonObject {
  /** Id of the deleted rule. */
  readonly former: string;
  /** The fields that the manifest manages; the others were as the platform showed them. */
  readonly asserted: JsonObject;
}

interface Marked {
  /** The removal marks of the manifest, which may be removed before the outcome is known. Absent: none. */
  readonly marks?: JsonObject;
}

export type RuleStep = Step &
  (
    | ({
        readonly type: 'create';
        readonly rule: RuleWish;
        readonly open: boolean;
        readonly again?: CreatedAgain;
      } & Marked)
    /** Deletes the rule so that a step `create` can create it again as `rule`. */
    | { readonly type: 'recreate'; readonly ruleId: string; readonly rule: RuleWish }
    /** `rule`: the whole merged record, because the platform resets missing fields. `asserted`: the managed fields. */
    | ({
        readonly type: 'update';
        readonly ruleId: string;
        readonly rule: RuleWish;
        readonly asserted: JsonObject;
      } & Marked)
    /** Gives an adopted rule its former values back. It is unmanaged afterwards. */
    | { readonly type: 'restore'; readonly ruleId: string; readonly rule: RuleWish }
    | { readonly type: 'delete'; readonly ruleId: string; readonly key: string }
    /** Closes outer access that the rule opened, after the rule is deleted. */
    | { readonly type: 'close_outer'; readonly serviceId: string; readonly port: number }
  );

export type RuleProtocol = 'http' | 'https';

/** The identity of a rule: the platform refuses a second rule with the same values. */
export interface RuleAddress {
  readonly serviceId: string;
  readonly port: number;
  readonly protocol: RuleProtocol;
  readonly domain: string;
  readonly path: string;
}

export interface Addressed extends Omit<RuleAddress, 'protocol'> {
  /** The protocol in an answer; absent in manifests and requests, whose certificate decides. */
  readonly protocol?: unknown;
  readonly certificateId?: unknown;
  /** The alias of the certificate, in a manifest. */
  readonly certificate?: unknown;
}

/** Returns the protocol of a rule. If the record has none, a certificate makes the rule https. */
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
 * Returns the natural key of a rule: `rule/<serviceId>/<port>/https://<domain><path>`, with the domain in lower case.
 */
export function ruleKey(rule: Addressed): string {
  return `rule/${rule.serviceId}/${rule.port}/${protocolOf(rule)}://${rule.domain.toLowerCase()}${rule.path}`;
}

/** Returns the address in a natural key; undefined: it is not the key of a rule. */
export function addressOf(key: string): RuleAddress | undefined {
  const [, serviceId, port, protocol, domain, path] =
    /^rule\/([^/]+)\/(\d+)\/(https?):\/\/([^/]+)(.*)$/.exec(key) ?? [];
  if (serviceId === undefined || domain === undefined || path === undefined) return undefined;
  return { serviceId, port: Number(port), protocol: protocol as RuleProtocol, domain, path };
}
