import { Cron } from 'croner';
import { durationProblems, problemAt, repeats } from '../../kinds/problems.ts';
import type { OtherResources, SpecProblem } from '../../kinds/kind.ts';
import { resourceId } from '../../model/ids.ts';
import { arrayOf, choice, mapOf, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { duration, NAME, nameOf } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';

/** A pattern `team/region/app` of resolved values. */
export const scopePattern = string('team/region/app, * for any part.', {
  pattern: '^[^/\\s]+/[^/\\s]+/[^/\\s]+$',
  maxLength: 256,
  'x-expected': 'team/region/app, with * for any, such as team-a/*/*',
});

/** A window applies to an application that matches one entry of each given list and has all given labels. */
const windowSchema = objectOf('A window. It starts at its schedule and lasts for its duration.', {
  name: string('Name in status and events.', NAME),
  kind: choice(
    'deny: no changes during the window. allow: no changes outside of all allow windows. deny takes precedence over allow.',
    ['allow', 'deny'],
  ),
  schedule: string(
    'Start times in the format of cron: minute, hour, day of month, month, day of week. L and FRI#2 are supported.',
    {
      // No ?, which implementations of cron read differently.
      pattern: '^[0-9A-Za-z*,/#@ -]+$',
      maxLength: 128,
      'x-expected': 'five fields of cron, such as 0 22 * * 1-5',
    },
  ),
  duration: duration('Duration in elapsed time: 8h are 8 hours even when the clocks change.'),
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

/** A time in which applications may or may not be changed. */
export type WindowSpec = TypeOf<typeof windowSchema>;
export type WindowSettings = Loaded<WindowSpec>;

/** JSON Schema of `spec.windows` of Settings. */
export const windowsSchema = arrayOf(windowSchema, {
  maxItems: 1000,
  default: [],
  description: 'Times in which applications may or may not be changed. Observing is always allowed.',
});

const DURATION_BOUNDS = {
  code: 'settings/window-duration',
  longestMs: 366 * 24 * 3600 * 1000,
  expected: 'more than 0s and at most 8784h, which is 366 days',
};
/** The start of the search for the next start of a schedule, which covers centuries. */
const SOME_DATE = new Date(Date.UTC(2024, 0, 1));

/**
 * Returns the problems of windows that the schema cannot detect: schedules, time zones, durations, duplicate names, and
 * platforms that do not exist, for which the window would have no effect.
 */
export function windowProblems(windows: readonly WindowSpec[], set: OtherResources): readonly SpecProblem[] {
  return [
    ...repeats(windows.map(({ name }) => name)).flatMap(({ value, index }) =>
      problemAt(
        `spec.windows[${index}].name`,
        'settings/window-name',
        `two windows are called ${value}`,
        'a unique name: status and events show it',
      ),
    ),
    ...windows.flatMap((window, index) => [
      ...timeProblems(window, `spec.windows[${index}]`),
      ...(window.platforms ?? []).flatMap((name, at) =>
        set.get(resourceId('Platform', name)) !== undefined
          ? []
          : problemAt(
              `spec.windows[${index}].platforms[${at}]`,
              'settings/window-platform',
              `there is no Platform/${name} in the configuration, so the window would not apply to it`,
              'metadata.name of a Platform document',
            ),
      ),
      ...durationProblems(window.duration, `spec.windows[${index}].duration`, DURATION_BOUNDS),
    ]),
  ];
}

function timeProblems({ schedule, timeZone }: WindowSpec, path: string): readonly SpecProblem[] {
  if (!isTimeZone(timeZone)) {
    const expected = 'a name of the IANA time zone database, such as Europe/Berlin or UTC';
    return problemAt(`${path}.timeZone`, 'settings/window-time-zone', `there is no time zone ${timeZone}`, expected);
  }
  const fault = scheduleFault(schedule, timeZone);
  if (fault === undefined) return [];
  const expected = 'five fields of cron (minute, hour, day of month, month, day of week), such as 0 22 * * 1-5';
  return problemAt(`${path}.schedule`, 'settings/window-schedule', fault, expected);
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function scheduleFault(schedule: string, timezone: string): string | undefined {
  const fields = schedule.trim().split(/\s+/).length;
  if (fields !== 5 && !schedule.startsWith('@'))
    return `the schedule ${schedule} has ${fields === 1 ? 'one field' : `${fields} fields`}`;
  try {
    const next = new Cron(schedule, { mode: '5-part', timezone }).nextRun(SOME_DATE);
    return next === null ? `the schedule ${schedule} has no start time` : undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w+: /, '') : String(error);
    return `the schedule ${schedule} cannot be read: ${why}`;
  }
}
