import type { PortProtocol } from './wire.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Step } from '../reconciled.ts';

interface OnPort {
  readonly serviceId: string;
  readonly port: number;
}

/** The service name before Portolan first changes it, where the component's row does not have it yet. */
export type FormerName = { readonly serviceName: string };

/** Every write of a component's ports; the names are the platform's own actions. */
export type ComponentStep = Step &
  (
    | (OnPort & {
        readonly type: 'add_port';
        readonly protocol: PortProtocol;
        readonly alias?: string;
        readonly inner: boolean;
        /** The removal marks of its manifest: recorded with the new port. */
        readonly listed: JsonObject;
      })
    /** `temporary`: not the desired state, so it is not recorded as last applied. */
    | (OnPort & {
        readonly type: 'open_inner' | 'close_inner' | 'open_outer' | 'close_outer';
        readonly temporary?: true;
      })
    | (OnPort & { readonly type: 'change_protocol'; readonly protocol: PortProtocol })
    | (OnPort & {
        readonly type: 'change_port_alias';
        readonly alias: string;
        readonly serviceName: string;
        readonly temporary?: true;
        readonly setsServiceName?: true;
        readonly former?: FormerName;
      })
    /** The component's one service name, carried by a port with its present alias: the API has no other way. */
    | (OnPort & {
        readonly type: 'set_service_name';
        readonly alias: string;
        readonly serviceName: string;
        readonly former?: FormerName;
      })
    | (OnPort & { readonly type: 'delete_port' })
  );

export const componentKey = (serviceId: string): string => `component/${serviceId}`;
export const portKey = (serviceId: string, port: number): string => `port/${serviceId}/${port}`;

/** Conditions through which steps of different resources wait for each other. */
export const portExists = (serviceId: string, port: number): string => `port ${serviceId} ${port}`;
export const portInner = (serviceId: string, port: number): string => `port-inner ${serviceId} ${port}`;
export const portOuter = (serviceId: string, port: number): string => `port-outer ${serviceId} ${port}`;
export const portProtocol = (serviceId: string, port: number): string => `port-protocol ${serviceId} ${port}`;
/** Every rule of the port is active, because an http port was opened or a created rule opened it. */
export const rulesEnabled = (serviceId: string, port: number): string => `rules-enabled ${serviceId} ${port}`;
/** This plan deletes the rule. */
export const ruleGone = (ruleId: string): string => `rule-gone ${ruleId}`;
