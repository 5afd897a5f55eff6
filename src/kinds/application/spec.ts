import { arrayOf, integer, number, objectOf, type Schema, string, type TypeOf } from '../../model/schema-words.ts';
import { COMPONENT } from '../component/name.ts';
import { duration, ID_RULES, nameOf, ONE_LINE_EXPECTED } from '../schema.ts';

const PATH_SEGMENT = {
  pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*$',
  maxLength: 64,
  'x-expected': 'letters, digits, _, . and -, at most 64, not starting with . or -',
};

const healthThreshold = objectOf(
  'One series and its bounds.',
  {
    series: string("The item's name, `monitor_item` of the monitoring history: portolan monitor shows them.", {
      minLength: 1,
      maxLength: 128,
      pattern: '^[A-Za-z0-9_.:-]+$',
      'x-expected': 'the name of a monitoring item, such as request_time',
    }),
    'component?': nameOf(
      COMPONENT,
      'metadata.name of a Component of this application; absent: each component that has the series.',
    ),
    over: duration('How long after a change is looked at; the mean of that time counts.', {
      default: '5m',
    }) as Schema<string>,
    'min?': number('The mean must not be below.'),
    'max?': number('The mean must not be above.'),
  },
  { anyOf: [{ required: ['min'] }, { required: ['max'] }] },
);

/** Bounds of a monitoring series after a change, within which the application counts as healthy. */
export type HealthThreshold = TypeOf<typeof healthThreshold>;

/** JSON Schema of `spec:` of a `kind: Application` manifest. The other documents refer to it. It creates nothing. */
export const applicationSchema = objectOf(
  'The application of the platform that the other documents mean. Creates and changes nothing.',
  {
    platform: nameOf(
      'Platform',
      "metadata.name of the Platform document in the operator's configuration. Not sent to the platform.",
      { default: 'default' },
    ),
    team: string('Team, by id or name: path parameter `team_id` of every request.', PATH_SEGMENT),
    region: string('Region (data center), by name: path parameter `region_name` of every request.', PATH_SEGMENT),
    'appId?': integer(
      'Application, by number: path parameter `app_id` of every request. Either this or `app`.',
      ID_RULES,
    ),
    'app?': string(
      'Application, by name: `group_name` in the listing of the team. Needs the extended dialect. Either this or `appId`.',
      {
        minLength: 1,
        maxLength: 128,
        pattern: '^[^\\s/*\\u0000-\\u001f\\u007f-\\u009f][^/*\\u0000-\\u001f\\u007f-\\u009f]*$',
        'x-expected': `${ONE_LINE_EXPECTED}, / or *, not starting with a space`,
      },
    ),
    'health?': arrayOf(healthThreshold, {
      maxItems: 20,
      description:
        'Bounds of monitoring series after a change, for the condition Healthy of the daemon. No data is Unknown, never healthy. Not sent to the platform.',
    }),
  },
  { oneOf: [{ required: ['appId'] }, { required: ['app'] }] },
);

/** With its defaults filled in. */
export type ApplicationSpec = TypeOf<typeof applicationSchema>;
