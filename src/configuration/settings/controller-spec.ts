import { choice, integer, objectOf } from '../../model/schema-words.ts';
import { duration } from '../../kinds/schema.ts';

/** JSON Schema of `spec.controller` of Settings. */
export const controllerSettingsSchema = objectOf(
  'How portolan run goes about it. Commands do not look at it.',
  {
    resyncInterval: duration(
      'How often an application is looked at although nothing seems to have happened; up to a tenth more or less, by chance. Drift is found then.',
      { default: '10m' },
    ),
    concurrency: integer(
      'Applications worked on at once. Those whose last attempt failed have a tenth as many places of their own.',
      { minimum: 1, maximum: 1000, default: 10 },
    ),
    pruneAfter: duration(
      'How long something must have been gone from the source, without a break, before it is removed from the platform.',
      { default: '10m' },
    ),
    firstInstalls: choice(
      'Installs into an application that has components and that the ledger has never recorded. hold: until a person says so (portolan ledger confirm). allow: installs.',
      ['hold', 'allow'],
      { default: 'hold' },
    ),
    suspendedNotifyAfter: duration(
      'How long an application or resource may be suspended before an event says so, and how often from then on.',
      { default: '168h' },
    ),
    drainTimeout: duration('How long SIGTERM waits for requests under way before the process ends all the same.', {
      default: '30s',
    }),
    healthTimeout: duration('How long an application may take to run after a change before it counts as unhealthy.', {
      default: '10m',
    }),
  },
  { default: {} },
);
