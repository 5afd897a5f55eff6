import { COMPONENT } from '../component/name.ts';
import { durationOr, nameOf, type PropertiesOf } from '../schema.ts';

/** What a monitoring series must be like after a change, for the application to count as healthy. */
export interface HealthThreshold {
  /** The item's name as the platform has it: `request_time`. */
  readonly series: string;
  /** Name of a Component document of the application; absent: every component that has the series. */
  readonly component?: string;
  /** How long after a change is looked at; the mean of that time counts. */
  readonly over: string;
  readonly min?: number;
  readonly max?: number;
}

/** JSON Schema of `spec.health` of an Application. */
export const healthSchema = {
  type: 'array',
  maxItems: 20,
  description:
    'What monitoring must say after a change: the condition Healthy of the daemon. No data is Unknown, never healthy. Not sent to the platform.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['series'],
    anyOf: [{ required: ['min'] }, { required: ['max'] }],
    description: 'One series and its bounds.',
    properties: {
      series: {
        type: 'string',
        minLength: 1,
        maxLength: 128,
        pattern: '^[A-Za-z0-9_.:-]+$',
        description: "The item's name, `monitor_item` of the monitoring history: portolan monitor shows them.",
        'x-expected': 'the name of a monitoring item, such as request_time',
      },
      component: {
        ...nameOf(COMPONENT),
        description: 'metadata.name of a Component of this application; absent: each component that has the series.',
      },
      over: durationOr('5m', 'How long after a change is looked at; the mean of that time counts.'),
      min: { type: 'number', description: 'The mean must not be below.' },
      max: { type: 'number', description: 'The mean must not be above.' },
    } satisfies PropertiesOf<HealthThreshold>,
  },
} as const;
