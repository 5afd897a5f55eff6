import { arrayOf, choice, mapOf, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, NAME, nameOf } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';

/** A pattern `team/region/app` of resolved values. */
export const scopePattern = string('team/region/app, * for any part.', {
  pattern: '^[^/\\s]+/[^/\\s]+/[^/\\s]+$',
  maxLength: 256,
  'x-expected': 'team/region/app, with * for any, such as team-a/*/*',
});

/** An application is meant if it matches one pattern of each list that is given, and has all labels that are given. */
const windowSchema = objectOf('One window: it begins by its schedule and lasts for its duration.', {
  name: string('What status and events call it.', NAME),
  kind: choice(
    'deny: nothing is changed while it lasts. allow: nothing is changed outside of such windows. A deny beats every allow.',
    ['allow', 'deny'],
  ),
  schedule: string(
    'When it begins, as cron writes it: minute, hour, day of month, month, day of week. L and FRI#2 are understood.',
    {
      // No ?, which other crons read in other ways.
      pattern: '^[0-9A-Za-z*,/#@ -]+$',
      maxLength: 128,
      'x-expected': 'five fields of cron, such as 0 22 * * 1-5',
    },
  ),
  duration: duration('How long it lasts each time, in elapsed time: 8h are 8 hours in a night of 23 hours too.'),
  timeZone: string('Time zone of the schedule.', {
    pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
    maxLength: 64,
    default: 'UTC',
    'x-expected': 'a name of the IANA time zone database, such as Europe/Berlin',
  }),
  'platforms?': arrayOf(nameOf('Platform', 'metadata.name of a Platform document.'), {
    minItems: 1,
    maxItems: 100,
    description: 'Only applications on these platforms.',
  }),
  'scopes?': arrayOf(scopePattern, {
    minItems: 1,
    maxItems: 10_000,
    description: 'Only applications that match one of these patterns team/region/app, * for any.',
  }),
  'labels?': mapOf('Only applications whose metadata.labels have all of these.', {
    minProperties: 1,
    maxProperties: 100,
    additionalProperties: string('Value of the label.', { maxLength: 1024 }),
  }),
});

/** A time in which applications may, or may not, be changed. */
export type WindowSpec = TypeOf<typeof windowSchema>;
export type WindowSettings = Loaded<WindowSpec>;

/** JSON Schema of `spec.windows` of Settings. */
export const windowsSchema = arrayOf(windowSchema, {
  maxItems: 1000,
  default: [],
  description: 'Times in which applications may, or may not, be changed. Looking is always allowed.',
});
