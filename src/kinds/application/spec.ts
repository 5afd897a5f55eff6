import { healthSchema, type HealthThreshold } from './health-spec.ts';
import {
  nameOf,
  ONE_LINE_EXPECTED,
  PATH_SEGMENT_EXPECTED,
  PATH_SEGMENT_PATTERN,
  type PropertiesOf,
} from '../schema.ts';

/** `spec:` of a `kind: Application` manifest, defaults filled in. It anchors the others and creates nothing. */
export interface ApplicationSpec {
  /** Name of the operator's `Platform` document. */
  readonly platform: string;
  readonly team: string;
  readonly region: string;
  /** Exactly one of `appId` and `app`; `app` is the application's name and needs the extended dialect. */
  readonly appId?: number;
  readonly app?: string;
  /** What monitoring must say after a change; only the daemon looks at it. */
  readonly health?: readonly HealthThreshold[];
}

/** JSON Schema of `ApplicationSpec`. */
export const applicationSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['team', 'region'],
  oneOf: [{ required: ['appId'] }, { required: ['app'] }],
  description: 'Which application of the platform the other documents mean. Creates and changes nothing.',
  properties: {
    platform: {
      ...nameOf('Platform'),
      default: 'default',
      description: "metadata.name of the Platform document in the operator's configuration. Not sent to the platform.",
    },
    team: {
      type: 'string',
      pattern: PATH_SEGMENT_PATTERN,
      maxLength: 64,
      description: 'Team, by id or name: path parameter `team_id` of every request.',
      'x-expected': PATH_SEGMENT_EXPECTED,
    },
    region: {
      type: 'string',
      pattern: PATH_SEGMENT_PATTERN,
      maxLength: 64,
      description: 'Region (data center), by name: path parameter `region_name` of every request.',
      'x-expected': PATH_SEGMENT_EXPECTED,
    },
    appId: {
      type: 'integer',
      minimum: 1,
      maximum: 9_007_199_254_740_991,
      description: 'Application, by number: path parameter `app_id` of every request. Either this or `app`.',
    },
    app: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      pattern: '^[^\\s/*\\u0000-\\u001f\\u007f-\\u009f][^/*\\u0000-\\u001f\\u007f-\\u009f]*$',
      description:
        'Application, by name: `group_name` in the listing of the team. Needs the extended dialect. Either this or `appId`.',
      'x-expected': `${ONE_LINE_EXPECTED}, / or *, not starting with a space`,
    },
    health: healthSchema,
  } satisfies PropertiesOf<ApplicationSpec>,
} as const;
