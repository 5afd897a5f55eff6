import { choice, integer, section } from '../../model/schema-words.ts';
import { duration } from '../../kinds/schema.ts';

/** JSON Schema of `spec.controller` of Settings. */
export const controllerSettingsSchema = section('Settings of the daemon (portolan run). Commands ignore them.', {
  resyncInterval: duration('Interval at which each application is observed to detect drift, ± 10 % at random.', {
    default: '10m',
  }),
  concurrency: integer(
    'Maximum number of applications that are reconciled concurrently. Applications whose last attempt failed have a tenth as many slots of their own.',
    { minimum: 1, maximum: 1000, default: 10 },
  ),
  pruneAfter: duration(
    'How long a resource must be missing in the source without interruption before it is removed from the platform.',
    { default: '10m' },
  ),
  firstInstalls: choice(
    'Installs into an application that has components and is not in the ledger. hold: they are held until portolan ledger confirm. allow: they are done.',
    ['hold', 'allow'],
    { default: 'hold' },
  ),
  suspendedNotifyAfter: duration(
    'How long an application or resource may be suspended before an event reports it, and the interval of further events.',
    { default: '168h' },
  ),
  drainTimeout: duration('How long the process waits after SIGTERM for its requests before it ends.', {
    default: '30s',
  }),
  lease: duration(
    'How long a controller leads a platform without contact to the database, if the ledger is in PostgreSQL: then another controller takes the platform over. At least 1s, and the same for all controllers.',
    { default: '15s' },
  ),
  healthTimeout: duration(
    'How long an application may take to become ready after a change before it counts as unhealthy.',
    {
      default: '10m',
    },
  ),
});
