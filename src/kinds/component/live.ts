import type { PortRecord, TcpEndpoint } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { Readable } from '../../model/reading.ts';
import type { DiffContext, StepProposal } from '../reconciled.ts';
import type { ComponentIdentity } from './identity.ts';
import type { ComponentSpec } from './spec.ts';
import type { ComponentStep } from './steps.ts';

/** What the platform says about one component. */
export type ComponentLive =
  | Exclude<ComponentIdentity, { type: 'known' }>
  | {
      readonly type: 'observed';
      readonly serviceId: string;
      /** undefined: the component is not there. */
      readonly ports: readonly PortRecord[] | undefined;
      /** The platform's message where it is not there. */
      readonly absence?: string | undefined;
      readonly rules: Readable<readonly RuleRecord[]>;
      /** Read only where an endpoint is to be compared with the protocol of its port. */
      readonly endpoints?: Readable<readonly TcpEndpoint[]>;
      readonly canDeletePorts: boolean;
    };

/** What the diff of a component looks at. */
export type ComponentContext = DiffContext<ComponentSpec, ComponentLive>;
/** A component that is there. */
export type ObservedComponent = Extract<ComponentLive, { type: 'observed' }> & {
  readonly ports: readonly PortRecord[];
};
/** What it looks at of a component that is there. */
export type ObservedContext = DiffContext<ComponentSpec, ObservedComponent>;
export type ComponentProposal = StepProposal<ComponentStep>;
