import type { SecretReference } from '../platform/spec.ts';

/** `spec:` of the operator's `kind: Store`. Manifests name it and never see its key or choose its address. */
export interface StoreSpec {
  readonly url: string;
  readonly domain: string;
  readonly type: string;
  readonly accessKey?: SecretReference;
}
