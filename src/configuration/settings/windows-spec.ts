import type { DurationText } from '../../model/duration.ts';
import type { Loaded } from '../loaded.ts';
import { duration, NAME_EXPECTED, NAME_PATTERN, type PropertiesOf } from '../../kinds/schema.ts';

/** A time in which applications may, or may not, be changed. */
export interface WindowSpec {
  readonly name: string;
  /** `deny`: closed while it lasts. `allow`: closed except while one such lasts. A `deny` beats every `allow`. */
  readonly kind: 'allow' | 'deny';
  /** When it begins: minute, hour, day of month, month, day of week. */
  readonly schedule: string;
  /** How long it lasts each time; may be longer than the time to its next beginning. */
  readonly duration: DurationText;
  /** IANA name; `UTC` by default. */
  readonly timeZone: string;
  /** Which applications: those that match one pattern of each list that is given, and have all labels that are given. */
  readonly platforms?: readonly string[];
  /** `team/region/app` patterns of resolved values, `*` for any. */
  readonly scopes?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

export type WindowSettings = Loaded<WindowSpec>;

/** JSON Schema of `spec.windows` of Settings. */
export const windowsSchema = {
  type: 'array',
  maxItems: 1000,
  default: [],
  description: 'Times in which applications may, or may not, be changed. Looking is always allowed.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'kind', 'schedule', 'duration'],
    description: 'One window: it begins by its schedule and lasts for its duration.',
    properties: {
      name: {
        type: 'string',
        pattern: NAME_PATTERN,
        maxLength: 63,
        description: 'What status and events call it.',
        'x-expected': NAME_EXPECTED,
      },
      kind: {
        type: 'string',
        enum: ['allow', 'deny'],
        description:
          'deny: nothing is changed while it lasts. allow: nothing is changed outside of such windows. A deny beats every allow.',
      },
      schedule: {
        type: 'string',
        // No ?, which other crons read in other ways.
        pattern: '^[0-9A-Za-z*,/#@ -]+$',
        maxLength: 128,
        description:
          'When it begins, as cron writes it: minute, hour, day of month, month, day of week. L and FRI#2 are understood.',
        'x-expected': 'five fields of cron, such as 0 22 * * 1-5',
      },
      duration: duration('How long it lasts each time, in elapsed time: 8h are 8 hours in a night of 23 hours too.'),
      timeZone: {
        type: 'string',
        pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
        maxLength: 64,
        default: 'UTC',
        description: 'Time zone of the schedule.',
        'x-expected': 'a name of the IANA time zone database, such as Europe/Berlin',
      },
      platforms: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        description: 'Only applications on these platforms.',
        items: {
          type: 'string',
          pattern: NAME_PATTERN,
          maxLength: 63,
          description: 'metadata.name of a Platform document.',
          'x-expected': 'the name of a Platform',
        },
      },
      scopes: {
        type: 'array',
        minItems: 1,
        maxItems: 10_000,
        description: 'Only applications that match one of these patterns team/region/app, * for any.',
        items: {
          type: 'string',
          pattern: '^[^/\\s]+/[^/\\s]+/[^/\\s]+$',
          maxLength: 256,
          description: 'team/region/app, * for any part.',
          'x-expected': 'team/region/app, with * for any, such as team-a/*/*',
        },
      },
      labels: {
        type: 'object',
        minProperties: 1,
        maxProperties: 100,
        additionalProperties: { type: 'string', maxLength: 1024, description: 'Value of the label.' },
        description: 'Only applications whose metadata.labels have all of these.',
      },
    } satisfies PropertiesOf<WindowSpec>,
  },
} as const;
