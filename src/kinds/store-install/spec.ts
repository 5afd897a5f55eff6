import { durationOr, nameOf, type PropertiesOf } from '../schema.ts';

/** `spec:` of a `kind: StoreInstall` manifest, defaults filled in. */
export interface StoreInstallSpec {
  readonly application: string;
  /** Name of the operator's `Store` document. */
  readonly store: string;
  readonly model: { readonly id: string; readonly version: string };
  /** `is_deploy`: true builds after installing; false leaves the parameter out, because any value of it builds. */
  readonly build: boolean;
  /** Needs `build: true`. */
  readonly wait?: { readonly for: 'running'; readonly timeout: string };
  /** Allows an install of a store and model that this application already has. */
  readonly allowSecondCopy: boolean;
}

/** JSON Schema of `StoreInstallSpec`. */
export const storeInstallSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['application', 'store', 'model'],
  description:
    'One model of an application store, installed once into an application. Never removed and never repeated.',
  properties: {
    application: nameOf('Application'),
    store: {
      ...nameOf('Store'),
      description:
        "metadata.name of a Store in the operator's configuration: `market_url`, `market_domain`, `market_type` and `market_access_key`.",
    },
    model: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'version'],
      description: 'What to install.',
      properties: {
        id: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          maxLength: 64,
          description: 'Application model: `app_model_id`.',
          'x-expected': 'letters, digits, _ and -, at most 64',
        },
        version: {
          type: 'string',
          pattern: '^[A-Za-z0-9_.+-]+$',
          maxLength: 64,
          description: 'Version of the model: `app_model_version`. A change is an upgrade (extended dialect).',
          'x-expected': 'letters, digits, _, ., + and -, at most 64',
        },
      },
    },
    build: {
      type: 'boolean',
      default: false,
      description:
        'Build after installing: query `is_deploy`. With false the parameter is left out, because any value of it builds.',
    },
    wait: {
      type: 'object',
      additionalProperties: false,
      description: 'What to wait for before dependants follow. Needs build: true. Not sent to the platform.',
      required: ['for'],
      properties: {
        for: { type: 'string', enum: ['running'], description: 'running: `status` of the application is running.' },
        timeout: durationOr('10m', 'How long to wait before the install counts as failed.'),
      },
    },
    allowSecondCopy: {
      type: 'boolean',
      default: false,
      description: 'Allow an install of a store and model that this application already has. Not sent to the platform.',
    },
  } satisfies PropertiesOf<StoreInstallSpec>,
} as const;
