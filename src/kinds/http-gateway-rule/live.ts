import type { PortRecord } from '../component/wire.ts';
import type { PlacedRule, RuleRecord } from './wire.ts';
import type { ComponentIdentity } from '../component/identity.ts';
import type { Readable } from '../../model/reading.ts';
import type { DiffContext } from '../reconciled.ts';
import type { CertificateView } from './certificate.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/** What the platform says about one rule and the port it hangs on. */
export type RuleLive =
  | Exclude<ComponentIdentity, { type: 'known' }>
  | {
      readonly type: 'observed';
      readonly serviceId: string;
      readonly port: PortRecord | undefined;
      readonly rules: Readable<readonly RuleRecord[]>;
      readonly canUpdate: boolean;
      readonly certificates: CertificateView;
      /** Read only where the rule may have to be created again. */
      readonly recreation?: RecreationFacts;
    };

/** What decides whether a rule can be deleted and created again. */
export interface RecreationFacts {
  readonly everyRule: Readable<readonly PlacedRule[]>;
  readonly canDelete: boolean;
}

/** What the diff of a rule looks at. */
export type RuleContext = DiffContext<HttpGatewayRuleSpec, RuleLive>;
/** What it looks at of a rule whose component is known. */
export type ObservedContext = DiffContext<HttpGatewayRuleSpec, Extract<RuleLive, { type: 'observed' }>>;
