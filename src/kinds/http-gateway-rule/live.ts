import type { PortRecord } from '../component/wire.ts';
import type { PlacedRule, RuleRecord } from './wire.ts';
import type { ComponentIdentity } from '../component/identity.ts';
import type { Readable } from '../../model/reading.ts';
import type { DiffContext } from '../reconciled.ts';
import type { CertificateView } from './certificate.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/** The observation of one rule and of its port. */
export type RuleLive =
  | Exclude<ComponentIdentity, { type: 'known' }>
  | {
      readonly type: 'observed';
      readonly serviceId: string;
      readonly port: PortRecord | undefined;
      readonly rules: Readable<readonly RuleRecord[]>;
      readonly canUpdate: boolean;
      readonly certificates: CertificateView;
      /** Read only if the rule may need recreation. */
      readonly recreation?: RecreationFacts;
    };

/** Observations that decide whether a rule can be recreated. */
export interface RecreationFacts {
  readonly everyRule: Readable<readonly PlacedRule[]>;
  readonly canDelete: boolean;
}

/** The input of a rule's diff. */
export type RuleContext = DiffContext<HttpGatewayRuleSpec, RuleLive>;
/** The input of a rule's diff if its component is known. */
export type ObservedContext = DiffContext<HttpGatewayRuleSpec, Extract<RuleLive, { type: 'observed' }>>;
