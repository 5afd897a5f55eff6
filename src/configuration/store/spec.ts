import type { SecretReference } from '../platform/spec.ts';
import { type PropertiesOf, secretReferenceSchema, URL_EXPECTED, URL_PATTERN } from '../../kinds/schema.ts';

/** `spec:` of the operator's `kind: Store`. Manifests name it and never see its key or choose its address. */
export interface StoreSpec {
  readonly url: string;
  readonly domain: string;
  readonly type: string;
  readonly accessKey?: SecretReference;
  /** http:// to anything but loopback needs this. */
  readonly allowPlainHttp?: boolean;
}

/** JSON Schema of `StoreSpec`. */
export const storeSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['url', 'domain', 'type'],
  description: 'An application store that StoreInstall manifests may name.',
  properties: {
    url: {
      type: 'string',
      pattern: URL_PATTERN,
      maxLength: 2048,
      description: 'Address of the store, as the platform reaches it: `market_url`.',
      'x-expected': URL_EXPECTED,
    },
    domain: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
      maxLength: 128,
      description: 'Domain of the store: `market_domain`.',
      'x-expected': 'letters, digits, _, . and -, starting with a letter or digit',
    },
    type: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
      maxLength: 64,
      description: 'Type of the store: `market_type`.',
      'x-expected': 'letters, digits, _, . and -, starting with a letter or digit',
    },
    accessKey: {
      ...secretReferenceSchema,
      description: 'Access token of the store, by reference: `market_access_key`.',
    },
    allowPlainHttp: {
      type: 'boolean',
      description: 'Allow http:// to a store that is not on this machine. The access key then travels in clear.',
    },
  } satisfies PropertiesOf<StoreSpec>,
} as const;
