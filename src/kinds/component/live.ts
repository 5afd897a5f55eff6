import type { PortRecord, TcpEndpoint } from './wire.ts';
import type { RuleRecord } from '../http-gateway-rule/wire.ts';
import type { Readable } from '../../model/reading.ts';
import type { DiffContext, StepProposal } from '../reconciled.ts';
import type { ComponentIdentity } from './identity.ts';
import type { ComponentSpec } from './spec.ts';
import type { ComponentStep } from './steps.ts';

/** The observation of one component. */
export type ComponentLive =
  | Exclude<ComponentIdentity, { type: 'known' }>
  | {
      readonly type: 'observed';
      readonly serviceId: string;
      /** undefined: the component does not exist in the application. */
      readonly ports: readonly PortRecord[] | undefined;
      /** The platform's message if the component does not exist. */
      readonly absence?: string | undefined;
      readonly rules: Readable<readonly RuleRecord[]>;
      /** Read only if an endpoint must be compared with the protocol of its port. */
      readonly endpoints?: Readable<readonly TcpEndpoint[]>;
      readonly canDeletePorts: boolean;
    };

/** The input of a component's diff. */
export type ComponentContext = DiffContext<ComponentSpec, ComponentLive>;
/** The observation of a component that exists. */
export type ObservedComponent = Extract<ComponentLive, { type: 'observed' }> & {
  readonly ports: readonly PortRecord[];
};
/** The input of a component's diff if the component exists. */
export type ObservedContext = DiffContext<ComponentSpec, ObservedComponent>;
export type ComponentProposal = StepProposal<ComponentStep>;
