import type { DurationText } from '../../model/duration.ts';
import { durationOr, type PropertiesOf } from '../../kinds/schema.ts';

/** `spec.controller` of Settings: how the daemon (`portolan run`) goes about it. Commands do not look at it. */
export interface ControllerSettings {
  /** How often an application is looked at although nothing seems to have happened; ± 10 %. */
  readonly resyncInterval: DurationText;
  /** Applications worked on at once; within one, requests go one by one. */
  readonly concurrency: number;
  /** How long something must have been gone from the source before it is removed from the platform. */
  readonly pruneAfter: DurationText;
  /**
   * Installs into an application with components that this ledger has never recorded: `hold` (default) until
   * `portolan ledger confirm`, `allow` installs.
   */
  readonly firstInstalls: 'hold' | 'allow';
  /** How long something may be suspended before somebody is told, and how often from then on. */
  readonly suspendedNotifyAfter: DurationText;
  /** How long the end of the process waits for what is under way. */
  readonly drainTimeout: DurationText;
  /** How long an application may take to run after a change before it counts as unhealthy. */
  readonly healthTimeout: DurationText;
}

/** JSON Schema of `ControllerSettings`. */
export const controllerSettingsSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'How portolan run goes about it. Commands do not look at it.',
  properties: {
    resyncInterval: durationOr(
      '10m',
      'How often an application is looked at although nothing seems to have happened; up to a tenth more or less, by chance. Drift is found then.',
    ),
    concurrency: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 10,
      description:
        'Applications worked on at once. Those whose last attempt failed have a tenth as many places of their own.',
    },
    pruneAfter: durationOr(
      '10m',
      'How long something must have been gone from the source, without a break, before it is removed from the platform.',
    ),
    firstInstalls: {
      type: 'string',
      enum: ['hold', 'allow'],
      default: 'hold',
      description:
        'Installs into an application that has components and that the ledger has never recorded. hold: until a person says so (portolan ledger confirm). allow: installs.',
    },
    suspendedNotifyAfter: durationOr(
      '168h',
      'How long an application or resource may be suspended before an event says so, and how often from then on.',
    ),
    drainTimeout: durationOr(
      '30s',
      'How long SIGTERM waits for requests under way before the process ends all the same.',
    ),
    healthTimeout: durationOr(
      '10m',
      'How long an application may take to run after a change before it counts as unhealthy.',
    ),
  } satisfies PropertiesOf<ControllerSettings>,
} as const;
