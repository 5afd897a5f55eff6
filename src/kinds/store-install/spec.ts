import { boolean, choice, objectOf, type Schema, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, nameOf } from '../schema.ts';

export const modelSchema = objectOf('The model to install.', {
  id: string('Application model: `app_model_id`.', {
    pattern: '^[A-Za-z0-9_-]+$',
    maxLength: 64,
    'x-expected': 'letters, digits, _ and -, at most 64',
  }),
  version: string('Version of the model: `app_model_version`. A change is an upgrade (extended dialect).', {
    pattern: '^[A-Za-z0-9_.+-]+$',
    maxLength: 64,
    'x-expected': 'letters, digits, _, ., + and -, at most 64',
  }),
});

/** JSON Schema of `spec:` of a `kind: StoreInstall` manifest. */
export const storeInstallSchema = objectOf(
  'One model of an application store, installed once into an application. Never removed and never repeated.',
  {
    application: nameOf('Application'),
    store: nameOf(
      'Store',
      "metadata.name of a Store in the operator's configuration: `market_url`, `market_domain`, `market_type` and `market_access_key`.",
    ),
    model: modelSchema,
    build: boolean(
      'Build after installing: query `is_deploy`. With false the parameter is left out, because any value of it builds.',
      { default: false },
    ),
    'wait?': objectOf(
      'The condition to wait for before dependent steps follow. Needs build: true. Not sent to the platform.',
      {
        for: choice('running: `status` of the application is running.', ['running']),
        timeout: duration('How long to wait before the install counts as failed.', {
          default: '10m',
        }) as Schema<string>,
      },
    ),
    allowSecondCopy: boolean(
      'Allow an install of a store and model that this application already has. Not sent to the platform.',
      { default: false },
    ),
  },
);

/** A spec with its defaults filled in. */
export type StoreInstallSpec = TypeOf<typeof storeInstallSchema>;
