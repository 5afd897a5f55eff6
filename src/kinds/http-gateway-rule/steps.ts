import type { JsonObject } from '../../model/json.ts';
import type { Step } from '../reconciled.ts';

/** A rule's fields in the manifest's words: what a create sends, and an update as a whole. */
export interface RuleWish extends JsonObject {
  readonly serviceId: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
}

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
  );

/** Identity of a rule: domains are compared in lower case; the protocol follows from the certificate. */
export function ruleKey(rule: {
  readonly serviceId: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
}): string {
  return `rule/${rule.serviceId}/${rule.port}/${rule.domain.toLowerCase()}${rule.path}`;
}
