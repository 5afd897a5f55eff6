import type { PortProtocol } from '../../model/observed.ts';

/** One port of a component. A field that is absent is not managed. */
export interface PortSpec {
  readonly port: number;
  readonly protocol?: PortProtocol;
  readonly alias?: string;
  readonly inner?: boolean;
  readonly outer?: boolean;
}

/** `spec:` of a `kind: Component` manifest, defaults filled in. */
export interface ComponentSpec {
  readonly application: string;
  /** Exactly one of `serviceId` and `from`. */
  readonly serviceId?: string;
  /** The component that an install made: exactly one match on its service key, then on its k8s component name. */
  readonly from?: { readonly install: string; readonly component: string };
  /** `k8s_service_name`: one for all ports of the component. */
  readonly serviceName?: string;
  readonly ports: readonly PortSpec[];
  readonly unlistedPorts: 'keep' | 'close' | 'delete';
}
